#include "program.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "philox.hpp"
#include "process.hpp"
#include "transfer.hpp"

namespace device_api {

namespace {

constexpr uint32_t kInlineOperands = 8;
constexpr uint32_t kInlineAttributeWords = 16;
constexpr int64_t kLongWork = 16384;  // elements; beyond it a kernel outweighs letting other threads run

// Memory that a kernel asks for while it is launched. It returns to the allocator when the launch has
// returned: the next user of the block is on the same stream, behind this kernel.
class Scratch {
 public:
  Scratch(Device *device, Stream *stream) : device_(device), stream_(stream) {}
  ~Scratch() {
    for (Block *block : blocks_) {
      device_->pool.count_scratch(-static_cast<int64_t>(block->bytes));
      device_->allocator.free(block, nullptr);
    }
    delete failure_;
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  Failure *take_failure() { return std::exchange(failure_, nullptr); }

  static da_error *serve(void *context, uint64_t bytes, void **out_handle, uint64_t *out_offset) {
    Scratch *self = static_cast<Scratch *>(context);
    Block *block = nullptr;
    try {
      const uint64_t most = UINT64_MAX / 2;
      Failure *failure = bytes > most
                             ? fail(DA_STATUS_OUT_OF_MEMORY, "scratch", "the kernel asks for absurdly much")
                             : self->device_->allocator.allocate(self->device_->allocator.round(bytes),
                                                                 self->stream_, &block);
      if (failure != nullptr) {
        delete std::exchange(self->failure_, failure);
        return host_error();
      }
      self->blocks_.push_back(block);
    } catch (const std::exception &) {
      if (block != nullptr) self->device_->allocator.free(block, nullptr);
      return host_error();
    }
    self->device_->pool.count_scratch(static_cast<int64_t>(block->bytes));
    *out_handle = block->chunk->handle;
    *out_offset = block->offset;
    return nullptr;
  }

 private:
  Device *device_;
  Stream *stream_;
  std::vector<Block *> blocks_;
  Failure *failure_ = nullptr;
};

class Busy {
 public:
  explicit Busy(bool *flag) : flag_(flag) { *flag = true; }
  ~Busy() { *flag_ = false; }
  Busy(const Busy &) = delete;
  Busy &operator=(const Busy &) = delete;

