// The capture interface.
#ifndef SIMULATED_CAPTURE_HPP
#define SIMULATED_CAPTURE_HPP

#include "device_api/capture.h"

namespace simulated {
extern const da_capture_interface capture_interface;
}

#endif
