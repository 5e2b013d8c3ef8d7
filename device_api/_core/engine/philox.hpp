// Philox 4x32-10 as random.h defines it, for devices without the random interface.
#ifndef DEVICE_API_CORE_PHILOX_HPP
#define DEVICE_API_CORE_PHILOX_HPP

#include <cstdint>

namespace device_api {

// Writes words 0..count-1 of stream (seed, offset).
void philox_words(uint64_t seed, uint64_t offset, uint32_t *out, uint64_t count);

}  // namespace device_api

#endif
