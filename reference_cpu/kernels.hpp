// The kernel interface: the list of what this plugin computes.
#ifndef REFERENCE_CPU_KERNELS_HPP
#define REFERENCE_CPU_KERNELS_HPP

#include "device_api/kernel.h"

namespace reference_cpu {
extern const da_kernel_interface kernel_interface;
}

#endif
