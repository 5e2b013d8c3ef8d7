/* Reading, writing and moving elements of every type. */
#include "numbers.h"

#include <math.h>
#include <string.h>

const small_format float16_format = {5, 10, 1};
const small_format bfloat16_format = {8, 7, 1};
static const small_format float8_e4m3fn_format = {4, 3, 0};
static const small_format float8_e5m2_format = {5, 2, 1};

#define DOUBLE_FRACTION_BITS 52
#define DOUBLE_BIAS 1023

static double double_of_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

static uint64_t bits_of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/* 2 to a power within the range of normal doubles. */
static double power_of_two(int exponent) {
  return double_of_bits((uint64_t)(exponent + DOUBLE_BIAS) << DOUBLE_FRACTION_BITS);
}

double decode_small(const small_format *format, uint32_t code) {
  const uint32_t greatest_exponent = (UINT32_C(1) << format->exponent_bits) - 1;
  const uint32_t fraction_mask = (UINT32_C(1) << format->fraction_bits) - 1;
  const int bias = (int)(greatest_exponent >> 1);
  const uint32_t exponent = (code >> format->fraction_bits) & greatest_exponent;
  const uint32_t fraction = code & fraction_mask;
  double magnitude;
  if (exponent == greatest_exponent && (format->has_infinity || fraction == fraction_mask)) {
    magnitude = format->has_infinity && fraction == 0 ? (double)INFINITY : (double)NAN;
  } else if (exponent == 0) {
    magnitude = fraction * power_of_two(1 - bias - format->fraction_bits);
  } else {
    magnitude = (fraction_mask + 1 + fraction) * power_of_two((int)exponent - bias - format->fraction_bits);
  }
  return code >> (format->exponent_bits + format->fraction_bits) ? -magnitude : magnitude;
}

uint32_t encode_small(const small_format *format, double value) {
  const uint32_t infinity = ((UINT32_C(1) << format->exponent_bits) - 1) << format->fraction_bits;
  const uint32_t all_ones = infinity | ((UINT32_C(1) << format->fraction_bits) - 1);
  /* What lies beyond the greatest number: infinity where the format has one, else its NaN. */
  const uint32_t beyond = format->has_infinity ? infinity : all_ones;
  const int bias = (1 << (format->exponent_bits - 1)) - 1;
  const uint64_t bits = bits_of_double(value);
  const uint32_t sign = (uint32_t)(bits >> 63) << (format->exponent_bits + format->fraction_bits);
  const double magnitude = fabs(value);
  uint64_t code;
  if (value != value) {
    code = format->has_infinity ? infinity | UINT32_C(1) << (format->fraction_bits - 1) : all_ones;
  } else if (magnitude < power_of_two(1 - bias)) {
    /* Below the normal numbers codes count evenly; the first normal one follows on. */
    code = (uint64_t)rint(magnitude * power_of_two(bias - 1 + format->fraction_bits));
  } else {
    /* Drops bits of the fraction; a carry runs on into the exponent, as it should. */
    const int dropped = DOUBLE_FRACTION_BITS - format->fraction_bits;
    const uint64_t low = bits & ~(UINT64_C(1) << 63);
    const uint64_t odd = (low >> dropped) & 1;
    code = (low + (UINT64_C(1) << (dropped - 1)) - 1 + odd) >> dropped;
    code -= (uint64_t)(DOUBLE_BIAS - bias) << format->fraction_bits;
    code = code > beyond ? beyond : code;
  }
  return sign | (uint32_t)code;
}

enum wide wide_of(int32_t dtype) {
  switch (dtype) {
    case DA_UINT64:
      return WIDE_UNSIGNED;
    case DA_FLOAT16:
    case DA_BFLOAT16:
    case DA_FLOAT32:
    case DA_FLOAT64:
    case DA_FLOAT8_E4M3FN:
    case DA_FLOAT8_E5M2:
      return WIDE_REAL;
    case DA_COMPLEX64:
    case DA_COMPLEX128:
      return WIDE_COMPLEX;
    default:
      return WIDE_SIGNED;
  }
}

int64_t element_bytes(int32_t dtype) {
  switch (dtype) {
    case DA_INT16:
    case DA_UINT16:
    case DA_FLOAT16:
    case DA_BFLOAT16:
      return 2;
    case DA_INT32:
    case DA_UINT32:
    case DA_FLOAT32:
      return 4;
    case DA_INT64:
    case DA_UINT64:
    case DA_FLOAT64:
    case DA_COMPLEX64:
      return 8;
    case DA_COMPLEX128:
      return 16;
    default:
      return 1;
  }
}

/* One dtype's loop: `x` points at an element in memory, `w` at the wide number it is read into. */
#define READ_CASE(dtype, type, wide_type, expression) \
  case dtype:                                         \
    for (int64_t i = 0; i < count; ++i) {             \
      const type *x = (const type *)(at + i * step);  \
      ((wide_type *)wide)[i] = (expression);          \
    }                                                 \
    break;

