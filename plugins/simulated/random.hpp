// The random interface.
#ifndef SIMULATED_RANDOM_HPP
#define SIMULATED_RANDOM_HPP

#include "device_api/random.h"

namespace simulated {
extern const da_random_interface random_interface;
}

#endif
