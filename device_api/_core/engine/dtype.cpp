#include "dtype.hpp"

#include <cmath>
#include <cstring>

namespace device_api {

namespace {

struct Facts {
  const char *name;
  uint32_t size;
  uint8_t dl_code;
};

constexpr Facts kFacts[kDtypeCount] = {
    {"invalid", 0, 0},        {"bool", 1, 6},         {"int8", 1, 0},      {"int16", 2, 0},
    {"int32", 4, 0},          {"int64", 8, 0},        {"uint8", 1, 1},     {"uint16", 2, 1},
    {"uint32", 4, 1},         {"uint64", 8, 1},       {"float16", 2, 2},   {"bfloat16", 2, 4},
    {"float32", 4, 2},        {"float64", 8, 2},      {"complex64", 8, 5}, {"complex128", 16, 5},
    {"float8_e4m3fn", 1, 10}, {"float8_e5m2", 1, 12},
};

// A small binary floating format. Without infinities the all-ones pattern is the only NaN and overflow
// becomes NaN, as float8_e4m3fn has it.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;
};

uint32_t encode_small(const Format &format, double value) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const uint32_t sign = std::signbit(value) ? 1u << (format.exponent_bits + format.mantissa_bits) : 0u;
  const uint32_t all_ones = (1u << (format.exponent_bits + format.mantissa_bits)) - 1;
  const uint32_t infinity = ((1u << format.exponent_bits) - 1) << format.mantissa_bits;
  if (std::isnan(value)) {
    return sign | (format.has_infinity ? infinity | 1u << (format.mantissa_bits - 1) : all_ones);
  }
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | (format.has_infinity ? infinity : all_ones);
  if (magnitude == 0) return sign;
  int exponent = std::ilogb(magnitude);
  if (exponent < 1 - bias) exponent = 1 - bias;
  // One rounding, to a whole number of units in the last place; nearbyint rounds halves to even.
  double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  if (units >= std::ldexp(1.0, format.mantissa_bits + 1)) {
    units /= 2;
    ++exponent;
  }
  const uint32_t hidden = 1u << format.mantissa_bits;
  uint32_t mantissa = static_cast<uint32_t>(units);
  uint32_t code;
  if (mantissa < hidden) {
    code = mantissa;
  } else {
    if (exponent > bias + 1) return sign | (format.has_infinity ? infinity : all_ones);
    code = (static_cast<uint32_t>(exponent + bias) << format.mantissa_bits) | (mantissa - hidden);
  }
  if (format.has_infinity ? code >= infinity : code >= all_ones) {
    code = format.has_infinity ? infinity : all_ones;
  }
  return sign | code;
}

template <typename T>
Element element_of(T value) {
  Element element{{0, 0}};
  std::memcpy(element.words, &value, sizeof(value));
  return element;
}

}  // namespace

uint32_t item_size(int32_t code) { return kFacts[code].size; }
const char *dtype_name(int32_t code) { return known_dtype(code) ? kFacts[code].name : kFacts[0].name; }

da_dl_dtype dl_dtype(int32_t code) {
  const Facts &facts = kFacts[code];
  return da_dl_dtype{facts.dl_code, static_cast<uint8_t>(facts.size * 8), 1};
}

Element encode_real(int32_t code, double value) {
  switch (code) {
    case DA_FLOAT64:
      return element_of(value);
    case DA_FLOAT32:
      return element_of(static_cast<float>(value));
    case DA_FLOAT16:
      return element_of(static_cast<uint16_t>(encode_small({5, 10, true}, value)));
    case DA_BFLOAT16:
      return element_of(static_cast<uint16_t>(encode_small({8, 7, true}, value)));
    case DA_FLOAT8_E4M3FN:
      return element_of(static_cast<uint8_t>(encode_small({4, 3, false}, value)));
    default:
      return element_of(static_cast<uint8_t>(encode_small({5, 2, true}, value)));
  }
}

Element encode_complex(int32_t code, double real, double imaginary) {
  Element element{{0, 0}};
  if (code == DA_COMPLEX128) {
    const double parts[2] = {real, imaginary};
    std::memcpy(element.words, parts, sizeof(parts));
  } else {
    const float parts[2] = {static_cast<float>(real), static_cast<float>(imaginary)};
    std::memcpy(element.words, parts, sizeof(parts));
  }
  return element;
}

bool encode_signed(int32_t code, int64_t value, Element *out) {
  if (!is_signed_integer(code)) return value >= 0 && encode_unsigned(code, static_cast<uint64_t>(value), out);
  const uint32_t bits = item_size(code) * 8;
  if (bits < 64 && (value < -(INT64_C(1) << (bits - 1)) || value >= (INT64_C(1) << (bits - 1)))) return false;
  *out = Element{{0, 0}};
  std::memcpy(out->words, &value, item_size(code));
  return true;
}

bool encode_unsigned(int32_t code, uint64_t value, Element *out) {
  const uint32_t bits = item_size(code) * 8 - (is_signed_integer(code) ? 1 : 0);
  if (bits < 64 && (value >> bits) != 0) return false;
  *out = Element{{0, 0}};
  std::memcpy(out->words, &value, item_size(code));
  return true;
}

}  // namespace device_api
