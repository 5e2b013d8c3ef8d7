// float16 by the processor's own conversions, some numbers at a time; where REFERENCE_CPU_HAS_CLONES is
// defined.
#ifndef REFERENCE_CPU_HALF_VECTORS_HPP
#define REFERENCE_CPU_HALF_VECTORS_HPP

#include <cstring>

#include "loops.hpp"

#if defined(REFERENCE_CPU_HAS_CLONES)

#include <immintrin.h>

#define REFERENCE_CPU_CONVERTS __attribute__((target("arch=x86-64-v3")))

namespace reference_cpu {

inline bool converts_halves() { return __builtin_cpu_supports("x86-64-v3") != 0; }

constexpr int64_t kHalves = 16;  // numbers that are converted at once

REFERENCE_CPU_CONVERTS inline __attribute__((always_inline)) void widen_halves(float *to, const char *from) {
  for (int64_t k = 0; k < kHalves; k += 8) {
    const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + 2 * k));
    _mm256_storeu_ps(to + k, _mm256_cvtph_ps(packed));
  }
}

REFERENCE_CPU_CONVERTS inline __attribute__((always_inline)) void narrow_halves(char *to, const float *from) {
  for (int64_t k = 0; k < kHalves; k += 8) {
    const __m128i packed = _mm256_cvtps_ph(_mm256_loadu_ps(from + k), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to + 2 * k), packed);
  }
}

}  // namespace reference_cpu

#endif
#endif
