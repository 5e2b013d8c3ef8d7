// Recording what the devices did, and the profiler interface.
#ifndef SIMULATED_PROFILER_HPP
#define SIMULATED_PROFILER_HPP

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "device_api/profiler.h"

namespace simulated {

struct Device;
struct Work;

// Nanoseconds of the monotonic clock.
uint64_t now_ns();

class Recorder {
 public:
  // Keeps one activity of `device` if it is profiled now; `stream` is 0 for synchronous work.
  void record(const Device &device, const Work &work, uint64_t stream, uint64_t start_ns, uint64_t end_ns);
  void record_call(const Device &device, const std::string &name, uint64_t correlation, uint64_t start_ns);
  // A number that ties a call to the work that it queues.
  uint64_t next_correlation() { return ++correlations_; }
  void clear(const Device &device);
  void give(const Device &device, void (*sink)(void *user_data, const da_activity *activity),
            void *user_data);

 private:
  struct Entry {
    const Device *device;
    std::string name;
    da_activity facts;
  };
  void keep(const Device &device, const std::string &name, const da_activity &facts);

  std::atomic<uint64_t> correlations_{0};
  std::mutex lock_;
  std::vector<Entry> entries_;
};

extern const da_profiler_interface profiler_interface;

}  // namespace simulated

#endif
