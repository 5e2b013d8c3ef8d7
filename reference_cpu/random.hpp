// The random interface: raw bits of Philox 4x32-10.
#ifndef REFERENCE_CPU_RANDOM_HPP
#define REFERENCE_CPU_RANDOM_HPP

#include "device_api/random.h"

namespace reference_cpu {
extern const da_random_interface random_interface;
}

#endif
