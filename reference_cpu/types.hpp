// The element types that C++ lacks, as storage with exact conversions: float16, bfloat16 and the two float8.
// Everything is branch-free integer and float arithmetic, so that loops over it vectorise. Rounding is to
// nearest, ties to even; NaN stays NaN.
#ifndef REFERENCE_CPU_TYPES_HPP
#define REFERENCE_CPU_TYPES_HPP

#include <complex>
#include <cstdint>
#include <cstring>

namespace reference_cpu {

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

template <class To, class From>
inline To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast keeps the size");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// Unsigned arithmetic wraps, and of at least 32 bits it is not promoted to int behind one's back.
template <class T>
using Wrap = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

struct float16 {
  uint16_t bits;
};
struct bfloat16 {
  uint16_t bits;
};
struct float8_e4m3fn {
  uint8_t bits;
};
struct float8_e5m2 {
  uint8_t bits;
};

inline float widen(float value) { return value; }

inline double widen(double value) { return value; }

inline float widen(bfloat16 value) { return bit_cast<float>(static_cast<uint32_t>(value.bits) << 16); }

inline float widen(float16 value) {
  const uint32_t sign = (value.bits & 0x8000u) << 16, magnitude = value.bits & 0x7fffu;
  const uint32_t normal = (magnitude << 13) + 0x38000000u;   // exponent bias 15 -> 127
  const uint32_t special = (magnitude << 13) | 0x7f800000u;  // infinity and NaN
  const float small = static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f;  // subnormal, exact
  uint32_t bits = magnitude >= 0x7c00u ? special : normal;
  bits = magnitude < 0x0400u ? bit_cast<uint32_t>(small) : bits;
  return bit_cast<float>(bits | sign);
}

inline float widen(float8_e5m2 value) { return widen(float16{static_cast<uint16_t>(value.bits << 8)}); }

inline float widen(float8_e4m3fn value) {
  const uint32_t sign = (value.bits & 0x80u) << 24, magnitude = value.bits & 0x7fu;
  const uint32_t normal = (magnitude << 20) + 0x3c000000u;  // exponent bias 7 -> 127
  const float small = static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-9f;
  uint32_t bits = magnitude == 0x7fu ? 0x7fc00000u : normal;
  bits = magnitude < 8u ? bit_cast<uint32_t>(small) : bits;
  return bit_cast<float>(bits | sign);
}

// Rounds the magnitude of a float to a format of `mantissa` bits whose smallest normal number is 2^smallest:
// returns the bits of that format, with a carry into the exponent where rounding gives one. Not for NaN.
template <int mantissa, int smallest>
inline uint32_t round_magnitude(uint32_t magnitude) {
  constexpr int dropped = 23 - mantissa;
  constexpr uint32_t bias = static_cast<uint32_t>(127 + smallest - 1) << 23;
  const uint32_t odd = (magnitude >> dropped) & 1u;
  const uint32_t normal = (magnitude - bias + ((1u << (dropped - 1)) - 1u) + odd) >> dropped;
  // Adding a number whose last bit weighs one subnormal step rounds exactly there.
  constexpr uint32_t anchor = static_cast<uint32_t>(127 + smallest + dropped) << 23;
  const float shifted = bit_cast<float>(magnitude) + bit_cast<float>(anchor);
  const uint32_t subnormal = bit_cast<uint32_t>(shifted) - anchor;
  return magnitude < static_cast<uint32_t>(127 + smallest) << 23 ? subnormal : normal;
}

template <class To>
To narrow(float value);

template <>
inline float narrow<float>(float value) {
  return value;
}

template <>
inline bfloat16 narrow<bfloat16>(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40u;
  return {static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
}

template <>
inline float16 narrow<float16>(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value), sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t made = round_magnitude<10, -14>(magnitude);
  made = magnitude >= 0x47800000u ? 0x7c00u : made;  // 65536 and above; from 65520 on rounding carries there
  made = magnitude > 0x7f800000u ? 0x7e00u : made;
  return {static_cast<uint16_t>(made | sign)};
}

template <>
inline float8_e5m2 narrow<float8_e5m2>(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value), sign = (bits >> 24) & 0x80u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t made = round_magnitude<2, -14>(magnitude);
  made = magnitude >= 0x47800000u ? 0x7cu : made;
  made = magnitude > 0x7f800000u ? 0x7eu : made;
  return {static_cast<uint8_t>(made | sign)};
}

// There is no infinity: what rounds beyond 448 is NaN.
template <>
inline float8_e4m3fn narrow<float8_e4m3fn>(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value), sign = (bits >> 24) & 0x80u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t made = round_magnitude<3, -6>(magnitude);
  made = magnitude > 0x43e80000u ? 0x7fu : made;  // 464 is the tie between 448 and what would be 480
  return {static_cast<uint8_t>(made | sign)};
}

// A float64 as float32 rounded to odd: narrowing that once more, to nearest, gives what narrowing the float64
// itself would, without a double rounding.
inline float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  uint32_t bits = bit_cast<uint32_t>(nearest);
  const bool beyond = (back < 0 ? -back : back) > (value < 0 ? -value : value);
  const uint32_t toward_zero = beyond ? bits - 1u : bits;
  bits = back != value && value == value ? toward_zero | 1u : bits;
  return bit_cast<float>(bits);
}

}  // namespace reference_cpu

#endif
