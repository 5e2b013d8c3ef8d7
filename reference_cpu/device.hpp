// The one device of this plugin and its interface.
#ifndef REFERENCE_CPU_DEVICE_HPP
#define REFERENCE_CPU_DEVICE_HPP

#include <cstdint>

#include "device_api/device.h"

namespace reference_cpu {

extern const da_device_interface device_interface;

// Bytes of memory this process may use: the machine's, or less where a control group says so.
uint64_t total_memory();
// Bytes the machine could still give now.
uint64_t free_memory();

}  // namespace reference_cpu

#endif