 private:
  bool *flag_;
};

std::string tensor_text(const da_tensor &tensor) {
  std::string text = std::string(dtype_name(tensor.dtype)) + "(";
  for (int32_t i = 0; i < tensor.dl.ndim; ++i) {
    text += std::to_string(tensor.dl.shape[i]);
    if (i + 1 < tensor.dl.ndim || tensor.dl.ndim == 1) text += i + 1 < tensor.dl.ndim ? ", " : ",";
  }
  return text + ")";
}

std::vector<uint64_t> words_of(const char *bytes, uint64_t size) {
  std::vector<uint64_t> words((size + 7) / 8, 0);
  if (size != 0) std::memcpy(words.data(), bytes, size);
  return words;
}

}  // namespace

void describe_tensor(const Device &device, const Layout *layout, da_tensor *out) {
  *out = da_tensor{};
  out->struct_size = sizeof(da_tensor);
  out->dl.device = device.place();
  out->dl.ndim = layout->rank;
  out->dl.dtype = dl_dtype(layout->dtype);
  // The descriptor is DLPack's, which has no const; kernels only read.
  out->dl.shape = const_cast<int64_t *>(layout->shape);
  out->dl.strides = const_cast<int64_t *>(layout->strides);
  out->dtype = layout->dtype;
}

Failure *kernel_supports(const Device &device, const da_kernel *kernel, const std::vector<Operand> &inputs,
                         const std::vector<Operand> &outputs, const void *attributes, bool *out_supported) {
  *out_supported = true;
  if (kernel->supports == nullptr) return nullptr;
  std::vector<da_tensor> tensors(inputs.size() + outputs.size());
  std::vector<const da_tensor *> pointers(tensors.size(), nullptr);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Operand &operand = i < inputs.size() ? inputs[i] : outputs[i - inputs.size()];
    if (!operand.present) continue;
    describe_tensor(device, operand.layout.get(), &tensors[i]);
    pointers[i] = &tensors[i];
  }
  int32_t answer = 0;
  Failure *failure =
      translate(device.errors(),
                kernel->supports(device.handle(), kernel, pointers.data(),
                                 static_cast<uint32_t>(inputs.size()), pointers.data() + inputs.size(),
                                 static_cast<uint32_t>(outputs.size()), attributes, &answer),
                "kernel.supports");
  *out_supported = answer != 0;
  return failure;
}

void Frame::widen(size_t slots, size_t scalar_count) {
  many_places_.reset(new Place[slots]);
  many_storages_.reset(new Storage *[slots]);
  many_scalars_.reset(new Element[scalar_count]);
  places = many_places_.get();
  storages = many_storages_.get();
  scalars = many_scalars_.get();
}

Program::Program(Device *of, std::string name) : device(of), op(std::move(name)) {}

Slot *Program::add_slot(SlotKind kind, uint64_t value) {
  if (kind == SlotKind::output) {
    value = device->allocator.round(value);
    outputs.push_back(static_cast<uint32_t>(slots.size()));
  }
  slots.push_back(Slot{kind, value, StorageRef()});
  return &slots.back();
}

void Program::add_operand(bool present, uint32_t slot, uint64_t byte_offset, LayoutRef layout) {
  operands.push_back(Operand{present, slot, byte_offset, std::move(layout)});
}

Step *Program::add_step(StepKind kind, uint32_t kernel, uint32_t input_count, uint32_t output_count) {
  Step step{};
  step.kind = kind;
  step.first = static_cast<uint32_t>(operands.size());
  step.input_count = input_count;
  step.output_count = output_count;
  step.kernel = kind == StepKind::kernel ? device->kernels()[kernel] : nullptr;
  step.random_before = random_total;
  step.scalar_input = -1;
  steps.push_back(std::move(step));
  return &steps.back();
}

void Program::set_attributes(Step *step, const char *bytes, uint64_t size) {
  step->attributes = words_of(bytes, size);
}

bool Program::relocate(Step *step, uint64_t offset, const char *bytes, uint64_t size) {
  if (offset % 8 != 0 || offset / 8 >= step->attributes.size()) return false;
  step->pointed.push_back(words_of(bytes, size));
  // The heap buffer of the inner vector stays where it is when the outer one grows.
  const uint64_t *target = step->pointed.back().data();
  std::memcpy(&step->attributes[offset / 8], &target, sizeof(target));
  return true;
}

bool Program::set_scalar(Step *step, int32_t input, uint64_t offset, int32_t dtype) {
  if (offset % 8 != 0 || offset / 8 + 2 > step->attributes.size()) return false;
  step->scalar_input = input;
  step->scalar_word = static_cast<uint32_t>(offset / 8);
  step->scalar_dtype = dtype;
  step->scalar_index = scalar_count++;
  return true;
}

void Program::add_result(uint32_t slot, uint64_t byte_offset, LayoutRef layout) {
  results.push_back(Operand{true, slot, byte_offset, std::move(layout)});
}

Failure *Program::prepare() {
  descriptors_.resize(operands.size());
  int64_t work = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].present) continue;
    describe_tensor(*device, operands[i].layout.get(), &descriptors_[i]);
    descriptors_[i].dl.byte_offset = operands[i].byte_offset;
    if (__builtin_add_overflow(work, operands[i].layout->elements, &work)) work = INT64_MAX;
  }
  leaves_lock = work >= kLongWork || !device->synchronous();
  for (size_t i = 0; i < steps.size(); ++i) {
    Step &step = steps[i];
    step.skipped = step.output_count != 0;
    for (uint32_t k = 0; k < step.output_count; ++k) {
      const Operand &output = operands[step.first + step.input_count + k];
      if (output.present && output.layout->elements != 0) step.skipped = false;
    }
    if (step.kind == StepKind::external) ++external_count;
    if (step.kind != StepKind::kernel || step.kernel->prepare == nullptr || step.skipped) continue;
    std::vector<const da_tensor *> pointers(step.input_count + step.output_count, nullptr);
    for (size_t k = 0; k < pointers.size(); ++k) {
      if (operands[step.first + k].present) pointers[k] = &descriptors_[step.first + k];
    }
    Failure *failure = translate(
        device->errors(),
        step.kernel->prepare(device->handle(), step.kernel, pointers.data(), step.input_count,
                             pointers.data() + step.input_count, step.output_count,
                             step.attributes.empty() ? nullptr : step.attributes.data(), &step.state),
        "kernel.prepare");
    if (failure != nullptr) {
      step.state = nullptr;
      failure->step = static_cast<int64_t>(i);
      return failure;
    }
  }
  return nullptr;
}

void Program::finish() {
  kept_ = descriptors_;
  for (size_t i = 0; i < operands.size(); ++i)
    kept_pointers_.push_back(operands[i].present ? &kept_[i] : nullptr);
  plain = is_plain();
  device->add_program(this);
  listed_ = true;
}

bool Program::is_plain() const {
  if (leaves_lock || arena_bytes != 0 || random_total != 0 || steps.size() != 1 || results.size() != 1 ||
      outputs.size() != 1)
    return false;
  const Step &step = steps[0];
  if (step.kind != StepKind::kernel || step.skipped || step.scalar_input >= 0 || step.output_count != 1)
    return false;
  for (uint32_t k = 0; k < step.input_count; ++k) {
    if (!operands[k].present || slots[operands[k].slot].kind != SlotKind::input) return false;
  }
  const Operand &output = operands[step.input_count];
  return output.slot == outputs[0] && output.byte_offset == 0 && results[0].slot == outputs[0] &&
         results[0].byte_offset == 0;
}

