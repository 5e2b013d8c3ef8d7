// The memory interface: handles are addresses of the host.
#ifndef REFERENCE_CPU_MEMORY_HPP
#define REFERENCE_CPU_MEMORY_HPP

#include "device_api/memory.h"

namespace reference_cpu {
extern const da_memory_interface memory_interface;
}

#endif
