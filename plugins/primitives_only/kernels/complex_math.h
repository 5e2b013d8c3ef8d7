/* Functions of complex numbers that the C library lacks, or that lose digits or overflow where they need not.
 */
#ifndef PRIMITIVES_ONLY_COMPLEX_MATH_H
#define PRIMITIVES_ONLY_COMPLEX_MATH_H

#include "numbers.h"

/* Both parts times a real number; a complex product would make NaN of infinities. */
double complex complex_scaled(double complex z, double factor);

/* z / |z|, and 0 at 0. */
double complex complex_sign(double complex z);

/* Both parts rounded, half to even. */
double complex complex_round(double complex z);

double complex complex_tanh(double complex z);
double complex complex_tan(double complex z);
double complex complex_expm1(double complex z);
double complex complex_log1p(double complex z);
double complex complex_pow(double complex base, double complex exponent);

#endif