void Program::retire() {
  if (listed_) device->remove_program(this);
  listed_ = false;
  if (!device->usable() || process_closing.load()) return;
  std::vector<std::pair<const da_kernel *, void *>> states;
  for (Step &step : steps) {
    if (step.state != nullptr) states.emplace_back(step.kernel, std::exchange(step.state, nullptr));
  }
  if (states.empty()) return;
  auto release = [of = device, states = std::move(states)] {
    if (!of->usable()) return;
    for (const auto &[kernel, state] : states) kernel->release(state);
  };
  // Queued launches may still read their states.
  if (streams_.empty()) return release();
  device->deferred.add(streams_, std::move(release));
}

void Program::release_states() {
  for (Step &step : steps) {
    if (step.state != nullptr) step.kernel->release(std::exchange(step.state, nullptr));
  }
}

void Program::note_new_stream(Stream *stream) {
  const auto found = std::find(streams_.begin(), streams_.end(), stream);
  if (found != streams_.end()) streams_.erase(found);
  streams_.push_back(stream);
}

uint64_t Program::next_external(uint64_t from) const {
  while (from < steps.size() && steps[from].kind != StepKind::external) ++from;
  return from;
}

Failure *Program::run(Frame *frame, uint64_t first, uint64_t last) noexcept {
  for (uint64_t i = first; i < last; ++i) {
    const Step &step = steps[i];
    if (step.skipped) continue;
    Failure *failure;
    try {
      failure = step.kind == StepKind::kernel ? run_kernel(step, frame) : run_random(step, frame);
    } catch (const std::exception &error) {
      failure =
          fail(kThrew, "kernel.launch", std::string("a C++ exception crossed the border: ") + error.what());
    }
    if (__builtin_expect(failure != nullptr, 0)) {
      failure->step = static_cast<int64_t>(i);
      return failure;
    }
  }
  return nullptr;
}

Failure *Program::run_kernel(const Step &step, Frame *frame) {
  const uint32_t count = step.input_count + step.output_count;
  const size_t words = step.scalar_input >= 0 ? step.attributes.size() : 0;
  if (!leaves_lock && words == 0 && !busy_) {
    const Busy busy(&busy_);
    return launch_kept(step, *frame);
  }
  if (__builtin_expect(count <= kInlineOperands && words <= kInlineAttributeWords, 1)) {
    da_tensor tensors[kInlineOperands];
    const da_tensor *pointers[kInlineOperands];
    if (words == 0) return launch(step, frame, tensors, pointers, step.attributes.data());
    uint64_t attributes[kInlineAttributeWords];
    std::memcpy(attributes, step.attributes.data(), words * sizeof(uint64_t));
    std::memcpy(attributes + step.scalar_word, &frame->scalars[step.scalar_index], sizeof(Element));
    return launch(step, frame, tensors, pointers, attributes);
  }
  std::vector<da_tensor> tensors(count);
  std::vector<const da_tensor *> pointers(count);
  std::vector<uint64_t> attributes = step.attributes;
  if (words != 0) {
    std::memcpy(attributes.data() + step.scalar_word, &frame->scalars[step.scalar_index], sizeof(Element));
  }
  return launch(step, frame, tensors.data(), pointers.data(), attributes.data());
}

inline Failure *Program::launch(const Step &step, Frame *frame, da_tensor *tensors,
                                const da_tensor **pointers, const uint64_t *attributes) {
  const uint32_t count = step.input_count + step.output_count;
  const Operand *operand = operands.data() + step.first;
  const da_tensor *descriptor = descriptors_.data() + step.first;
  for (uint32_t k = 0; k < count; ++k, ++operand, ++descriptor) {
    if (!operand->present) {
      pointers[k] = nullptr;
      continue;
    }
    const Place &place = frame->places[operand->slot];
    tensors[k] = *descriptor;
    tensors[k].dl.data = place.handle;
    tensors[k].dl.byte_offset = descriptor->dl.byte_offset + place.offset;
    pointers[k] = &tensors[k];
  }
  return call(step, frame->stream, frame->random_seed, frame->random_offset + step.random_before, pointers,
              attributes);
}

