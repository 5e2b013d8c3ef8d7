// The memory interface, and what copies share with kernels and random bits: putting work on a stream.
#ifndef SIMULATED_MEMORY_HPP
#define SIMULATED_MEMORY_HPP

#include "device_api/memory.h"
#include "work.hpp"

namespace simulated {

// Queues the work on the stream, or runs it now where the stream is NULL.
void enqueue(Device &device, da_stream *stream, Work work);

extern const da_memory_interface memory_interface;

}  // namespace simulated

#endif
