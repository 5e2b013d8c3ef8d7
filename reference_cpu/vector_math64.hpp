// The exponential of float64 in vector form, within 1 unit in the last place: what vector_math.hpp has for
// float32, for kernels that are written for both types.
#ifndef REFERENCE_CPU_VECTOR_MATH64_HPP
#define REFERENCE_CPU_VECTOR_MATH64_HPP

#include "vector_math.hpp"

namespace reference_cpu::vector_math {

// x = n ln 2 + r, then exp(r + more) by its series: the first term left out, r^14 / 14!, is below 2^-57 of
// it.
inline __attribute__((always_inline)) Factors<double> exp_parts(double x, double more) {
  const double shifted = x * 1.4426950408889634 + kRounder64;
  const double whole = shifted - kRounder64;
  // The first part of ln 2 has 32 bits: its product with `whole` is exact.
  const double high = x - whole * 0x1.62e42feep-1, low = whole * 0x1.a39ef35793c76p-33 - more;
  const double r = high - low;
  double q = 1.0 / 6227020800;
  q = q * r + 1.0 / 479001600;
  q = q * r + 1.0 / 39916800;
  q = q * r + 1.0 / 3628800;
  q = q * r + 1.0 / 362880;
  q = q * r + 1.0 / 40320;
  q = q * r + 1.0 / 5040;
  q = q * r + 1.0 / 720;
  q = q * r + 1.0 / 120;
  q = q * r + 1.0 / 24;
  q = q * r + 1.0 / 6;
  q = q * r + 0.5;
  const double rest = ((high - r) - low) + r * r * q;  // with what rounding r took away
  const double power = 1.0 + (r + rest);
  const int64_t n = bit_cast<int64_t>(shifted) - bit_cast<int64_t>(kRounder64);
  const uint64_t half = bit_cast<uint64_t>(n + 4096) / 2;  // n / 2, rounded down, and 2048
  const uint64_t other = bit_cast<uint64_t>(n + 4096) - half;
  return {power * bit_cast<double>((half - 2048 + 1023) << 52),
          bit_cast<double>((other - 2048 + 1023) << 52)};
}

inline __attribute__((always_inline)) double exp(double x) {
  const double inside = x < -746.0 ? -746.0 : x;  // NaN passes
  return exp_parts(inside > 710.0 ? 710.0 : inside, 0.0).product();
}

inline __attribute__((always_inline)) Factors<double> exp_factors(double x) {
  const bool far = x < -770.0;
  Factors<double> made = exp_parts(far ? -770.0 : x, 0.0);
  made.first = far ? 0.0 : made.first;
  return made;
}

inline __attribute__((always_inline)) double exp_of_difference(double x, double y) {
  const double difference = x - y;
  const double lost = lost_in_difference(x, y, difference);
  return exp_parts(difference < -746.0 ? -746.0 : difference, lost).product();
}

}  // namespace reference_cpu::vector_math

#endif
