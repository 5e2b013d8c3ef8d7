#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <shared_mutex>
#include <utility>

#include "interpose.hpp"

namespace device_api::layers {

namespace {

// `launch` and `release` are told no kernel, so each kernel of each layer has functions of its own.
constexpr size_t kThunks = 4096;
constexpr uint64_t kMostItems = UINT64_C(1) << 16;

const KernelEntry *thunk_entries[kThunks];
std::shared_mutex books_mutex;  // guards the two below
std::vector<size_t> free_thunks;
size_t next_thunk = 0;
// First entry -> one past the last, of every list: prepare, supports and run find their entry here.
std::map<const void *, const void *> books;

// The entry that a pointer from the host means; NULL when it points into no list.
template <class Entry, class Item>
const Entry *find_entry(const Item *item) {
  std::shared_lock<std::shared_mutex> guard(books_mutex);
  auto found = books.upper_bound(item);
  if (item == nullptr || found == books.begin()) return nullptr;
  --found;
  const char *first = static_cast<const char *>(found->first);
  const uint64_t offset = static_cast<uint64_t>(reinterpret_cast<const char *>(item) - first);
  if (item >= found->second || offset % sizeof(Entry) != 0) return nullptr;
  return reinterpret_cast<const Entry *>(item);
}

da_error *not_listed(const char *what) {
  return make_error(DA_STATUS_INVALID_ARGUMENT,
                    std::string("the ") + what + " is none of the list that the layer gave");
}

da_error *launch(const KernelEntry *entry, void *state, const da_kernel_context *context,
                 const da_tensor *const *inputs, uint32_t input_count, const da_tensor *const *outputs,
                 uint32_t output_count, const void *attributes) {
  Instance &self = *entry->instance;
  Scratch scratch(self, entry, context);
  KernelLaunch arguments{{}, state, context, inputs, input_count, outputs, output_count, attributes, entry};
  Call call(self, Slot::kernel_launch, &arguments, &arguments.result);
  call.extra = &scratch;
  if (self.layer->before(call)) {
    arguments.result =
        entry->below.launch(arguments.state, scratch.context(), arguments.inputs, arguments.input_count,
                            arguments.outputs, arguments.output_count, arguments.attributes);
  }
  self.layer->after(call);
  return arguments.result;
}

void release(const KernelEntry *entry, void *state) {
  Instance &self = *entry->instance;
  KernelRelease arguments{state, entry};
  Call call(self, Slot::kernel_release, &arguments, static_cast<void *>(nullptr));
  if (self.layer->before(call)) entry->below.release(arguments.state);
  self.layer->after(call);
}

da_error *prepare(da_device *device, const da_kernel *kernel, const da_tensor *const *inputs,
                  uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                  const void *attributes, void **out_state) {
  const KernelEntry *entry = find_entry<KernelEntry>(kernel);
  if (entry == nullptr) return not_listed("kernel");
  Instance &self = *entry->instance;
  KernelPrepare arguments{{},      device,       kernel,     inputs,    input_count,
                          outputs, output_count, attributes, out_state, entry};
  Call call(self, Slot::kernel_prepare, &arguments, &arguments.result);
  if (self.layer->before(call)) {
    arguments.result = entry->below.prepare(arguments.device, entry->origin, arguments.inputs,
                                            arguments.input_count, arguments.outputs, arguments.output_count,
                                            arguments.attributes, arguments.out_state);
  }
  self.layer->after(call);
  return arguments.result;
}

da_error *supports(da_device *device, const da_kernel *kernel, const da_tensor *const *inputs,
                   uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                   const void *attributes, int32_t *out_supported) {
  const KernelEntry *entry = find_entry<KernelEntry>(kernel);
  if (entry == nullptr) return not_listed("kernel");
  Instance &self = *entry->instance;
  KernelSupports arguments{{},      device,       kernel,     inputs,        input_count,
                           outputs, output_count, attributes, out_supported, entry};
  Call call(self, Slot::kernel_supports, &arguments, &arguments.result);
  if (self.layer->before(call)) {
    arguments.result = entry->below.supports(arguments.device, entry->origin, arguments.inputs,
                                             arguments.input_count, arguments.outputs, arguments.output_count,
                                             arguments.attributes, arguments.out_supported);
  }
  self.layer->after(call);
  return arguments.result;
}

da_error *run_pass(da_device *device, const da_pass *pass, const uint8_t *graph, uint64_t graph_bytes,
                   da_bytes *out_graph) {
  const PassEntry *entry = find_entry<PassEntry>(pass);
  if (entry == nullptr) return not_listed("pass");
  Instance &self = *entry->instance;
  PassRun arguments{{}, device, pass, graph, graph_bytes, out_graph, entry};
  Call call(self, Slot::pass_run, &arguments, &arguments.result);
  if (self.layer->before(call)) {
    arguments.result = entry->below.run(arguments.device, entry->origin, arguments.graph,
                                        arguments.graph_bytes, arguments.out_graph);
  }
  self.layer->after(call);
  return arguments.result;
}

da_error *infer(const da_custom_op *op, const da_tensor *const *inputs, uint32_t input_count,
                const void *attributes, uint32_t output_count, da_output_shape *out_shapes) {
  const CustomOpEntry *entry = find_entry<CustomOpEntry>(op);
  if (entry == nullptr) return not_listed("custom op");
  Instance &self = *entry->instance;
  CustomInfer arguments{{}, op, inputs, input_count, attributes, output_count, out_shapes, entry};
  Call call(self, Slot::custom_infer, &arguments, &arguments.result);
  if (self.layer->before(call)) {
    arguments.result = entry->below.infer(entry->origin, arguments.inputs, arguments.input_count,
                                          arguments.attributes, arguments.output_count, arguments.out_shapes);
  }
  self.layer->after(call);
  return arguments.result;
}

template <size_t N>
da_error *launch_thunk(void *state, const da_kernel_context *context, const da_tensor *const *inputs,
                       uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                       const void *attributes) {
  return launch(thunk_entries[N], state, context, inputs, input_count, outputs, output_count, attributes);
}

template <size_t N>
void release_thunk(void *state) {
  release(thunk_entries[N], state);
}

struct Thunk {
  da_kernel_launch launch;
  void (*release)(void *state);
};

template <size_t... N>
constexpr std::array<Thunk, sizeof...(N)> make_thunks(std::index_sequence<N...>) {
  return {{{launch_thunk<N>, release_thunk<N>}...}};
}

constexpr std::array<Thunk, kThunks> thunks = make_thunks(std::make_index_sequence<kThunks>{});

// A thunk for `entry`; the caller has seen that one is free.
const Thunk &take_thunk(const KernelEntry *entry) {
  size_t number = next_thunk;
  if (free_thunks.empty()) {
    ++next_thunk;
  } else {
    number = free_thunks.back();
    free_thunks.pop_back();
  }
  thunk_entries[number] = entry;
  return thunks[number];
}

// Whether a list can be walked at all; one that can not is passed on as it is.
bool walkable(const void *first, uint64_t count, uint64_t stride, uint64_t least) {
  return first != nullptr && count != 0 && count <= kMostItems && stride >= least;
}

template <class Item>
const Item *item_at(const Item *first, uint64_t stride, uint64_t index) {
  return reinterpret_cast<const Item *>(reinterpret_cast<const char *>(first) + index * stride);
}

template <class List, class Item>
auto *find_book(List &list, const Item *first, uint64_t count, uint64_t stride) {
  for (auto &book : list)
    if (book.first == first && book.count == count && book.stride == stride) return &book;
  return static_cast<decltype(&*list.begin())>(nullptr);
}

// The caller holds books_mutex.
template <class List, class Item>
auto &add_book(Instance &self, List &list, const Item *first, uint64_t count, uint64_t stride) {
  list.push_back({first, count, stride, {}});
  auto &entries = list.back().entries;
  entries.resize(count);
  for (uint64_t i = 0; i < count; ++i) {
    auto &entry = entries[i];
    entry.instance = &self;
    entry.origin = item_at(first, stride, i);
    entry.index = i;
    copy_full(entry.origin, &entry.below);
    entry.shown = entry.below;
    entry.shown.struct_size = sizeof(entry.shown);
  }
  books[entries.data()] = entries.data() + count;
  return entries;
}

}  // namespace

da_error *replace_kernels(Instance &self, KernelList &arguments) {
  da_kernel_list *list = arguments.out_list;
  if (list == nullptr || !walkable(list->first, list->count, list->stride, DA_KERNEL_MIN_SIZE))
    return nullptr;
  std::lock_guard<std::mutex> guard(self.mutex);
  auto *book = find_book(self.kernels.kernels, list->first, list->count, list->stride);
  if (book == nullptr) {
    std::unique_lock<std::shared_mutex> books_guard(books_mutex);
    if (free_thunks.size() + kThunks - next_thunk < list->count) {
      return make_error(DA_STATUS_UNAVAILABLE, "layers can stand over " + std::to_string(kThunks) +
                                                   " kernels in one process, and all are in use");
    }
    for (KernelEntry &entry : add_book(self, self.kernels.kernels, list->first, list->count, list->stride)) {
      const Thunk &thunk = take_thunk(&entry);
      if (entry.below.launch != nullptr) entry.shown.launch = thunk.launch;
      if (entry.below.release != nullptr) entry.shown.release = thunk.release;
      if (entry.below.prepare != nullptr) entry.shown.prepare = prepare;
      if (entry.below.supports != nullptr) entry.shown.supports = supports;
    }
    book = &self.kernels.kernels.back();
  }
  list->first = &book->entries.front().shown;
  list->stride = sizeof(KernelEntry);
  return nullptr;
}

void replace_passes(Instance &self, GraphPasses &arguments) {
  da_pass_list *list = arguments.out_passes;
  if (list == nullptr || !walkable(list->first, list->count, list->stride, DA_PASS_MIN_SIZE)) return;
  std::lock_guard<std::mutex> guard(self.mutex);
  auto *book = find_book(self.kernels.passes, list->first, list->count, list->stride);
  if (book == nullptr) {
    std::unique_lock<std::shared_mutex> books_guard(books_mutex);
    for (PassEntry &entry : add_book(self, self.kernels.passes, list->first, list->count, list->stride))
      if (entry.below.run != nullptr) entry.shown.run = run_pass;
    book = &self.kernels.passes.back();
  }
  list->first = &book->entries.front().shown;
  list->stride = sizeof(PassEntry);
}

void replace_custom_ops(Instance &self, CustomOpList &arguments) {
  da_custom_op_list *list = arguments.out_list;
  if (list == nullptr || !walkable(list->first, list->count, list->stride, DA_CUSTOM_OP_MIN_SIZE)) return;
  std::lock_guard<std::mutex> guard(self.mutex);
  auto *book = find_book(self.kernels.custom_ops, list->first, list->count, list->stride);
  if (book == nullptr) {
    std::unique_lock<std::shared_mutex> books_guard(books_mutex);
    for (CustomOpEntry &entry :
         add_book(self, self.kernels.custom_ops, list->first, list->count, list->stride))
      if (entry.below.infer != nullptr) entry.shown.infer = infer;
    book = &self.kernels.custom_ops.back();
  }
  list->first = &book->entries.front().shown;
  list->stride = sizeof(CustomOpEntry);
}

void release_books(Instance &self) {
  std::unique_lock<std::shared_mutex> guard(books_mutex);
  for (size_t i = 0; i < next_thunk; ++i) {
    if (thunk_entries[i] == nullptr || thunk_entries[i]->instance != &self) continue;
    thunk_entries[i] = nullptr;
    free_thunks.push_back(i);
  }
  for (auto &book : self.kernels.kernels) books.erase(book.entries.data());
  for (auto &book : self.kernels.passes) books.erase(book.entries.data());
  for (auto &book : self.kernels.custom_ops) books.erase(book.entries.data());
  self.kernels.kernels.clear();
  self.kernels.passes.clear();
  self.kernels.custom_ops.clear();
}

}  // namespace device_api::layers
