// The passes that softmax and what is made of it have in common, over one line of numbers. Everything is
// inlined into the caller's clones.
#ifndef REFERENCE_CPU_SOFTMAX_LINE_HPP
#define REFERENCE_CPU_SOFTMAX_LINE_HPP

#include <limits>

#include "loops.hpp"
#include "reduce_lanes.hpp"
#include "vector_math.hpp"
#include "vector_math64.hpp"

namespace reference_cpu {

// NaN is passed over: it comes back by the exponentials.
template <class C>
inline __attribute__((always_inline)) C greatest(const C *x, int64_t n) {
  constexpr int kLanes = 64 / sizeof(C);
  C best = -std::numeric_limits<C>::infinity();
  int64_t i = 0;
  if (n >= kLanes) {
    Vector<C, kLanes> lanes, next;
    load_lanes(lanes, x);
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
      load_lanes(next, x + i);
      lanes = next > lanes ? next : lanes;
    }
    for (int lane = 0; lane < kLanes; ++lane) best = lanes[lane] > best ? lanes[lane] : best;
  }
  for (; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

template <class C>
inline __attribute__((always_inline)) double sum_of(const C *x, int64_t n) {
  return sum_terms<C>(
      n, [x](int64_t i, auto &lanes) __attribute__((always_inline)) { load_lanes(lanes, x + i); },
      [x](int64_t i) { return x[i]; });
}

// out = exp(x - the greatest x), whose sum is the result.
template <class C>
inline __attribute__((always_inline)) double write_powers(C *out, const C *x, int64_t n) {
  const C top = greatest(x, n);
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kSumBlock) {
    const int64_t end = std::min(n, begin + kSumBlock);
    REFERENCE_CPU_INDEPENDENT
    for (int64_t i = begin; i < end; ++i) out[i] = vector_math::exp_of_difference(x[i], top);
    total += sum_of(out + begin, end - begin);
  }
  return total;
}

}  // namespace reference_cpu

#endif
