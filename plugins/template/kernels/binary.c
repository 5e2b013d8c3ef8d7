/* Two tensors in, one out, element by element. */
#include <math.h>

#include "elementwise.h"

/* Signed overflow is undefined in C, but wraps in the op set: integers compute as their unsigned twins. */
#define NUMBER_BINARY(op, integer_expression, float_expression, double_expression)   \
  BINARY_ROW(op##_int32, int32_t, int32_t, (uint32_t)(uint64_t)(integer_expression)) \
  BINARY_ROW(op##_int64, int64_t, int64_t, (uint64_t)(integer_expression))           \
  BINARY_ROW(op##_float, float, float, float_expression)                             \
  BINARY_ROW(op##_double, double, double, double_expression)

#define ARITHMETIC(op, integer_expression, float_expression, double_expression) \
  NUMBER_BINARY(op, integer_expression, float_expression, double_expression)    \
  ELEMENTWISE_LAUNCH(op, NULL, op##_int32, op##_int64, op##_float, op##_double)

#define FLOAT_BINARY(op, float_expression, double_expression) \
  BINARY_ROW(op##_float, float, float, float_expression)      \
  BINARY_ROW(op##_double, double, double, double_expression)  \
  ELEMENTWISE_LAUNCH(op, NULL, NULL, NULL, op##_float, op##_double)

/* An op that the C library has under the same name. */
#define LIBRARY_BINARY(op) FLOAT_BINARY(op, op##f(x, y), op(x, y))

/* Bitwise operators serve booleans too. */
#define BITWISE(op, expression)                        \
  BINARY_ROW(op##_bool, uint8_t, uint8_t, expression)  \
  BINARY_ROW(op##_int32, int32_t, int32_t, expression) \
  BINARY_ROW(op##_int64, int64_t, int64_t, expression) \
  ELEMENTWISE_LAUNCH(op, op##_bool, op##_int32, op##_int64, NULL, NULL)

#define COMPARISON(op, expression)                     \
  BINARY_ROW(op##_bool, uint8_t, uint8_t, expression)  \
  BINARY_ROW(op##_int32, int32_t, uint8_t, expression) \
  BINARY_ROW(op##_int64, int64_t, uint8_t, expression) \
  BINARY_ROW(op##_float, float, uint8_t, expression)   \
  BINARY_ROW(op##_double, double, uint8_t, expression) \
  ELEMENTWISE_LAUNCH(op, op##_bool, op##_int32, op##_int64, op##_float, op##_double)

#define EXTREME(op, expression)                         \
  BINARY_ROW(op##_bool, uint8_t, uint8_t, expression)   \
  NUMBER_BINARY(op, expression, expression, expression) \
  ELEMENTWISE_LAUNCH(op, op##_bool, op##_int32, op##_int64, op##_float, op##_double)

#define LOGICAL(op, expression)                       \
  BINARY_ROW(op##_bool, uint8_t, uint8_t, expression) \
  ELEMENTWISE_LAUNCH(op, op##_bool, NULL, NULL, NULL, NULL)

/* Division of integers rounds towards minus infinity; by zero it gives zero, and the smallest number divided
 * by -1 is itself. */
static int64_t integer_floor_divide(int64_t x, int64_t y) {
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
static int64_t integer_remainder(int64_t x, int64_t y) {
  if (y == 0 || y == -1) {
    return 0;
  }
  const int64_t rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

/* Powers by squaring, wrapping. A negative exponent leaves only what an integer can say. */
static int64_t integer_pow(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    return base == 1 ? 1 : base == -1 ? (exponent % 2 != 0 ? -1 : 1) : 0;
  }
  uint64_t result = 1;
  uint64_t factor = (uint64_t)base;
  for (uint64_t rest = (uint64_t)exponent; rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) {
      result *= factor;
    }
    factor *= factor;
  }
  return (int64_t)result;
}

/* The float forms, for each type: fmod is exact, so the corrections below are all the rounding there is. */
#define FLOAT_DIVISION(type, suffix)                                                         \
  static type remainder_of_##type(type x, type y) {                                          \
    const type rest = fmod##suffix(x, y);                                                    \
    if (rest == 0) {                                                                         \
      return copysign##suffix(0, y);                                                         \
    }                                                                                        \
    return (rest < 0) != (y < 0) && rest == rest ? rest + y : rest;                          \
  }                                                                                          \
  static type floor_divide_of_##type(type x, type y) {                                       \
    if (y == 0 || x - x != 0 || y - y != 0) { /* beside an infinity it is x / y */           \
      return x / y;                                                                          \
    }                                                                                        \
    const type rest = fmod##suffix(x, y);                                                    \
    type quotient = (x - rest) / y;                                                          \
    if (rest != 0 && (rest < 0) != (y < 0)) {                                                \
      quotient -= 1;                                                                         \
    }                                                                                        \
    if (quotient == 0) {                                                                     \
      return copysign##suffix(0, x / y);                                                     \
    }                                                                                        \
    const type whole = floor##suffix(quotient);                                              \
    return quotient - whole > (type)0.5 ? whole + 1 : whole;                                 \
  }                                                                                          \
  static type logaddexp_of_##type(type x, type y) {                                          \
    if (x == y) {                                                                            \
      return x + log##suffix(2);                                                             \
    }                                                                                        \
    const type difference = x - y;                                                           \
    return (difference > 0 ? x : y) + log1p##suffix(exp##suffix(-fabs##suffix(difference))); \
  }
FLOAT_DIVISION(float, f)
FLOAT_DIVISION(double, )

ARITHMETIC(add, (uint64_t)x + (uint64_t)y, x + y, x + y)
ARITHMETIC(subtract, (uint64_t)x - (uint64_t)y, x - y, x - y)
ARITHMETIC(multiply, (uint64_t)x *(uint64_t)y, x *y, x *y)
ARITHMETIC(floor_divide, integer_floor_divide(x, y), floor_divide_of_float(x, y),
           floor_divide_of_double(x, y))
ARITHMETIC(remainder, integer_remainder(x, y), remainder_of_float(x, y), remainder_of_double(x, y))
ARITHMETIC(pow, integer_pow(x, y), powf(x, y), pow(x, y))

FLOAT_BINARY(divide, x / y, x / y)
FLOAT_BINARY(logaddexp, logaddexp_of_float(x, y), logaddexp_of_double(x, y))
LIBRARY_BINARY(atan2)
LIBRARY_BINARY(hypot)
LIBRARY_BINARY(copysign)
LIBRARY_BINARY(nextafter)

/* A NaN on either side is the result: `x != x` is how C says "x is NaN". */
EXTREME(maximum, x > y || x != x ? x : y)
EXTREME(minimum, x < y || x != x ? x : y)

BITWISE(bitwise_and, x &y)
BITWISE(bitwise_or, x | y)
BITWISE(bitwise_xor, x ^ y)

/* A shift by a negative count, or by the width and more, is undefined in C; the op set pushes every bit out.
 */
#define SHIFT(bits, type, unsigned_type)                                                                     \
  BINARY_ROW(left_shift_##type, type, type, y < 0 || y >= bits ? 0 : (unsigned_type)((unsigned_type)x << y)) \
  BINARY_ROW(right_shift_##type, type, type, y < 0 || y >= bits ? (x < 0 ? -1 : 0) : x >> y)
SHIFT(32, int32_t, uint32_t)
SHIFT(64, int64_t, uint64_t)
ELEMENTWISE_LAUNCH(bitwise_left_shift, NULL, left_shift_int32_t, left_shift_int64_t, NULL, NULL)
ELEMENTWISE_LAUNCH(bitwise_right_shift, NULL, right_shift_int32_t, right_shift_int64_t, NULL, NULL)

LOGICAL(logical_and, x &&y)
LOGICAL(logical_or, x || y)
LOGICAL(logical_xor, !x != !y)

COMPARISON(equal, x == y)
COMPARISON(not_equal, x != y)
COMPARISON(less, x < y)
COMPARISON(less_equal, x <= y)
COMPARISON(greater, x > y)
COMPARISON(greater_equal, x >= y)