// Under the host lock, one run at a time may use the descriptors that the program keeps.
inline Failure *Program::launch_kept(const Step &step, const Frame &frame) {
  const uint32_t count = step.input_count + step.output_count;
  const Operand *operand = operands.data() + step.first;
  da_tensor *tensor = kept_.data() + step.first;
  for (uint32_t k = 0; k < count; ++k, ++operand, ++tensor) {
    if (!operand->present) continue;
    const Place &place = frame.places[operand->slot];
    tensor->dl.data = place.handle;
    tensor->dl.byte_offset = operand->byte_offset + place.offset;
  }
  return call(step, frame.stream, frame.random_seed, frame.random_offset + step.random_before,
              kept_pointers_.data() + step.first, step.attributes.data());
}

inline Failure *Program::call(const Step &step, Stream *stream, uint64_t seed, uint64_t offset,
                              const da_tensor *const *pointers, const uint64_t *attributes) {
  Scratch scratch(device, stream);
  da_kernel_context context;
  context.struct_size = sizeof(context);
  context.extension = nullptr;
  context.device = device->handle();
  context.stream = stream == nullptr ? nullptr : stream->handle;
  context.flags = device->deterministic ? DA_CONTEXT_DETERMINISTIC : DA_CONTEXT_FLAG_NONE;
  context.random_seed = seed;
  context.random_offset = offset;
  context.host_context = &scratch;
  context.scratch = Scratch::serve;
  da_error *error = step.kernel->launch(step.state, &context, pointers, step.input_count,
                                        pointers + step.input_count, step.output_count, attributes);
  if (__builtin_expect(error == nullptr, 1)) return nullptr;
  if (error == host_error()) {
    Failure *cause = scratch.take_failure();
    if (cause != nullptr) return cause;
  }
  return translate(device->errors(), error, "kernel.launch");
}

bool Program::run_plain(const TensorState *const *inputs, Storage *output, Failure **out_failure) noexcept {
  if (busy_) return false;
  const Step &step = steps[0];
  const Operand *operand = operands.data();
  da_tensor *tensor = kept_.data();
  for (uint32_t k = 0; k < step.input_count; ++k, ++operand, ++tensor) {
    const TensorState *state = inputs[slots[operand->slot].value];
    const Storage *storage = state->storage.get();
    if (storage->writer != nullptr || storage->uses != nullptr) return false;
    tensor->dl.data = storage->handle;
    tensor->dl.byte_offset = operand->byte_offset + state->start;
  }
  tensor->dl.data = output->handle;
  tensor->dl.byte_offset = output->offset;
  ++runs;
  busy_ = true;
  try {
    *out_failure = call(step, nullptr, 0, 0, kept_pointers_.data(), step.attributes.data());
  } catch (const std::exception &error) {
    *out_failure =
        fail(kThrew, "kernel.launch", std::string("a C++ exception crossed the border: ") + error.what());
  }
  busy_ = false;
  if (*out_failure != nullptr) (*out_failure)->step = 0;
  return true;
}

Failure *Program::run_random(const Step &step, Frame *frame) {
  const Operand &output = operands[step.first + step.input_count];
  const Place &place = frame->places[output.slot];
  const uint64_t offset = frame->random_offset + step.random_before;
  const uint64_t count = static_cast<uint64_t>(output.layout->elements);
  const Tables &tables = device->tables();
  if (tables.random != nullptr) {
    return translate(device->errors(),
                     tables.random->bits(
                         device->handle(), frame->stream == nullptr ? nullptr : frame->stream->handle,
                         frame->random_seed, offset, place.handle, place.offset + output.byte_offset, count),
                     "random.bits");
  }
  // The copy may be read from them later: they live until the stream has passed it.
  auto words = std::make_shared<std::vector<uint32_t>>(count);
  philox_words(frame->random_seed, offset, words->data(), count);
  Failure *failure =
      write_from_pinned(device, frame->stream, Range{place.handle, place.offset + output.byte_offset},
                        words->data(), count * sizeof(uint32_t));
  if (frame->stream != nullptr) device->deferred.add({frame->stream}, [words] {});
  return failure;
}

void Program::count_runs(std::map<std::string, uint64_t> *totals) const {
  if (runs == 0) return;
  for (const Step &step : steps) {
    if (step.kind == StepKind::kernel && !step.skipped) (*totals)[step.kernel->op] += runs;
    if (step.kind == StepKind::random && !step.skipped) (*totals)["random_bits"] += runs;
  }
}

const char *Program::step_op(uint64_t step) const {
  return steps[step].kernel != nullptr ? steps[step].kernel->op : op.c_str();
}

std::string Program::describe(uint64_t index) const {
  const Step &step = steps[index];
  std::string text = "inputs ";
  for (uint32_t k = 0; k < step.input_count + step.output_count; ++k) {
    if (k == step.input_count) {
      text += step.input_count == 0 ? "none; outputs " : "; outputs ";
    } else if (k != 0) {
      text += ", ";
    }
    text += operands[step.first + k].present ? tensor_text(descriptors_[step.first + k]) : "absent";
  }
  return text;
}

}  // namespace device_api
