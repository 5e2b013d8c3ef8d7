// The stream interface of a device whose work is done when the call returns.
#ifndef REFERENCE_CPU_STREAM_HPP
#define REFERENCE_CPU_STREAM_HPP

#include "device_api/stream.h"

namespace reference_cpu {
extern const da_stream_interface stream_interface;
}

#endif
