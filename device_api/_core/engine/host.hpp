// The services that the host lends to plugins (host.h): a log and asynchronous errors.
//
// A plugin may call them from any thread and while it holds its own locks, so they only queue: nothing here
// waits for the interpreter. Whoever runs the interpreter collects the queue.
#ifndef DEVICE_API_CORE_HOST_HPP
#define DEVICE_API_CORE_HOST_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "device_api/host.h"
#include "failure.hpp"

namespace device_api {

struct LogLine {
  int32_t level;
  std::string text;
};

// The one table of the process; it lives for ever.
const da_host *host_services();

// Calls `notify` (from any thread) when a line comes into an empty queue.
void set_log_notify(void (*notify)());
// Empties the queue; `out_dropped` counts lines that found it full.
std::vector<LogLine> take_log(uint64_t *out_dropped);

// The first error reported for the stream since the last call, or for the whole device; nullptr: none. A NULL
// stream takes those of any stream.
Failure *take_async_error(const da_device *device, const da_stream *stream);

}  // namespace device_api

#endif
