// See halves.hpp.
#include "halves.hpp"

#include "half_vectors.hpp"
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
// What is left over goes through a buffer, so that every NaN is treated alike.
REFERENCE_CPU_CONVERTS void widen_all(char *const *operands, int64_t n) {
  float *const to = reinterpret_cast<float *>(operands[0]);
  const int64_t whole = n / kHalves * kHalves;
  for (int64_t i = 0; i < whole; i += kHalves) widen_halves(to + i, operands[1] + 2 * i);
  if (whole == n) return;
  char from[2 * kHalves] = {};
  float made[kHalves];
  std::memcpy(from, operands[1] + 2 * whole, static_cast<size_t>(2 * (n - whole)));
  widen_halves(made, from);
  std::memcpy(to + whole, made, static_cast<size_t>(4 * (n - whole)));
}

REFERENCE_CPU_CONVERTS void narrow_all(char *const *operands, int64_t n) {
  const float *const from = reinterpret_cast<const float *>(operands[1]);
  const int64_t whole = n / kHalves * kHalves;
  for (int64_t i = 0; i < whole; i += kHalves) narrow_halves(operands[0] + 2 * i, from + i);
  if (whole == n) return;
  float rest[kHalves] = {};
  char made[2 * kHalves];
  std::memcpy(rest, from + whole, static_cast<size_t>(4 * (n - whole)));
  narrow_halves(made, rest);
  std::memcpy(operands[0] + 2 * whole, made, static_cast<size_t>(2 * (n - whole)));
}
#endif

}  // namespace

Loop widen_loop(int32_t dtype) {
#if defined(REFERENCE_CPU_HAS_CLONES)
  if (dtype == DA_FLOAT16 && converts_halves()) return widen_all;
#endif
  return dtype == DA_FLOAT16 ? unary_clones<Widen, float, float16> : unary_clones<Widen, float, bfloat16>;
}

Loop narrow_loop(int32_t dtype) {
#if defined(REFERENCE_CPU_HAS_CLONES)
  if (dtype == DA_FLOAT16 && converts_halves()) return narrow_all;
#endif
  return dtype == DA_FLOAT16 ? unary_clones<Narrow<float16>, float16, float>
                             : unary_clones<Narrow<bfloat16>, bfloat16, float>;
}

}  // namespace reference_cpu
