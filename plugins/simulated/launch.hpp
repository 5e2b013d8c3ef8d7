// Launching a kernel of the reference CPU on a stream.
#ifndef SIMULATED_LAUNCH_HPP
#define SIMULATED_LAUNCH_HPP

#include "device_api/kernel.h"

namespace simulated {

// `flags` are what the device claims for the kernel; operands beyond them are refused. Throws Failure.
void *prepare_kernel(const da_kernel &kernel, uint64_t flags, const da_tensor *const *inputs,
                     uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                     const void *attributes);
void release_state(void *state);
// Checks and copies all arguments now, and queues the work. `state` is what prepare_kernel gave, or NULL.
void launch_kernel(const da_kernel &kernel, uint64_t flags, void *state, const da_kernel_context *context,
                   const da_tensor *const *inputs, uint32_t input_count, const da_tensor *const *outputs,
                   uint32_t output_count, const void *attributes);

}  // namespace simulated

#endif
