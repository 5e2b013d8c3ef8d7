#include "device.hpp"

#include <algorithm>

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

}  // namespace

Device::Device(da_device *handle, const Tables &tables, const da_error_interface *errors, da_dl_device place,
               uint64_t alignment, uint64_t flags)
    : allocator(this),
      pool(&allocator, &stream_),
      handle_(handle),
      tables_(tables),
      errors_(errors),
      place_(place),
      synchronous_(tables.stream == nullptr || (flags & DA_DEVICE_SYNCHRONOUS) != 0) {
  allocator.set_granularity(granularity_for(alignment));
  pool.prepare(granularity_for(alignment));
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
  if (synchronous_) return nullptr;
  Failure *failure = translate(errors_, tables_.stream->create(handle_, 0, &stream_), "stream.create");
  if (failure == nullptr && stream_ == nullptr) {
    failure = fail(kMalformed, "stream.create", "the plugin reported success and gave no stream");
  }
  return failure;
}

Failure *Device::synchronize() {
  Failure *failure = nullptr;
  if (!synchronous_) {
    failure = translate(errors_, tables_.stream->synchronize(handle_, stream_), "stream.synchronize");
  }
  if (failure == nullptr && tables_.device->synchronize != nullptr) {
    failure = translate(errors_, tables_.device->synchronize(handle_), "device.synchronize");
  }
  Failure *reported = take_async_error(handle_);
  if (reported == nullptr) return failure;
  // What the plugin reported while the work ran is the cause; the wait only repeats it.
  delete failure;
  return reported;
}

Failure *Device::release_cached(uint64_t *out_bytes) {
  *out_bytes = 0;
  if (!synchronous()) {
    if (Failure *failure = synchronize()) return failure;
  }
  return allocator.release_cached(out_bytes);
}

void Device::memory_info(uint64_t *out_free, uint64_t *out_total) {
  *out_free = *out_total = 0;
  if (tables_.memory->info == nullptr) return;
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