void read_wide(int32_t dtype, const char *at, int64_t step, int64_t count, void *wide) {
  switch (dtype) {
    READ_CASE(DA_BOOL, uint8_t, int64_t, *x != 0)
    READ_CASE(DA_INT8, int8_t, int64_t, *x)
    READ_CASE(DA_INT16, int16_t, int64_t, *x)
    READ_CASE(DA_INT32, int32_t, int64_t, *x)
    READ_CASE(DA_INT64, int64_t, int64_t, *x)
    READ_CASE(DA_UINT8, uint8_t, int64_t, *x)
    READ_CASE(DA_UINT16, uint16_t, int64_t, *x)
    READ_CASE(DA_UINT32, uint32_t, int64_t, *x)
    READ_CASE(DA_UINT64, uint64_t, uint64_t, *x)
    READ_CASE(DA_FLOAT16, uint16_t, double, decode_small(&float16_format, *x))
    READ_CASE(DA_BFLOAT16, uint16_t, double, decode_small(&bfloat16_format, *x))
    READ_CASE(DA_FLOAT32, float, double, *x)
    READ_CASE(DA_FLOAT64, double, double, *x)
    READ_CASE(DA_COMPLEX64, float, double complex, make_complex(x[0], x[1]))
    READ_CASE(DA_COMPLEX128, double, double complex, make_complex(x[0], x[1]))
    READ_CASE(DA_FLOAT8_E4M3FN, uint8_t, double, decode_small(&float8_e4m3fn_format, *x))
    READ_CASE(DA_FLOAT8_E5M2, uint8_t, double, decode_small(&float8_e5m2_format, *x))
    default:
      break;
  }
}

/* The way back: `w` is the wide number, and each statement stores it in the element at `x`. */
#define WRITE_CASE(dtype, type, wide_type, statement)   \
  case dtype:                                           \
    for (int64_t i = 0; i < count; ++i) {               \
      const wide_type w = ((const wide_type *)wide)[i]; \
      type *x = (type *)(at + i * step);                \
      statement;                                        \
    }                                                   \
    break;

void write_wide(int32_t dtype, char *at, int64_t step, int64_t count, const void *wide) {
  switch (dtype) {
    WRITE_CASE(DA_BOOL, uint8_t, int64_t, *x = w != 0)
    WRITE_CASE(DA_INT8, int8_t, int64_t, *x = (int8_t)(uint8_t)w)
    WRITE_CASE(DA_INT16, int16_t, int64_t, *x = (int16_t)(uint16_t)w)
    WRITE_CASE(DA_INT32, int32_t, int64_t, *x = (int32_t)(uint32_t)w)
    WRITE_CASE(DA_INT64, int64_t, int64_t, *x = w)
    WRITE_CASE(DA_UINT8, uint8_t, int64_t, *x = (uint8_t)w)
    WRITE_CASE(DA_UINT16, uint16_t, int64_t, *x = (uint16_t)w)
    WRITE_CASE(DA_UINT32, uint32_t, int64_t, *x = (uint32_t)w)
    WRITE_CASE(DA_UINT64, uint64_t, uint64_t, *x = w)
    WRITE_CASE(DA_FLOAT16, uint16_t, double, *x = (uint16_t)encode_small(&float16_format, w))
    WRITE_CASE(DA_BFLOAT16, uint16_t, double, *x = (uint16_t)encode_small(&bfloat16_format, w))
    WRITE_CASE(DA_FLOAT32, float, double, *x = (float)w)
    WRITE_CASE(DA_FLOAT64, double, double, *x = w)
    WRITE_CASE(DA_COMPLEX64, float, double complex, x[0] = (float)creal(w); x[1] = (float)cimag(w))
    WRITE_CASE(DA_COMPLEX128, double, double complex, x[0] = creal(w); x[1] = cimag(w))
    WRITE_CASE(DA_FLOAT8_E4M3FN, uint8_t, double, *x = (uint8_t)encode_small(&float8_e4m3fn_format, w))
    WRITE_CASE(DA_FLOAT8_E5M2, uint8_t, double, *x = (uint8_t)encode_small(&float8_e5m2_format, w))
    default:
      break;
  }
}

typedef struct sixteen_bytes {
  uint64_t halves[2];
} sixteen_bytes;

#define MOVE_CASE(bytes, type)                                             \
  case bytes:                                                              \
    for (int64_t i = 0; i < count; ++i) {                                  \
      *(type *)(to + i * to_step) = *(const type *)(from + i * from_step); \
    }                                                                      \
    break;

void move_elements(int64_t bytes, int64_t count, char *to, int64_t to_step, const char *from,
                   int64_t from_step) {
  switch (bytes) {
    MOVE_CASE(1, uint8_t)
    MOVE_CASE(2, uint16_t)
    MOVE_CASE(4, uint32_t)
    MOVE_CASE(8, uint64_t)
    MOVE_CASE(16, sixteen_bytes)
    default:
      break;
  }
}
