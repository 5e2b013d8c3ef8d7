// See halves.hpp.
#include "halves.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstring>

#include "types.hpp"

namespace reference_cpu {
namespace {

struct Widen {
  template <class A>
  static float apply(A a) {
    return widen(a);
  }
};

template <class To>
struct Narrow {
  static To apply(float a) { return narrow<To>(a); }
};

#if defined(REFERENCE_CPU_HAS_CLONES)
// The processor's own conversions, eight at a time. What is left over goes through a buffer, so that every
// NaN is treated alike.
__attribute__((target("arch=x86-64-v3"))) void widen_eight(char *to, const char *from) {
  const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
  _mm256_storeu_ps(reinterpret_cast<float *>(to), _mm256_cvtph_ps(packed));
}

__attribute__((target("arch=x86-64-v3"))) void narrow_eight(char *to, const char *from) {
  const __m256 numbers = _mm256_loadu_ps(reinterpret_cast<const float *>(from));
  _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm256_cvtps_ph(numbers, _MM_FROUND_TO_NEAREST_INT));
}

template <void (*eight)(char *, const char *), int64_t kTo, int64_t kFrom>
__attribute__((target("arch=x86-64-v3"))) void by_eight(char *const *operands, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) eight(operands[0] + i * kTo, operands[1] + i * kFrom);
  if (i == n) return;
  char from[8 * kFrom] = {}, to[8 * kTo];
  std::memcpy(from, operands[1] + i * kFrom, static_cast<size_t>((n - i) * kFrom));
  eight(to, from);
  std::memcpy(operands[0] + i * kTo, to, static_cast<size_t>((n - i) * kTo));
}

bool converts() { return __builtin_cpu_supports("x86-64-v3") != 0; }
#endif

}  // namespace

Loop widen_loop(int32_t dtype) {
#if defined(REFERENCE_CPU_HAS_CLONES)
  if (dtype == DA_FLOAT16 && converts()) return by_eight<widen_eight, 4, 2>;
#endif
  return dtype == DA_FLOAT16 ? unary_clones<Widen, float, float16> : unary_clones<Widen, float, bfloat16>;
}

Loop narrow_loop(int32_t dtype) {
#if defined(REFERENCE_CPU_HAS_CLONES)
  if (dtype == DA_FLOAT16 && converts()) return by_eight<narrow_eight, 2, 4>;
#endif
  return dtype == DA_FLOAT16 ? unary_clones<Narrow<float16>, float16, float>
                             : unary_clones<Narrow<bfloat16>, bfloat16, float>;
}

}  // namespace reference_cpu
