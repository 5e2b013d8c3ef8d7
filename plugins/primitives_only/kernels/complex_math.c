/* Functions of complex numbers. */
#include "complex_math.h"

#include <math.h>

double complex complex_scaled(double complex z, double factor) {
  return make_complex(creal(z) * factor, cimag(z) * factor);
}

/* An infinite part outweighs a finite one; beside another, or beside NaN, it gives NaN. */
double complex complex_sign(double complex z) {
  const double x = creal(z), y = cimag(z), size = cabs(z);
  if (isinf(x) && isfinite(y)) {
    return copysign(1, x);
  }
  if (isfinite(x) && isinf(y)) {
    return make_complex(0, copysign(1, y));
  }
  return size == 0 ? 0 : make_complex(x / size, y / size);
}

double complex complex_round(double complex z) { return make_complex(rint(creal(z)), rint(cimag(z))); }

/* As in C, but at an infinite real part the zero has the sign of the imaginary part. */
double complex complex_tanh(double complex z) {
  const double x = creal(z), y = cimag(z);
  return isinf(x) && isfinite(y) ? make_complex(copysign(1, x), copysign(0, y)) : ctanh(z);
}

/* -i tanh(z i), for the sake of those zeros. */
double complex complex_tan(double complex z) {
  const double complex turned = complex_tanh(make_complex(-cimag(z), creal(z)));
  return make_complex(cimag(turned), -creal(turned));
}

/* exp(z) - 1 without cancellation: the real part is expm1(x) cos y - 2 sin(y/2)^2. */
double complex complex_expm1(double complex z) {
  const double x = creal(z), y = cimag(z);
  if (!isfinite(x) || !isfinite(y)) {
    return cexp(z) - 1;
  }
  const double half = sin(y / 2);
  return make_complex(expm1(x) * cos(y) - 2 * half * half + 0.0, exp(x) * sin(y)); /* never -0 */
}

/* Adds `term` to a sum, and what the rounding lost to its error. */
static void add_exactly(double *sum, double *error, double term) {
  const double total = *sum + term;
  const double from_term = total - *sum;
  *error += (*sum - (total - from_term)) + (term - from_term);
  *sum = total;
}

/* log(1 + z): |1 + z|^2 - 1 is 2x + x^2 + y^2, whose terms may cancel, so their rounding errors are kept. */
double complex complex_log1p(double complex z) {
  const double x = creal(z), y = cimag(z);
  if (!(fabs(x) < 0.5) || !(fabs(y) < 0.5)) {
    return clog(make_complex(1 + x, y));
  }
  const double x2 = x * x, y2 = y * y;
  double sum = 2 * x, error = fma(x, x, -x2) + fma(y, y, -y2);
  add_exactly(&sum, &error, x2);
  add_exactly(&sum, &error, y2);
  return make_complex(log1p(sum + error) / 2, atan2(y, 1 + x));
}

/* Small integer powers by multiplication, which keeps exact results exact; 0 to a positive power is 0. */
double complex complex_pow(double complex base, double complex exponent) {
  const double power = creal(exponent);
  if (exponent == 0) {
    return 1;
  }
  if (base == 0) {
    return power > 0 ? 0 : make_complex((double)NAN, (double)NAN);
  }
  if (cimag(exponent) != 0 || power != trunc(power) || fabs(power) > 64) {
    return cexp(exponent * clog(base));
  }
  double complex factor = base, result = 1;
  int is_one = 1;
  for (int rest = (int)fabs(power); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) {
      result = is_one ? factor : result * factor;
      is_one = 0;
    }
    factor = rest > 1 ? factor * factor : factor;
  }
  return power < 0 ? 1 / result : result;
}
