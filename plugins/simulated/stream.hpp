// Events, the stream interface, and how other interfaces find the stream behind a handle.
#ifndef SIMULATED_STREAM_HPP
#define SIMULATED_STREAM_HPP

#include <memory>
#include <mutex>

#include "device_api/stream.h"
#include "scheduler.hpp"

namespace simulated {

struct Event {
  Device *device = nullptr;
  bool timing = false;
  std::mutex lock;
  SharedMark mark;  // of the last recording; NULL before the first

  SharedMark last() {
    std::lock_guard<std::mutex> guard(lock);
    return mark;
  }
};

// The stream behind a handle; NULL for NULL. Throws Failure when there is none, or it is another device's.
SharedStream stream_of(const Device &device, da_stream *handle);

extern const da_stream_interface stream_interface;

}  // namespace simulated

#endif
