// Elementary functions of float32 as branch-free polynomials, so that loops over them vectorise. Errors are
// below 2 units in the last place (tan: 3), subnormal arguments and results included. Polynomials were fitted
// with mpmath.chebyfit; the interval is given at each. float64 steps are used where they spare a correction.
// This file may be compiled with or without fused multiply-add; nothing relies on either.
#ifndef REFERENCE_CPU_VECTOR_MATH_HPP
#define REFERENCE_CPU_VECTOR_MATH_HPP

#include <cmath>
#include <cstdint>
#include <limits>

#include "types.hpp"

namespace reference_cpu::vector_math {

#define REFERENCE_CPU_INLINE inline __attribute__((always_inline))

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Added to a number below 2^22 in size and subtracted again, it rounds to an integer; in between the low bits
// hold that integer.
constexpr float kRounder = 0x1.8p23f;
constexpr double kRounder64 = 0x1.8p52;

// 2^n for n in [-126, 127].
REFERENCE_CPU_INLINE float power_of_two(int32_t n) {
  return bit_cast<float>(static_cast<uint32_t>(n + 127) << 23);
}

// exp(r) - 1 for |r| <= 0.36.
REFERENCE_CPU_INLINE float expm1_near_zero(float r) {
  float q = 1.392912585e-03f;
  q = q * r + 8.365534246e-03f;
  q = q * r + 4.166653752e-02f;
  q = q * r + 1.666656286e-01f;
  q = q * r + 5.000000000e-01f;
  return r + (r * r) * q;
}

// x = n ln 2 + r with |r| <= ln 2 / 2; the high part of ln 2 has few bits, so that n times it is exact.
struct Reduced {
  int32_t n;
  float r;
};
REFERENCE_CPU_INLINE Reduced reduce_exponent(float x) {
  const float shifted = x * 1.44269504f + kRounder;
  const float whole = shifted - kRounder;
  const int32_t n = bit_cast<int32_t>(shifted) - bit_cast<int32_t>(kRounder);
  const float r = (x - whole * 0.693359375f) - whole * -2.12194440e-4f;
  return {n, r};
}

// value * 2^n for n in [-252, 254], rounding once where the result is subnormal.
REFERENCE_CPU_INLINE float scale(float value, int32_t n) {
  const int32_t half = n >> 1;
  return value * power_of_two(half) * power_of_two(n - half);
}

REFERENCE_CPU_INLINE float clamp(float x, float low, float high) {
  x = x < low ? low : x;  // NaN passes
  return x > high ? high : x;
}

REFERENCE_CPU_INLINE float exp(float x) {
  const Reduced part = reduce_exponent(clamp(x, -105.0f, 90.0f));
  return scale(1.0f + expm1_near_zero(part.r), part.n);
}

// A number as a product of two, for what may be smaller than the least normal number: what is multiplied by
// the first factor and then by the second is rounded there once.
template <class T>
struct Factors {
  T first, second;
  REFERENCE_CPU_INLINE T product() const { return first * second; }
};

REFERENCE_CPU_INLINE Factors<float> factors_of(const Reduced &part) {
  const int32_t half = part.n >> 1;
  return {(1.0f + expm1_near_zero(part.r)) * power_of_two(half), power_of_two(part.n - half)};
}

// exp(x) for x <= 0; the first factor is 0 where x exp(x) is too.
REFERENCE_CPU_INLINE Factors<float> exp_factors(float x) {
  const bool far = x < -125.0f;
  Factors<float> made = factors_of(reduce_exponent(far ? -125.0f : x));
  made.first = far ? 0.0f : made.first;
  return made;
}

// What rounding took away from difference = x - y; 0 where that is not finite.
template <class T>
REFERENCE_CPU_INLINE T lost_in_difference(T x, T y, T difference) {
  const T back = difference - x;
  const T lost = (x - (difference - back)) - (y + back);
  return difference - difference == T(0) ? lost : T(0);
}

// exp(x - y) for x <= y, without the error that rounding the difference would bring.
REFERENCE_CPU_INLINE float exp_of_difference(float x, float y) {
  const float difference = x - y;
  Reduced part = reduce_exponent(difference < -105.0f ? -105.0f : difference);
  part.r += lost_in_difference(x, y, difference);
  return scale(1.0f + expm1_near_zero(part.r), part.n);
}

REFERENCE_CPU_INLINE float exp2(float x) {
  const float inside = clamp(x, -152.0f, 129.0f);
  const float shifted = inside + kRounder;
  const float whole = shifted - kRounder;
  const int32_t n = bit_cast<int32_t>(shifted) - bit_cast<int32_t>(kRounder);
  return scale(1.0f + expm1_near_zero((inside - whole) * 0.693147181f), n);
}

REFERENCE_CPU_INLINE float expm1(float x) {
  const float inside = clamp(x, -30.0f, 87.0f);
  const Reduced part = reduce_exponent(inside);
  const float power = power_of_two(part.n);
  const float near = expm1_near_zero(part.r);
  const float made = part.n == 0 ? near : near * power + (power - 1.0f);
  const float signed_zero = x == 0.0f ? x : made;
  return x > 87.0f ? exp(x) : signed_zero;
}

// log(m) in float64 for m in [1/2, 2], from the series of the area hyperbolic tangent around 1 and sqrt 2.
REFERENCE_CPU_INLINE double log_near_one(double m) {
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double q = 1.0 / 15;
  q = q * z + 1.0 / 13;
  q = q * z + 1.0 / 11;
  q = q * z + 1.0 / 9;
  q = q * z + 1.0 / 7;
  q = q * z + 1.0 / 5;
  q = q * z + 1.0 / 3;
  return 2.0 * s + 2.0 * s * z * q;
}

// u = 2^exponent * m with m in [sqrt 1/2, sqrt 2), for positive normal u.
struct Split64 {
  double exponent, m;
};
REFERENCE_CPU_INLINE Split64 split(double u) {
  const uint64_t bits = bit_cast<uint64_t>(u) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
  const double exponent = bit_cast<double>((bits >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);
  const uint64_t mantissa = (bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
  return {exponent, bit_cast<double>(mantissa)};
}

// What any logarithm gives outside the positive finite numbers.
REFERENCE_CPU_INLINE float log_edges(float x, float zero, float made) {
  made = x == kInfinity ? kInfinity : made;
  made = x == zero ? -kInfinity : made;
  return x >= zero ? made : kNan;
}

REFERENCE_CPU_INLINE float log(float x) {
  const bool subnormal = x < 0x1p-126f;
  const uint32_t bits = bit_cast<uint32_t>(subnormal ? x * 0x1p23f : x) + (0x3f800000u - 0x3f3504f3u);
  const float exponent =
      static_cast<float>(static_cast<int32_t>(bits >> 23) - 127) - (subnormal ? 23.0f : 0.0f);
  const float f = bit_cast<float>((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  float q = 6.971611828e-02f;  // (log1p(f) - f + f^2 / 2) / f^3 on [sqrt 1/2 - 1, sqrt 2 - 1]
  q = q * f - 1.147973388e-01f;
  q = q * f + 1.168541983e-01f;
  q = q * f - 1.242568716e-01f;
  q = q * f + 1.424905807e-01f;
  q = q * f - 1.666780263e-01f;
  q = q * f + 2.000071555e-01f;
  q = q * f - 2.499999702e-01f;
  q = q * f + 3.333333135e-01f;
  const float square = f * f;
  const float small = (q * f * square + exponent * -2.12194440e-4f) - 0.5f * square;
  return log_edges(x, 0.0f, (f + small) + exponent * 0.693359375f);
}

REFERENCE_CPU_INLINE float log2(float x) {
  const Split64 part = split(static_cast<double>(x));
  return log_edges(x, 0.0f, static_cast<float>(part.exponent + log_near_one(part.m) * 1.4426950408889634));
}

REFERENCE_CPU_INLINE float log10(float x) {
  const Split64 part = split(static_cast<double>(x));
  const double made = part.exponent * 0.30102999566398120 + log_near_one(part.m) * 0.43429448190325183;
  return log_edges(x, 0.0f, static_cast<float>(made));
}

REFERENCE_CPU_INLINE float log1p(float x) {
  const double u = 1.0 + static_cast<double>(x);
  const Split64 part = split(u);
  const double lost = (static_cast<double>(x) - (u - 1.0)) / u;  // what rounding u to float64 took away
  const double made = part.exponent * 0.69314718055994531 + (log_near_one(part.m) + lost);
  const float signed_zero = x == 0.0f ? x : static_cast<float>(made);
  return log_edges(x, -1.0f, signed_zero);
}

// exp(r) in float64, to float32 accuracy and a margin, for |r| <= 0.36.
REFERENCE_CPU_INLINE double exp64_near_zero(double r) {
  double q = 1.0 / 40320;
  q = q * r + 1.0 / 5040;
  q = q * r + 1.0 / 720;
  q = q * r + 1.0 / 120;
  q = q * r + 1.0 / 24;
  q = q * r + 1.0 / 6;
  q = q * r + 1.0 / 2;
  return 1.0 + (r + r * r * q);
}

// 2^n, where n + kRounder64 = `shifted`.
REFERENCE_CPU_INLINE double power_of_two64(double shifted) {
  return bit_cast<double>((bit_cast<uint64_t>(shifted) + 1023u) << 52);
}

// exp(x) in float64, to the same accuracy, for |x| <= 100.
REFERENCE_CPU_INLINE double exp64(double x) {
  const double shifted = x * 1.4426950408889634 + kRounder64;
  const double r = x - (shifted - kRounder64) * 0.69314718055994531;
  return exp64_near_zero(r) * power_of_two64(shifted);
}

REFERENCE_CPU_INLINE float sinh(float x) {
  const double power = exp64(static_cast<double>(clamp(x, -100.0f, 100.0f)));
  const float large = static_cast<float>(0.5 * (power - 1.0 / power));
  const float z = x * x;  // Taylor's series, for |x| < 1/2
  const float small = x + x * z * (1.0f / 6 + z * (1.0f / 120 + z * (1.0f / 5040)));
  return std::fabs(x) < 0.5f ? small : large;
}

REFERENCE_CPU_INLINE float cosh(float x) {
  const double power = exp64(static_cast<double>(clamp(x, -100.0f, 100.0f)));
  return static_cast<float>(0.5 * (power + 1.0 / power));
}

REFERENCE_CPU_INLINE float tanh(float x) {
  const float size = std::fabs(x), z = x * x;
  float q = 2.292744815e-03f;  // (tanh(x) - x) / x^3 on [0, 0.625], a polynomial of x^2
  q = q * z - 8.343945257e-03f;
  q = q * z + 2.176891826e-02f;
  q = q * z - 5.395925790e-02f;
  q = q * z + 1.333330423e-01f;
  q = q * z - 3.333333433e-01f;
  const float small = x + x * z * q;
  const Reduced part = reduce_exponent(clamp(2.0f * size, 0.0f, 40.0f));
  const float power = (1.0f + expm1_near_zero(part.r)) * power_of_two(part.n);
  const float large = std::copysign(1.0f - 2.0f / (power + 1.0f), x);
  const float made = size < 0.625f ? small : large;
  return x == 0.0f ? x : made;
}

REFERENCE_CPU_INLINE float erf(float x) {
  const float size = std::fabs(x), z = x * x;
  float q = -5.967310863e-04f;  // erf(x) / x - 1 on [0, 0.93], a polynomial of x^2
  q = q * z + 4.988905974e-03f;
  q = q * z - 2.676399425e-02f;
  q = q * z + 1.128175408e-01f;
  q = q * z - 3.761248887e-01f;
  q = q * z + 1.283791512e-01f;
  const float small = x + x * q;
  const float t = size > 4.0f ? 4.0f : size;  // erf(4) rounds to 1
  float g = -1.046065677e-06f;                // (-log(erfc(t)) - t) / t on [0.92, 4]
  g = g * t + 3.438850763e-05f;
  g = g * t - 4.988249857e-04f;
  g = g * t + 4.303789232e-03f;
  g = g * t - 2.513954975e-02f;
  g = g * t + 1.078556553e-01f;
  g = g * t + 6.341481805e-01f;
  g = g * t + 1.289027929e-01f;
  const Reduced part = reduce_exponent(-(t + t * g));
  const float rest = (1.0f + expm1_near_zero(part.r)) * power_of_two(part.n);
  const float large = std::copysign(1.0f - rest, x);
  const float made = size < 0.92f ? small : large;
  return x == x ? made : x;
}

// exp(t^2) erfc(t) / u for t >= 0: a polynomial of v = u - kErfcMiddle, where u = 1 / (1 + 0.45 t) in [0.17,
// 1].
constexpr float kErfcMiddle = 0.58665514f;
REFERENCE_CPU_INLINE float erfc_polynomial(float v) {
  float q = 2.898559719e-02f;
  q = q * v - 3.178713843e-02f;
  q = q * v - 4.025664553e-02f;
  q = q * v + 7.762096077e-02f;
  q = q * v + 4.546407610e-02f;
  q = q * v - 1.547233015e-01f;
  q = q * v - 1.160564721e-01f;
  q = q * v + 3.089576960e-01f;
  q = q * v + 7.356692553e-01f;
  q = q * v + 7.911505103e-01f;
  return q * v + 5.303801298e-01f;
}

// exp(t^2) erfc(t), within 3 units in the last place.
REFERENCE_CPU_INLINE float scaled_erfc(float t) {
  const float u = 1.0f / (1.0f + 0.45f * t);
  return u * erfc_polynomial(u - kErfcMiddle);
}

// exp(-factor * x^2) for x in [0, 16]. The square is taken in two parts, the first of which is exact: the
// exponent may be as great as 100, and its error would become a relative one of the result.
REFERENCE_CPU_INLINE Factors<float> exp_of_square(float x, float factor) {
  const float high = bit_cast<float>(bit_cast<uint32_t>(x) & 0xfffff000u);
  Reduced part = reduce_exponent(-factor * (high * high));
  part.r -= factor * ((x - high) * (x + high));
  return factors_of(part);
}

REFERENCE_CPU_INLINE float erfc(float x) {
  const float size = std::fabs(x);
  const float t = size > 10.5f ? 10.5f : size;  // erfc(10.1) is below the least subnormal number
  const double u = 1.0 / (1.0 + 0.45 * static_cast<double>(t));
  const double v = u - static_cast<double>(kErfcMiddle);
  const double scaled = u * static_cast<double>(erfc_polynomial(static_cast<float>(v)));
  const Factors<float> power = exp_of_square(t, 1.0f);
  const float far = power.first * static_cast<float>(scaled) * power.second;
  float q = -5.967310863e-04f;  // as in erf
  const float z = x * x;
  q = q * z + 4.988905974e-03f;
  q = q * z - 2.676399425e-02f;
  q = q * z + 1.128175408e-01f;
  q = q * z - 3.761248887e-01f;
  q = q * z + 1.283791512e-01f;
  const float near = 1.0f - (x + x * q);
  const float made = size < 0.5f ? near : (x < 0.0f ? 2.0f - far : far);
  return x == x ? made : x;
}

// x^y by way of 2^(y log2(x)) in float64, to float32 accuracy and a margin, with the edges of C's pow. All of
// it is float64, masks and signs too: loops that mix the widths of masks do not vectorise.
REFERENCE_CPU_INLINE float pow(float x, float y) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double base = static_cast<double>(x), size = std::fabs(base), wide = static_cast<double>(y);
  const Split64 part = split(size);
  double power = part.exponent + log_near_one(part.m) * 1.4426950408889634;
  power = size < infinity ? power : size;  // NaN too
  power = size == 0.0 ? -infinity : power;
  // Beyond 2^40 the powers of all numbers but 1 and -1 are 0 or infinite, and y is even.
  double exponent = wide < -0x1p40 ? -0x1p40 : wide;
  exponent = exponent > 0x1p40 ? 0x1p40 : exponent;
  const double nearest_whole = exponent + kRounder64;
  const double fraction = exponent - (nearest_whole - kRounder64);
  const uint64_t odd = fraction == 0.0 ? bit_cast<uint64_t>(nearest_whole) << 63 : uint64_t{0};
  power *= exponent;
  power = power < -200.0 ? -200.0 : power;
  power = power > 200.0 ? 200.0 : power;
  const double nearest = power + kRounder64;
  const double rest = (power - (nearest - kRounder64)) * 0.69314718055994531;
  const double made = exp64_near_zero(rest) * power_of_two64(nearest);
  const double turned = bit_cast<double>(bit_cast<uint64_t>(made) ^ (bit_cast<uint64_t>(base) & odd));
  const double without = fraction == 0.0 ? turned : std::numeric_limits<double>::quiet_NaN();
  const double finite = base > -infinity ? without : turned;
  double result = base < 0.0 ? finite : turned;
  result = base == 1.0 ? 1.0 : result;
  return static_cast<float>(wide == 0.0 ? 1.0 : result);
}

// Greatest angle that reduce_angle takes; beyond it (and for infinity and NaN) the results below mean
// nothing.
constexpr float kGreatestAngle = 100000.0f;

// x = quadrant * pi / 2 + r with |r| <= pi / 4.
struct Angle {
  uint32_t quadrant;
  float r;
};
REFERENCE_CPU_INLINE Angle reduce_angle(float x) {
  const double wide = static_cast<double>(x);
  const double shifted = wide * 0.63661977236758134 + kRounder64;
  const double whole = shifted - kRounder64;
  // The first part of pi / 2 has 33 bits: its product with `whole` is exact.
  const double r = (wide - whole * 0x1.921fb544p+0) - whole * 0x1.0b4611a626331p-34;
  return {static_cast<uint32_t>(bit_cast<uint64_t>(shifted)), static_cast<float>(r)};
}

REFERENCE_CPU_INLINE float sin_near_zero(float r) {
  const float z = r * r;
  float q = 2.724209253e-06f;
  q = q * z - 1.984002593e-04f;
  q = q * z + 8.333331905e-03f;
  q = q * z - 1.666666716e-01f;
  return r + r * z * q;
}

REFERENCE_CPU_INLINE float cos_near_zero(float r) {
  const float z = r * r;
  float q = 2.454147761e-05f;
  q = q * z - 1.388827222e-03f;
  q = q * z + 4.166666418e-02f;
  return (1.0f - 0.5f * z) + z * z * q;
}

REFERENCE_CPU_INLINE float with_sign(float value, uint32_t sign_bit_source) {
  return bit_cast<float>(bit_cast<uint32_t>(value) ^ ((sign_bit_source & 2u) << 30));
}

REFERENCE_CPU_INLINE float sin(float x) {
  const Angle angle = reduce_angle(x);
  const float s = sin_near_zero(angle.r), c = cos_near_zero(angle.r);
  const float made = with_sign((angle.quadrant & 1u) != 0 ? c : s, angle.quadrant);
  return x == 0.0f ? x : made;
}

REFERENCE_CPU_INLINE float cos(float x) {
  const Angle angle = reduce_angle(x);
  const float s = sin_near_zero(angle.r), c = cos_near_zero(angle.r);
  return with_sign((angle.quadrant & 1u) != 0 ? s : c, angle.quadrant + 1u);
}

REFERENCE_CPU_INLINE float tan(float x) {
  const Angle angle = reduce_angle(x);
  const float s = sin_near_zero(angle.r), c = cos_near_zero(angle.r);
  const float made = (angle.quadrant & 1u) != 0 ? -c / s : s / c;
  return x == 0.0f ? x : made;
}

#undef REFERENCE_CPU_INLINE

}  // namespace reference_cpu::vector_math

#endif
