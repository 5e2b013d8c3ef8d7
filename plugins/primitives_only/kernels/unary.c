/* One tensor in, one out, element by element. `x` is the element in its wide type. */
#include <math.h>

#include "complex_math.h"
#include "walk.h"

/* Signed overflow is undefined in C, but wraps in the op set: integers compute as unsigned ones, whose bits
 * are the same. */
#define NUMBER_UNARY(op, integer_expression, real_expression, complex_expression) \
  LOOP(op##_integer, uint64_t, u, u, integer_expression)                          \
  LOOP(op##_real, double, r, r, real_expression)                                  \
  LOOP(op##_complex, double complex, z, z, complex_expression)                    \
  ELEMENTWISE_LAUNCH(op, op##_integer, op##_integer, op##_real, op##_complex)

#define FIELD_UNARY(op, real_expression, complex_expression)   \
  LOOP(op##_real, double, r, r, real_expression)               \
  LOOP(op##_complex, double complex, z, z, complex_expression) \
  ELEMENTWISE_LAUNCH(op, NULL, NULL, op##_real, op##_complex)

/* An op that the C library has under the same name, for real numbers; and with a c before it for complex. */
#define REAL_UNARY(op)                 \
  LOOP(op##_real, double, r, r, op(x)) \
  ELEMENTWISE_LAUNCH(op, NULL, NULL, op##_real, NULL)
#define LIBRARY_UNARY(op) FIELD_UNARY(op, op(x), c##op(x))

#define TEST(op, integer_expression, real_expression, complex_expression) \
  LOOP(op##_integer, uint64_t, u, s, ((void)x, integer_expression))       \
  LOOP(op##_real, double, r, s, real_expression)                          \
  LOOP(op##_complex, double complex, z, s, complex_expression)            \
  ELEMENTWISE_LAUNCH(op, op##_integer, op##_integer, op##_real, op##_complex)

NUMBER_UNARY(negative, 0 - x, -x, -x)
NUMBER_UNARY(square, x *x, x *x, x *x)
NUMBER_UNARY(round, x, rint(x), complex_round(x)) /* half to even, which is what rint does */
NUMBER_UNARY(conj, x, x, conj(x))

LOOP(abs_signed, int64_t, s, u, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
LOOP(abs_unsigned, uint64_t, u, u, x)
LOOP(abs_real, double, r, r, fabs(x))
LOOP(abs_complex, double complex, z, r, cabs(x))
ELEMENTWISE_LAUNCH(abs, abs_signed, abs_unsigned, abs_real, abs_complex)

LOOP(sign_signed, int64_t, s, s, (x > 0) - (x < 0))
LOOP(sign_unsigned, uint64_t, u, u, x > 0)
LOOP(sign_real, double, r, r, x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x)
LOOP(sign_complex, double complex, z, z, complex_sign(x))
ELEMENTWISE_LAUNCH(sign, sign_signed, sign_unsigned, sign_real, sign_complex)

LOOP(real_complex, double complex, z, r, creal(x))
ELEMENTWISE_LAUNCH(real, NULL, NULL, NULL, real_complex)
LOOP(imag_complex, double complex, z, r, cimag(x))
ELEMENTWISE_LAUNCH(imag, NULL, NULL, NULL, imag_complex)

FIELD_UNARY(reciprocal, 1 / x, 1 / x)
FIELD_UNARY(expm1, expm1(x), complex_expm1(x))
FIELD_UNARY(log1p, log1p(x), complex_log1p(x))
FIELD_UNARY(log2, log2(x), complex_scaled(clog(x), 1 / log(2)))
FIELD_UNARY(log10, log10(x), complex_scaled(clog(x), 1 / log(10)))
FIELD_UNARY(tanh, tanh(x), complex_tanh(x))
LIBRARY_UNARY(sqrt)
LIBRARY_UNARY(exp)
LIBRARY_UNARY(log)
LIBRARY_UNARY(sin)
LIBRARY_UNARY(cos)
FIELD_UNARY(tan, tan(x), complex_tan(x))
LIBRARY_UNARY(asin)
LIBRARY_UNARY(acos)
LIBRARY_UNARY(atan)
LIBRARY_UNARY(sinh)
LIBRARY_UNARY(cosh)
LIBRARY_UNARY(asinh)
LIBRARY_UNARY(acosh)
LIBRARY_UNARY(atanh)
REAL_UNARY(exp2)
REAL_UNARY(erf)
REAL_UNARY(erfc)

#define WHOLE_UNARY(op)                 \
  LOOP(op##_integer, uint64_t, u, u, x) \
  LOOP(op##_real, double, r, r, op(x))  \
  ELEMENTWISE_LAUNCH(op, op##_integer, op##_integer, op##_real, NULL)
WHOLE_UNARY(floor)
WHOLE_UNARY(ceil)
WHOLE_UNARY(trunc)

#define EITHER(test) test(creal(x)) || test(cimag(x))
TEST(isnan, 0, isnan(x), EITHER(isnan))
TEST(isinf, 0, isinf(x) != 0, EITHER(isinf))
TEST(isfinite, 1, isfinite(x), isfinite(creal(x)) && isfinite(cimag(x)))

LOOP(signbit_real, double, r, s, signbit(x) != 0)
ELEMENTWISE_LAUNCH(signbit, NULL, NULL, signbit_real, NULL)

LOOP(logical_not_bool, int64_t, s, s, !x)
ELEMENTWISE_LAUNCH(logical_not, logical_not_bool, NULL, NULL, NULL)

LOOP(invert_integer, uint64_t, u, u, ~x)
LAUNCH(bitwise_invert) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  static const loops of_bool = {{logical_not_bool, NULL, NULL, NULL}};
  static const loops of_integers = {{invert_integer, invert_integer, NULL, NULL}};
  return elementwise("bitwise_invert", inputs[0]->dtype == DA_BOOL ? &of_bool : &of_integers, inputs,
                     input_count, outputs[0]);
}
