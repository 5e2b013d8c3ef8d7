// What must wait until streams have passed their present work: memory on its way back, states of kernels.
//
// Adding never calls the plugin, so it may be done where a tensor dies. The marks are set and looked at by
// whoever next needs memory or has waited. Thread-safe.
#ifndef DEVICE_API_CORE_DEFERRED_HPP
#define DEVICE_API_CORE_DEFERRED_HPP

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <vector>

#include "stream.hpp"

namespace device_api {

// Events of a device for the host's own marks, used again and again.
class EventPool {
 public:
  explicit EventPool(Device *device) : device_(device) {}
  Failure *take(da_event **out_event);
  void give_back(da_event *event);
  // Ends all events that nobody has taken.
  void destroy();

 private:
  Device *device_;
  std::mutex mutex_;
  std::vector<da_event *> events_;
};

class Deferred {
 public:
  explicit Deferred(Device *device) : device_(device) {}

  // Runs `action` once all work that the streams (of any device) have now is done.
  void add(std::vector<Stream *> streams, std::function<void()> action);
  // Marks what is new and runs what has come due; a walk that is not `thorough` ends where little is due. May
  // call the plugin: without the host lock.
  void reap(bool thorough = false);
  // How often the plugin could not set or look at a mark: what waits for it is looked at again later.
  uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }
  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }

 private:
  struct Entry {
    std::vector<Stream *> streams;
    std::vector<da_event *> events;  // one for each stream, once marked
    std::function<void()> action;
  };
  bool mark(Entry *entry);
  bool due(Entry *entry);

  Device *device_;
  std::mutex mutex_;
  std::list<Entry> entries_;
  std::atomic<uint64_t> count_{0};
  std::atomic<uint64_t> misses_{0};
};

}  // namespace device_api

#endif
