/* Two tensors in, one out, element by element. `x` and `y` are the elements in their wide type. */
#include <math.h>

#include "complex_math.h"
#include "walk.h"

#define NUMBER_BINARY(op, operation)                             \
  LOOP_OF_TWO(op##_integer, uint64_t, u, u, x operation y)       \
  LOOP_OF_TWO(op##_real, double, r, r, x operation y)            \
  LOOP_OF_TWO(op##_complex, double complex, z, z, x operation y) \
  ELEMENTWISE_LAUNCH(op, op##_integer, op##_integer, op##_real, op##_complex)

#define REAL_BINARY(op, expression)                \
  LOOP_OF_TWO(op##_real, double, r, r, expression) \
  ELEMENTWISE_LAUNCH(op, NULL, NULL, op##_real, NULL)

#define ORDER(op, operation)                                \
  LOOP_OF_TWO(op##_signed, int64_t, s, s, x operation y)    \
  LOOP_OF_TWO(op##_unsigned, uint64_t, u, s, x operation y) \
  LOOP_OF_TWO(op##_real, double, r, s, x operation y)       \
  ELEMENTWISE_LAUNCH(op, op##_signed, op##_unsigned, op##_real, NULL)

/* A NaN on either side is the result: `x != x` is how C says "x is NaN". */
#define EXTREME(op, better)                                          \
  LOOP_OF_TWO(op##_signed, int64_t, s, s, x better y ? x : y)        \
  LOOP_OF_TWO(op##_unsigned, uint64_t, u, u, x better y ? x : y)     \
  LOOP_OF_TWO(op##_real, double, r, r, x better y || x != x ? x : y) \
  ELEMENTWISE_LAUNCH(op, op##_signed, op##_unsigned, op##_real, NULL)

#define EQUALITY(op, operation)                                  \
  LOOP_OF_TWO(op##_integer, uint64_t, u, s, x operation y)       \
  LOOP_OF_TWO(op##_real, double, r, s, x operation y)            \
  LOOP_OF_TWO(op##_complex, double complex, z, s, x operation y) \
  ELEMENTWISE_LAUNCH(op, op##_integer, op##_integer, op##_real, op##_complex)

/* Bools are 0 and 1, so one loop serves them and the integers. */
#define BITWISE(op, operation)                             \
  LOOP_OF_TWO(op##_integer, uint64_t, u, u, x operation y) \
  ELEMENTWISE_LAUNCH(op, op##_integer, op##_integer, NULL, NULL)
#define LOGICAL(op, operation)                         \
  LOOP_OF_TWO(op##_bool, int64_t, s, s, x operation y) \
  ELEMENTWISE_LAUNCH(op, op##_bool, NULL, NULL, NULL)

NUMBER_BINARY(add, +)
NUMBER_BINARY(subtract, -)
NUMBER_BINARY(multiply, *)

LOOP_OF_TWO(divide_real, double, r, r, x / y)
LOOP_OF_TWO(divide_complex, double complex, z, z, x / y)
ELEMENTWISE_LAUNCH(divide, NULL, NULL, divide_real, divide_complex)

ORDER(less, <)
ORDER(less_equal, <=)
ORDER(greater, >)
ORDER(greater_equal, >=)
EQUALITY(equal, ==)
EQUALITY(not_equal, !=)
EXTREME(maximum, >)
EXTREME(minimum, <)
BITWISE(bitwise_and, &)
BITWISE(bitwise_or, |)
BITWISE(bitwise_xor, ^)
LOGICAL(logical_and, &&)
LOGICAL(logical_or, ||)
LOGICAL(logical_xor, !=)

/* A shift by a negative count, or by the width and more, is undefined in C; the op set pushes every bit out.
 * Narrower types need no care of their own: their bits have left the element by then. */
LOOP_OF_TWO(left_shift, uint64_t, u, u, y < 64 ? x << y : 0)
ELEMENTWISE_LAUNCH(bitwise_left_shift, left_shift, left_shift, NULL, NULL)
LOOP_OF_TWO(right_shift_signed, int64_t, s, s, y >= 0 && y < 64 ? x >> y : x < 0 ? -1 : 0)
LOOP_OF_TWO(right_shift_unsigned, uint64_t, u, u, y < 64 ? x >> y : 0)
ELEMENTWISE_LAUNCH(bitwise_right_shift, right_shift_signed, right_shift_unsigned, NULL, NULL)

REAL_BINARY(atan2, atan2(x, y))
REAL_BINARY(hypot, hypot(x, y))
REAL_BINARY(copysign, copysign(x, y))

static double log_add_exp(double x, double y) {
  if (x == y) {
    return x + log(2);
  }
  const double difference = x - y;
  return (difference > 0 ? x : y) + log1p(exp(-fabs(difference)));
}
REAL_BINARY(logaddexp, log_add_exp(x, y))

/* Division of integers rounds towards minus infinity; by zero it gives zero, and the smallest number divided
 * by -1 is itself. */
static int64_t floor_of_quotient(int64_t x, int64_t y) {
  if (y == 0) {
    return 0;
  }
  if (y == -1) {
    return (int64_t)(0 - (uint64_t)x);
  }
  const int64_t quotient = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

/* The remainder has the sign of the divisor. */
static int64_t rest_of_quotient(int64_t x, int64_t y) {
  if (y == 0 || y == -1) {
    return 0;
  }
  const int64_t rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

/* The one place where the type of a float matters on the way and not only at the end: the quotient is rounded
 * before its floor is taken. Types narrower than float32 are divided in float32. */
#define FLOAT_DIVISION(type, suffix)                                                 \
  static type remainder_of_##type(type x, type y) {                                  \
    const type rest = fmod##suffix(x, y);                                            \
    if (rest == 0) {                                                                 \
      return copysign##suffix(0, y);                                                 \
    }                                                                                \
    return (rest < 0) != (y < 0) && rest == rest ? rest + y : rest;                  \
  }                                                                                  \
  static type floor_divide_of_##type(type x, type y) {                               \
    if (y == 0 || x - x != 0 || y - y != 0) { /* beside an infinity it is x / y */   \
      return x / y;                                                                  \
    }                                                                                \
    const type rest = fmod##suffix(x, y);                                            \
    type quotient = (x - rest) / y;                                                  \
    if (rest != 0 && (rest < 0) != (y < 0)) {                                        \
      quotient -= 1;                                                                 \
    }                                                                                \
    if (quotient == 0) {                                                             \
      return copysign##suffix(0, x / y);                                             \
    }                                                                                \
    const type whole = floor##suffix(quotient);                                      \
    return quotient - whole > (type)0.5 ? whole + 1 : whole;                         \
  }                                                                                  \
  LOOP_OF_TWO(remainder_##type, double, r, r, remainder_of_##type((type)x, (type)y)) \
  LOOP_OF_TWO(floor_divide_##type, double, r, r, floor_divide_of_##type((type)x, (type)y))
FLOAT_DIVISION(float, f)
FLOAT_DIVISION(double, )

LOOP_OF_TWO(floor_divide_signed, int64_t, s, s, floor_of_quotient(x, y))
LOOP_OF_TWO(floor_divide_unsigned, uint64_t, u, u, y == 0 ? 0 : x / y)
LOOP_OF_TWO(remainder_signed, int64_t, s, s, rest_of_quotient(x, y))
LOOP_OF_TWO(remainder_unsigned, uint64_t, u, u, y == 0 ? 0 : x % y)

#define DIVISION_LAUNCH(op)                                                                        \
  LAUNCH(op) {                                                                                     \
    ANY_PARAMETER_MAY_BE_UNUSED;                                                                   \
    static const loops narrow = {{op##_signed, op##_unsigned, op##_float, NULL}};                  \
    static const loops wide = {{op##_signed, op##_unsigned, op##_double, NULL}};                   \
    return elementwise(#op, inputs[0]->dtype == DA_FLOAT64 ? &wide : &narrow, inputs, input_count, \
                       outputs[0]);                                                                \
  }
DIVISION_LAUNCH(floor_divide)
DIVISION_LAUNCH(remainder)

/* Powers by squaring, wrapping. */
static uint64_t integer_pow(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (uint64_t factor = base; exponent != 0; exponent >>= 1, factor *= factor) {
    if ((exponent & 1) != 0) {
      result *= factor;
    }
  }
  return result;
}

/* A negative exponent leaves only what an integer can say. */
static uint64_t signed_pow(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    return base == 1 || (base == -1 && exponent % 2 == 0) ? 1 : base == -1 ? UINT64_MAX : 0;
  }
  return integer_pow((uint64_t)base, (uint64_t)exponent);
}
LOOP_OF_TWO(pow_signed, int64_t, s, u, signed_pow(x, y))
LOOP_OF_TWO(pow_unsigned, uint64_t, u, u, integer_pow(x, y))
LOOP_OF_TWO(pow_real, double, r, r, pow(x, y))
LOOP_OF_TWO(pow_complex, double complex, z, z, complex_pow(x, y))
ELEMENTWISE_LAUNCH(pow, pow_signed, pow_unsigned, pow_real, pow_complex)

/* The codes of a format without their sign count up with the magnitude. */
static double next_small(const small_format *format, double x, double y) {
  if (x != x || y != y || x == y) {
    return x == y ? y : x + y;
  }
  if (x == 0) {
    return copysign(decode_small(format, 1), y);
  }
  const uint32_t code = encode_small(format, x);
  return decode_small(format, (y > x) == (x > 0) ? code + 1 : code - 1);
}
LOOP_OF_TWO(next_float16, double, r, r, next_small(&float16_format, x, y))
LOOP_OF_TWO(next_bfloat16, double, r, r, next_small(&bfloat16_format, x, y))
LOOP_OF_TWO(next_float32, double, r, r, nextafterf((float)x, (float)y))
LOOP_OF_TWO(next_float64, double, r, r, nextafter(x, y))
LAUNCH(nextafter) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const int32_t dtype = inputs[0]->dtype;
  const loops by_type = {{NULL, NULL,
                          dtype == DA_FLOAT16    ? next_float16
                          : dtype == DA_BFLOAT16 ? next_bfloat16
                          : dtype == DA_FLOAT32  ? next_float32
                                                 : next_float64,
                          NULL}};
  return elementwise("nextafter", &by_type, inputs, input_count, outputs[0]);
}
