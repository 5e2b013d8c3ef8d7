// One opened device: the plugin's interface tables, its kernels, its stream, its memory and its random state.
//
// A device lives until the process ends, because plugins are never unloaded and tensors may outlive
// everything else. It never looks inside the plugin's handles.
#ifndef DEVICE_API_CORE_DEVICE_HPP
#define DEVICE_API_CORE_DEVICE_HPP

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "allocator.hpp"
#include "deferred.hpp"
#include "device_api/capture.h"
#include "device_api/device.h"
#include "device_api/kernel.h"
#include "device_api/random.h"
#include "device_api/stream.h"
#include "failure.hpp"
#include "process.hpp"
#include "storage.hpp"
#include "stream.hpp"

namespace device_api {

struct Tables {
  const da_memory_interface *memory;
  const da_kernel_interface *kernel;
  const da_device_interface *device;
  const da_stream_interface *stream;    // may be nullptr: then the device is synchronous
  const da_random_interface *random;    // may be nullptr
  const da_capture_interface *capture;  // may be nullptr
};

struct RandomState {
  uint64_t seed;
  uint64_t offset;  // in blocks of four words
};

class Device;
struct External;

// What this thread draws from instead of a device's own state; the last one for a device counts. Host lock.
struct LentRandom {
  const Device *device;
  RandomState *state;
  void *owner;
};
inline thread_local std::vector<LentRandom> lent_random;
inline void lend_random(const Device *device, RandomState *state, void *owner) {
  lent_random.push_back({device, state, owner});
}
// The owner of the last one, which is forgotten; nullptr when there is none.
inline void *take_random_back() {
  if (lent_random.empty()) return nullptr;
  void *owner = lent_random.back().owner;
  lent_random.pop_back();
  return owner;
}

class Program;

class Device {
 public:
  Device(da_device *handle, const Tables &tables, const da_error_interface *errors, da_dl_device place,
         uint64_t alignment, uint64_t flags, bool direct);

  // Reads the kernel list and makes the stream. May call the plugin.
  Failure *open();

  da_device *handle() const { return handle_; }
  const Tables &tables() const { return tables_; }
  const da_error_interface *errors() const { return errors_; }
  da_dl_device place() const { return place_; }
  // The stream on which this thread works; nullptr where the device is synchronous.
  Stream *stream() const { return synchronous_ ? nullptr : current_stream(); }
  Stream *default_stream() const { return default_stream_; }
  // Makes it the stream of this thread; nullptr: the default one.
  void set_stream(Stream *stream);
  // A stream that nobody else holds: an idle one, or a new one. May call the plugin. Host lock.
  Failure *acquire_stream(int32_t priority, Stream **out_stream);
  // A stream over a native one of the vendor's; the same one until it has ended. May call the plugin. Host
  // lock.
  Failure *wrap_stream(void *native, Stream **out_stream);
  // Ends such a stream, whose work is done: no call about it reaches the plugin any more. Host lock.
  Failure *end_wrapped(Stream *stream);
  // Host lock.
  size_t stream_count() const { return streams_.size(); }
  Stream *stream_at(size_t position) const { return streams_[position].get(); }
  bool host_visible() const { return (flags_ & DA_DEVICE_HOST_VISIBLE) != 0; }
  // Every call is finished when it returns; then the device has no stream of its own.
  bool synchronous() const { return synchronous_; }
  const std::vector<const da_kernel *> &kernels() const { return kernels_; }

  // False in a forked child and after `retire`: then no plugin function may be called.
  bool usable() const { return usable_ && birth_ == fork_generation.load(std::memory_order_relaxed); }
  bool forked() const { return birth_ != fork_generation.load(std::memory_order_relaxed); }
  void retire() { usable_ = false; }
  // After `retire`, with no work left: gives states of kernels and memory back that somebody still holds, who
  // cannot use them any more. Gives the handles of what stays, because others may look at it by its address.
  // `wrapped`: of `take_wrapped`. Without the host lock.
  std::vector<const void *> release_held(const std::vector<void *> &wrapped);
  // The handles that the plugin has made for memory of others, none of which are live afterwards. Host lock.
  std::vector<void *> take_wrapped();

  // Waits for what the waits for single streams leave, and gives what failed. Without the host lock.
  Failure *synchronize();
  // A failure that its caller could tell nobody, for the next wait of the host; nullptr passes. [thread-safe]
  void keep(Failure *failure);
  Failure *take_kept();
  // Uploads that found no pinned memory and went straight from the caller's. [thread-safe]
  std::atomic<uint64_t> unstaged{0};
  // Ends streams and events of a device without work.
  void destroy_streams();
  // Free and total bytes as the plugin sees them, or zeros.
  void memory_info(uint64_t *out_free, uint64_t *out_total);

  // Host lock: which programs exist, for counting.
  void add_program(Program *program);
  void remove_program(Program *program);
  std::map<std::string, uint64_t> kernel_runs() const;
  void reset_kernel_runs();

  Deferred deferred{this};
  EventPool events{this};
  Budget budget;  // of device and managed memory; pinned memory is the host's
  Allocator allocator;
  Allocator pinned;
  Allocator managed;
  StoragePool pool;
  std::set<External *> externals;  // with handles of the plugin; host lock
  RandomState random{0, 0};
  RandomState &random_source() {
    for (auto lent = lent_random.rbegin(); lent != lent_random.rend(); ++lent) {
      if (lent->device == this) return *lent->state;
    }
    return random;
  }
  // The last draw was not used.
  void return_random(uint64_t blocks) { random_source().offset -= blocks; }
  bool deterministic = false;
  uint32_t running = 0;  // calls in progress that use memory of tensors; host lock

 private:
  Stream *current_stream() const;

  da_device *handle_;
  Tables tables_;
  const da_error_interface *errors_;
  da_dl_device place_;
  const bool synchronous_;
  const uint64_t flags_;
  const uint32_t number_;  // among all devices of the process
  Stream *default_stream_ = nullptr;
  std::vector<std::unique_ptr<Stream>> streams_;
  const uint32_t birth_ = fork_generation.load();
  bool usable_ = true;
  std::mutex kept_mutex_;
  std::vector<std::unique_ptr<Failure>> kept_;
  std::atomic<uint64_t> kept_count_{0};
  std::vector<const da_kernel *> kernels_;
  Program *programs_ = nullptr;
  std::map<std::string, uint64_t> past_runs_;  // of programs that no longer exist
};

}  // namespace device_api

#endif
