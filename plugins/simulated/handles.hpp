// Handles of streams, events and captures: numbers that are no addresses, so that a host that looks inside
// crashes, and that are never given out twice, so that a handle used after its end is an error in words.
#ifndef SIMULATED_HANDLES_HPP
#define SIMULATED_HANDLES_HPP

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "device_api/base.h"
#include "error.hpp"

namespace simulated {

template <class T>
class Handles {
 public:
  Handles(const char *what, uint64_t base) : what_(what), base_(base) {}

  uint64_t add(std::shared_ptr<T> object) {
    static std::atomic<uint64_t> given{0};  // goes on after a shutdown: old handles stay unknown
    const uint64_t handle = base_ + ++given * 64;
    std::lock_guard<std::mutex> lock(lock_);
    objects_[handle] = std::move(object);
    return handle;
  }

  // Whether such a handle may be one of this table; each table has numbers of its own.
  bool holds(const void *handle) const {
    return reinterpret_cast<uint64_t>(handle) - base_ < UINT64_C(1) << 52;
  }

  std::shared_ptr<T> get(const void *handle) {
    std::lock_guard<std::mutex> lock(lock_);
    return find(handle)->second;
  }

  void remove(const void *handle) {
    std::lock_guard<std::mutex> lock(lock_);
    objects_.erase(find(handle));
  }

 private:
  using Map = std::map<uint64_t, std::shared_ptr<T>>;

  typename Map::iterator find(const void *handle) {
    const auto found = objects_.find(reinterpret_cast<uint64_t>(handle));
    if (found == objects_.end()) {
      throw Failure(
          DA_STATUS_INVALID_ARGUMENT,
          std::string("the ") + what_ + " handle was never given out, or its " + what_ + " was destroyed");
    }
    return found;
  }

  const char *const what_;
  const uint64_t base_;
  std::mutex lock_;
  Map objects_;
};

}  // namespace simulated

#endif
