// The kernel interface: the reference CPU's kernels behind handles and streams.
#ifndef SIMULATED_KERNELS_HPP
#define SIMULATED_KERNELS_HPP

#include "device_api/kernel.h"

namespace simulated {

// Throws what an error of the reference CPU says, and destroys it. NULL: nothing.
void throw_if(da_error *error);

extern const da_kernel_interface kernel_interface;

}  // namespace simulated

#endif
