#include "device.hpp"

#include <algorithm>
#include <atomic>

#include "external.hpp"
#include "host.hpp"
#include "program.hpp"

namespace device_api {

namespace {

constexpr uint64_t kLeastGranularity = 64;  // a cache line, and the widest vector register
constexpr uint64_t kMostGranularity = UINT64_C(1) << 16;

uint64_t granularity_for(uint64_t alignment) {
  const bool power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
  return power_of_two ? std::clamp(alignment, kLeastGranularity, kMostGranularity) : kLeastGranularity;
}

std::atomic<uint32_t> device_count{0};

// By device number.
std::vector<Stream *> &chosen_streams() {
  static thread_local std::vector<Stream *> chosen;
  return chosen;
}

}  // namespace

Device::Device(da_device *handle, const Tables &tables, const da_error_interface *errors, da_dl_device place,
               uint64_t alignment, uint64_t flags, bool direct)
    : allocator(this, DA_MEMORY_DEVICE, &budget),
      pinned(this, DA_MEMORY_PINNED, nullptr),
      managed(this, DA_MEMORY_MANAGED, &budget),
      pool(&allocator, &default_stream_),
      handle_(handle),
      tables_(tables),
      errors_(errors),
      place_(place),
      synchronous_(tables.stream == nullptr || (flags & DA_DEVICE_SYNCHRONOUS) != 0),
      flags_(flags),
      number_(device_count.fetch_add(1)) {
  // Where every tensor has memory of its own, its size is not rounded either: what lies behind its last byte
  // belongs to nobody.
  for (Allocator *each : {&allocator, &managed}) {
    each->set_granularity(direct ? 1 : granularity_for(alignment));
    if (direct) each->set_direct();
  }
  pool.prepare(granularity_for(alignment), !direct);
}

Failure *Device::open() {
  da_kernel_list list{};
  list.struct_size = sizeof(list);
  if (Failure *failure = translate(errors_, tables_.kernel->list(handle_, &list), "kernel.list"))
    return failure;
  if (list.count != 0 && (list.first == nullptr || list.stride < sizeof(da_kernel))) {
    return fail(kMalformed, "kernel.list",
                "the list has " + std::to_string(list.count) + " kernels, but first is NULL or stride is " +
                    std::to_string(list.stride) + " instead of at least " +
                    std::to_string(sizeof(da_kernel)));
  }
  for (uint64_t i = 0; i < list.count; ++i) {
    const da_kernel *kernel =
        reinterpret_cast<const da_kernel *>(reinterpret_cast<const char *>(list.first) + i * list.stride);
    const char *missing = kernel->struct_size < sizeof(da_kernel) ? "a struct_size that is too small"
                          : kernel->op == nullptr                 ? "no op"
                          : kernel->launch == nullptr             ? "no launch"
                          : kernel->prepare != nullptr && kernel->release == nullptr
                              ? "prepare but no release"
                              : nullptr;
    if (missing != nullptr) {
      return fail(kMalformed, "kernel.list",
                  "kernel " + std::to_string(i) +
                      (kernel->op != nullptr ? " (" + std::string(kernel->op) + ")" : "") + " has " +
                      missing);
    }
    kernels_.push_back(kernel);
  }
  return synchronous_ ? nullptr : acquire_stream(0, &default_stream_);
}

Stream *Device::current_stream() const {
  const std::vector<Stream *> &chosen = chosen_streams();
  Stream *stream = number_ < chosen.size() ? chosen[number_] : nullptr;
  return stream != nullptr ? stream : default_stream_;
}

void Device::set_stream(Stream *stream) {
  std::vector<Stream *> &chosen = chosen_streams();
  if (number_ >= chosen.size()) chosen.resize(number_ + 1, nullptr);
  chosen[number_] = stream;
}

Failure *Device::acquire_stream(int32_t priority, Stream **out_stream) {
  for (const auto &stream : streams_) {
    // One that failed, or still has work, would not be as good as new.
    if (!stream->idle || stream->priority != priority || !stream->settled(stream->sequence())) continue;
    stream->idle = false;
    *out_stream = stream.get();
    return nullptr;
  }
  da_stream *made = nullptr;
  Failure *failure = translate(errors_, tables_.stream->create(handle_, priority, &made), "stream.create");
  if (failure != nullptr) return failure;
  if (made == nullptr)
    return fail(kMalformed, "stream.create", "the plugin reported success and gave no stream");
  const uint32_t number = static_cast<uint32_t>(streams_.size());
  streams_.push_back(std::make_unique<Stream>(this, made, priority, number));
  *out_stream = streams_.back().get();
  return nullptr;
}

Failure *Device::wrap_stream(void *native, Stream **out_stream) {
  for (const auto &stream : streams_) {
    if (stream->native != native || stream->ended) continue;
    *out_stream = stream.get();
    return nullptr;
  }
  if (tables_.stream->wrap == nullptr) {
    return fail(DA_STATUS_UNIMPLEMENTED, "stream.wrap", "the plugin wraps no streams");
  }
  da_stream *made = nullptr;
  Failure *failure = translate(errors_, tables_.stream->wrap(handle_, native, &made), "stream.wrap");
  if (failure != nullptr) return failure;
  if (made == nullptr)
    return fail(kMalformed, "stream.wrap", "the plugin reported success and gave no stream");
  const uint32_t number = static_cast<uint32_t>(streams_.size());
  streams_.push_back(std::make_unique<Stream>(this, made, 0, number, native));
  *out_stream = streams_.back().get();
  return nullptr;
}

Failure *Device::end_wrapped(Stream *stream) {
  stream->ended = true;
  Failure *failure = allocator.release_stream(stream);
  Failure *other = translate(errors_, tables_.stream->destroy(handle_, stream->handle), "stream.destroy");
  if (failure == nullptr) return other;
  delete other;
  return failure;
}

Failure *Device::synchronize() {
  Failure *failure = nullptr;
  // All work of the host is on streams, whose waits say what failed on which of them.
  if (synchronous_ && tables_.device->synchronize != nullptr) {
    failure = translate(errors_, tables_.device->synchronize(handle_), "device.synchronize");
  }
  Failure *reported = take_async_error(handle_, nullptr);
  if (reported == nullptr) return failure;
  delete failure;
  return reported;
}

void Device::destroy_streams() {
  events.destroy();
  for (const auto &stream : streams_) {
    if (stream->ended) continue;
    keep(translate(errors_, tables_.stream->destroy(handle_, stream->handle), "stream.destroy"));
  }
}

void Device::keep(Failure *failure) {
  if (failure == nullptr) return;
  std::lock_guard<std::mutex> guard(kept_mutex_);
  kept_.emplace_back(failure);
  kept_count_.fetch_add(1);
}

Failure *Device::take_kept() {
  if (kept_count_.load() == 0) return nullptr;
  std::lock_guard<std::mutex> guard(kept_mutex_);
  if (kept_.empty()) return nullptr;
  Failure *failure = kept_.front().release();
  kept_.erase(kept_.begin());
  kept_count_.fetch_sub(1);
  return failure;
}

std::vector<void *> Device::take_wrapped() {
  std::vector<void *> handles;
  for (External *held : externals) {
    handles.push_back(held->handle);
    held->wrapped = false;
  }
  externals.clear();
  return handles;
}

std::vector<const void *> Device::release_held(const std::vector<void *> &wrapped) {
  for (Program *program = programs_; program != nullptr; program = program->next) program->release_states();
  for (void *handle : wrapped)
    keep(translate(errors_, tables_.memory->unwrap(handle_, handle), "memory.unwrap"));
  allocator.release_all();
  managed.release_all();
  std::vector<const void *> left;
  for (Allocator *each : {&allocator, &pinned, &managed}) {
    const std::vector<const void *> held = each->held();
    left.insert(left.end(), held.begin(), held.end());
  }
  return left;
}

void Device::memory_info(uint64_t *out_free, uint64_t *out_total) {
  *out_free = *out_total = 0;
  if (tables_.memory->info == nullptr || !usable_) return;
  Failure *failure = translate(errors_, tables_.memory->info(handle_, out_free, out_total), "memory.info");
  if (failure != nullptr) *out_free = *out_total = 0;
  delete failure;
}

void Device::add_program(Program *program) {
  program->next = programs_;
  program->previous = nullptr;
  if (programs_ != nullptr) programs_->previous = program;
  programs_ = program;
}

void Device::remove_program(Program *program) {
  program->count_runs(&past_runs_);
  if (program->next != nullptr) program->next->previous = program->previous;
  if (program->previous != nullptr) program->previous->next = program->next;
  if (programs_ == program) programs_ = program->next;
}

std::map<std::string, uint64_t> Device::kernel_runs() const {
  std::map<std::string, uint64_t> runs = past_runs_;
  for (const Program *program = programs_; program != nullptr; program = program->next)
    program->count_runs(&runs);
  return runs;
}

void Device::reset_kernel_runs() {
  past_runs_.clear();
  for (Program *program = programs_; program != nullptr; program = program->next) program->runs = 0;
}

}  // namespace device_api
