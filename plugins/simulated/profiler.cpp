// Activities are recorded when they end, and given out in the order in which they began.
#include "profiler.hpp"

#include <algorithm>
#include <chrono>

#include "device.hpp"
#include "error.hpp"
#include "runtime.hpp"

namespace simulated {
namespace {

da_activity activity(int32_t kind, uint64_t stream, uint64_t correlation, uint64_t bytes, uint64_t start_ns,
                     uint64_t end_ns) {
  da_activity facts{};
  facts.struct_size = sizeof(da_activity);
  facts.kind = kind;
  facts.start_ns = start_ns;
  facts.end_ns = end_ns;
  facts.stream = stream;
  facts.correlation = correlation;
  facts.bytes = bytes;
  return facts;
}

da_error *start(da_device *handle) {
  return guarded("start", [&] {
    Device &device = device_of(handle);
    if (device.profiled.exchange(true)) {
      throw Failure(DA_STATUS_FAILED_PRECONDITION, device.name + " is profiled already");
    }
    runtime().recorder.clear(device);
  });
}

da_error *stop(da_device *handle) {
  return guarded("stop", [&] {
    Device &device = device_of(handle);
    if (!device.profiled) throw Failure(DA_STATUS_FAILED_PRECONDITION, device.name + " is not profiled");
    // A failure of the work stays where it is, for whoever waits for it.
    runtime().scheduler.wait_for_device(device);
    device.profiled = false;
  });
}

da_error *collect(da_device *handle, void (*sink)(void *user_data, const da_activity *activity),
                  void *user_data) {
  return guarded("collect", [&] { runtime().recorder.give(device_of(handle), sink, user_data); });
}

}  // namespace

uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

void Recorder::keep(const Device &device, const std::string &name, const da_activity &facts) {
  std::lock_guard<std::mutex> lock(lock_);
  entries_.push_back({&device, name, facts});
}

void Recorder::record(const Device &device, const Work &work, uint64_t stream, uint64_t start_ns,
                      uint64_t end_ns) {
  if (!device.profiled) return;
  keep(device, work.name, activity(work.activity, stream, work.correlation, work.bytes, start_ns, end_ns));
}

void Recorder::record_call(const Device &device, const std::string &name, uint64_t correlation,
                           uint64_t start_ns) {
  if (!device.profiled) return;
  keep(device, name, activity(DA_ACTIVITY_RUNTIME, 0, correlation, 0, start_ns, now_ns()));
}

void Recorder::clear(const Device &device) {
  std::lock_guard<std::mutex> lock(lock_);
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [&](const Entry &entry) { return entry.device == &device; }),
                 entries_.end());
}

void Recorder::give(const Device &device, void (*sink)(void *user_data, const da_activity *activity),
                    void *user_data) {
  std::vector<Entry> given;
  {
    std::lock_guard<std::mutex> lock(lock_);
    const auto mine = std::stable_partition(entries_.begin(), entries_.end(),
                                            [&](const Entry &entry) { return entry.device != &device; });
    given.assign(std::make_move_iterator(mine), std::make_move_iterator(entries_.end()));
    entries_.erase(mine, entries_.end());
  }
  std::stable_sort(given.begin(), given.end(),
                   [](const Entry &a, const Entry &b) { return a.facts.start_ns < b.facts.start_ns; });
  for (Entry &entry : given) {
    entry.facts.name = entry.name.c_str();
    sink(user_data, &entry.facts);
  }
}

const da_profiler_interface profiler_interface = {
    sizeof(da_profiler_interface), nullptr, DA_PROFILER_INTERFACE_VERSION, 0, start, stop, collect};

}  // namespace simulated
