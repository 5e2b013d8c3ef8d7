// Functions of complex numbers that the C library lacks or that overflow where they need not. The rest comes
// from the C library, with the special values of C99 Annex G.
#ifndef REFERENCE_CPU_COMPLEX_MATH_HPP
#define REFERENCE_CPU_COMPLEX_MATH_HPP

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>

#include "lanes.hpp"
#include "types.hpp"

namespace reference_cpu {

// Integer powers by multiplication, which keeps exact results exact, in a wider type, because the error grows
// with the power; 0 to a positive power is 0.
template <class T>
std::complex<T> complex_power(std::complex<T> a, std::complex<T> b) {
  if (b.real() == 0 && b.imag() == 0) return {T(1), T(0)};
  if (a.real() == 0 && a.imag() == 0) {
    if (b.real() > 0) return {T(0), T(0)};
    const T nan = std::numeric_limits<T>::quiet_NaN();
    return {nan, nan};
  }
  if (b.imag() == 0 && b.real() == std::trunc(b.real()) && std::fabs(b.real()) <= 64) {
    int rest = static_cast<int>(std::fabs(b.real()));
    using Wider = std::complex<std::conditional_t<std::is_same_v<T, float>, double, long double>>;
    Wider factor = Wider(a), made(1, 0);
    for (bool first = true; rest != 0; rest >>= 1) {
      if ((rest & 1) != 0) {
        made = first ? factor : made * factor;
        first = false;
      }
      if (rest > 1) factor = factor * factor;
    }
    return std::complex<T>(b.real() < 0 ? Wider(1, 0) / made : made);
  }
  // In double the logarithm of a float's power is exact enough for the float.
  const std::complex<double> made = std::exp(std::complex<double>(b) * std::log(std::complex<double>(a)));
  return {static_cast<T>(made.real()), static_cast<T>(made.imag())};
}

// As in C, but at an infinite real part the zero has the sign of the imaginary part, as the array API has it.
template <class T>
std::complex<T> complex_tanh(std::complex<T> z) {
  if (std::isinf(z.real()) && std::isfinite(z.imag())) {
    return {std::copysign(T(1), z.real()), std::copysign(T(0), z.imag())};
  }
  return std::tanh(z);
}

// -j tanh(z j), for the sake of those zeros.
template <class T>
std::complex<T> complex_tan(std::complex<T> z) {
  const std::complex<T> turned = complex_tanh(std::complex<T>(-z.imag(), z.real()));
  return {turned.imag(), -turned.real()};
}

// exp(z) - 1 without cancellation: the real part is expm1(x) cos y - 2 sin(y/2)^2.
template <class T>
std::complex<T> complex_expm1(std::complex<T> z) {
  if (!std::isfinite(z.real()) || !std::isfinite(z.imag())) return std::exp(z) - std::complex<T>(T(1), T(0));
  const T half = std::sin(z.imag() / 2);
  const T real = std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half + T(0);  // never -0
  return {real, std::exp(z.real()) * std::sin(z.imag())};
}

// a * b without its rounding error, and that error.
inline double product_error(double a, double b, double product) { return std::fma(a, b, -product); }

// log(1 + z): |1 + z|^2 - 1 is 2x + x^2 + y^2, whose terms may cancel; their rounding errors are kept.
inline complex128 complex_log1p(complex128 z) {
  const double x = z.real(), y = z.imag();
  if (!(std::fabs(x) < 0.5) || !(std::fabs(y) < 0.5)) return std::log(complex128(1.0 + x, y));
  const double x2 = x * x, y2 = y * y;
  double sum = 2 * x, error = product_error(x, x, x2) + product_error(y, y, y2);
  add_exactly(sum, error, x2);
  add_exactly(sum, error, y2);
  return {std::log1p(sum + error) / 2, std::atan2(y, 1.0 + x)};
}
inline complex64 complex_log1p(complex64 z) {
  const complex128 made = complex_log1p(complex128(z));
  return {static_cast<float>(made.real()), static_cast<float>(made.imag())};
}

// Both parts times a real number; a complex product would make NaN of infinities.
template <class T>
std::complex<T> complex_scaled(std::complex<T> z, T factor) {
  return {z.real() * factor, z.imag() * factor};
}

// An infinite part outweighs a finite one; beside another, or beside NaN, it gives NaN.
template <class T>
std::complex<T> complex_sign(std::complex<T> z) {
  const T x = z.real(), y = z.imag(), size = std::hypot(x, y);
  if (size == 0) return {T(0), T(0)};
  if (std::isinf(x) && std::isfinite(y)) return {std::copysign(T(1), x), T(0)};
  if (std::isfinite(x) && std::isinf(y)) return {T(0), std::copysign(T(1), y)};
  return {x / size, y / size};
}

}  // namespace reference_cpu

#endif
