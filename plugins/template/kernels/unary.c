/* One tensor in, one out, element by element. */
#include <math.h>

#include "elementwise.h"

/* Signed overflow is undefined in C, but wraps in the op set: integers compute as their unsigned twins. */
#define NUMBER_UNARY(op, integer_expression, float_expression)            \
  UNARY_ROW(op##_int32, int32_t, int32_t, (uint32_t)(integer_expression)) \
  UNARY_ROW(op##_int64, int64_t, int64_t, (uint64_t)(integer_expression)) \
  UNARY_ROW(op##_float, float, float, float_expression)                   \
  UNARY_ROW(op##_double, double, double, float_expression)                \
  ELEMENTWISE_LAUNCH(op, NULL, op##_int32, op##_int64, op##_float, op##_double)

#define FLOAT_UNARY(op, float_expression, double_expression) \
  UNARY_ROW(op##_float, float, float, float_expression)      \
  UNARY_ROW(op##_double, double, double, double_expression)  \
  ELEMENTWISE_LAUNCH(op, NULL, NULL, NULL, op##_float, op##_double)

/* An op that the C library has under the same name. */
#define LIBRARY_UNARY(op) FLOAT_UNARY(op, op##f(x), op(x))

#define FLOAT_TEST(op, expression)                    \
  UNARY_ROW(op##_float, float, uint8_t, expression)   \
  UNARY_ROW(op##_double, double, uint8_t, expression) \
  ELEMENTWISE_LAUNCH(op, NULL, NULL, NULL, op##_float, op##_double)

NUMBER_UNARY(negative, 0 - (uint64_t)x, -x)
NUMBER_UNARY(abs, x < 0 ? 0 - (uint64_t)x : (uint64_t)x, fabs(x))
NUMBER_UNARY(sign, (x > 0) - (x < 0), x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x)
NUMBER_UNARY(square, (uint64_t)x *(uint64_t)x, x *x)

FLOAT_UNARY(reciprocal, 1 / x, 1 / x)
LIBRARY_UNARY(sqrt)
LIBRARY_UNARY(exp)
LIBRARY_UNARY(exp2)
LIBRARY_UNARY(expm1)
LIBRARY_UNARY(log)
LIBRARY_UNARY(log1p)
LIBRARY_UNARY(log2)
LIBRARY_UNARY(log10)
LIBRARY_UNARY(sin)
LIBRARY_UNARY(cos)
LIBRARY_UNARY(tan)
LIBRARY_UNARY(asin)
LIBRARY_UNARY(acos)
LIBRARY_UNARY(atan)
LIBRARY_UNARY(sinh)
LIBRARY_UNARY(cosh)
LIBRARY_UNARY(tanh)
LIBRARY_UNARY(asinh)
LIBRARY_UNARY(acosh)
LIBRARY_UNARY(atanh)
LIBRARY_UNARY(erf)
LIBRARY_UNARY(erfc)
LIBRARY_UNARY(floor)
LIBRARY_UNARY(ceil)
LIBRARY_UNARY(trunc)
/* Half to even, which is what rint does in the default rounding mode; C's round() goes away from zero. */
FLOAT_UNARY(round, rintf(x), rint(x))

FLOAT_TEST(isnan, x != x)
FLOAT_TEST(isinf, x == HUGE_VAL || x == -HUGE_VAL)
FLOAT_TEST(isfinite, x - x == 0)
FLOAT_TEST(signbit, copysign(1.0, x) < 0)

UNARY_ROW(logical_not_bool, uint8_t, uint8_t, !x)
ELEMENTWISE_LAUNCH(logical_not, logical_not_bool, NULL, NULL, NULL, NULL)

UNARY_ROW(bitwise_invert_int32, int32_t, int32_t, ~x)
UNARY_ROW(bitwise_invert_int64, int64_t, int64_t, ~x)
ELEMENTWISE_LAUNCH(bitwise_invert, logical_not_bool, bitwise_invert_int32, bitwise_invert_int64, NULL, NULL)
