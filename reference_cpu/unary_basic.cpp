// Unary kernels that are exact: signs, rounding, tests and bits. Integers wrap.
#include <cmath>
#include <complex>

#include "complex_math.hpp"
#include "families.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

struct Negative {
  template <class T>
  static T apply(T a) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(Wrap<T>{0} - static_cast<Wrap<T>>(a));
    } else {
      return -a;
    }
  }
};
struct Abs {
  template <class T>
  static T apply(T a) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fabs(a);
    } else if constexpr (std::is_signed_v<T>) {
      return a < 0 ? Negative::apply(a) : a;
    } else {
      return a;
    }
  }
  template <class T>
  static T apply(std::complex<T> a) {
    return std::hypot(a.real(), a.imag());
  }
};
struct Sign {
  template <class T>
  static T apply(T a) {
    if constexpr (std::is_floating_point_v<T>) {
      return a > 0 ? T(1) : (a < 0 ? T(-1) : (a == 0 ? T(0) : a));  // NaN is itself
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<T>((a > 0) - (a < 0));
    } else {
      return a != 0;
    }
  }
  template <class T>
  static std::complex<T> apply(std::complex<T> a) {
    return complex_sign(a);
  }
};
struct Square {
  template <class T>
  static T apply(T a) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(a));
    } else {
      return a * a;
    }
  }
};
struct Floor {
  template <class T>
  static T apply(T a) {
    return std::floor(a);
  }
};
struct Ceil {
  template <class T>
  static T apply(T a) {
    return std::ceil(a);
  }
};
struct Trunc {
  template <class T>
  static T apply(T a) {
    return std::trunc(a);
  }
};
struct Round {
  template <class T>
  static T apply(T a) {
    return std::rint(a);
  }
};
struct LogicalNot {
  static uint8_t apply(uint8_t a) { return a == 0; }
};
struct Invert {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
struct IsNan {
  template <class T>
  static bool apply(T a) {
    return a != a;
  }
};
struct IsInf {
  template <class T>
  static bool apply(T a) {
    return std::fabs(a) == std::numeric_limits<T>::infinity();
  }
  template <class T>
  static bool apply(std::complex<T> a) {
    return apply(a.real()) || apply(a.imag());
  }
};
struct IsFinite {
  template <class T>
  static bool apply(T a) {
    return std::fabs(a) < std::numeric_limits<T>::infinity();
  }
  template <class T>
  static bool apply(std::complex<T> a) {
    return apply(a.real()) && apply(a.imag());
  }
};
struct SignBit {
  static bool apply(float a) { return bit_cast<uint32_t>(a) >> 31 != 0; }
  static bool apply(double a) { return bit_cast<uint64_t>(a) >> 63 != 0; }
};
struct Real {
  template <class T>
  static T apply(std::complex<T> a) {
    return a.real();
  }
};
struct Imag {
  template <class T>
  static T apply(std::complex<T> a) {
    return a.imag();
  }
};
struct Conj {
  template <class T>
  static std::complex<T> apply(std::complex<T> a) {
    return {a.real(), -a.imag()};
  }
};

template <class Op, class R, class A>
constexpr Loop loop = unary_plain<Op, R, A>;
template <class Op, class R, class A>
constexpr Loop fast = unary_clones<Op, R, A>;

#define WRAPPING(name, Op)                                                                                   \
  {name, DA_INT8, 1, loop<Op, uint8_t, uint8_t>}, {name, DA_UINT8, 1, loop<Op, uint8_t, uint8_t>},           \
      {name, DA_INT16, 1, loop<Op, uint16_t, uint16_t>}, {name, DA_UINT16, 1, loop<Op, uint16_t, uint16_t>}, \
      {name, DA_INT32, 1, loop<Op, uint32_t, uint32_t>}, {name, DA_UINT32, 1, loop<Op, uint32_t, uint32_t>}, \
      {name, DA_INT64, 1, loop<Op, uint64_t, uint64_t>}, {                                                   \
    name, DA_UINT64, 1, loop<Op, uint64_t, uint64_t>                                                         \
  }

#define SIGNED(name, Op)                                                                                   \
  {name, DA_INT8, 1, loop<Op, int8_t, int8_t>}, {name, DA_UINT8, 1, loop<Op, uint8_t, uint8_t>},           \
      {name, DA_INT16, 1, loop<Op, int16_t, int16_t>}, {name, DA_UINT16, 1, loop<Op, uint16_t, uint16_t>}, \
      {name, DA_INT32, 1, loop<Op, int32_t, int32_t>}, {name, DA_UINT32, 1, loop<Op, uint32_t, uint32_t>}, \
      {name, DA_INT64, 1, loop<Op, int64_t, int64_t>}, {                                                   \
    name, DA_UINT64, 1, loop<Op, uint64_t, uint64_t>                                                       \
  }

#define REALS(name, Op) \
  {name, DA_FLOAT32, 1, fast<Op, float, float>}, { name, DA_FLOAT64, 1, fast<Op, double, double> }

#define TESTS(name, Op) \
  {name, DA_FLOAT32, 1, fast<Op, uint8_t, float>}, { name, DA_FLOAT64, 1, fast<Op, uint8_t, double> }

#define COMPLEX_TESTS(name, Op)                            \
  {name, DA_COMPLEX64, 2, loop<Op, uint8_t, complex64>}, { \
    name, DA_COMPLEX128, 2, loop<Op, uint8_t, complex128>  \
  }

#define COMPLEX(name, Op, weight)                                 \
  {name, DA_COMPLEX64, weight, loop<Op, complex64, complex64>}, { \
    name, DA_COMPLEX128, weight, loop<Op, complex128, complex128> \
  }

#define PARTS(name, Op, weight)                               \
  {name, DA_COMPLEX64, weight, loop<Op, float, complex64>}, { \
    name, DA_COMPLEX128, weight, loop<Op, double, complex128> \
  }

const LoopEntry entries[] = {
    WRAPPING("negative", Negative),
    REALS("negative", Negative),
    COMPLEX("negative", Negative, 1),
    SIGNED("abs", Abs),
    REALS("abs", Abs),
    PARTS("abs", Abs, 10),
    SIGNED("sign", Sign),
    REALS("sign", Sign),
    COMPLEX("sign", Sign, 15),
    WRAPPING("square", Square),
    REALS("square", Square),
    COMPLEX("square", Square, 3),
    REALS("floor", Floor),
    REALS("ceil", Ceil),
    REALS("trunc", Trunc),
    REALS("round", Round),
    {"logical_not", DA_BOOL, 1, loop<LogicalNot, uint8_t, uint8_t>},
    {"bitwise_invert", DA_BOOL, 1, loop<LogicalNot, uint8_t, uint8_t>},
    WRAPPING("bitwise_invert", Invert),
    TESTS("isnan", IsNan),
    COMPLEX_TESTS("isnan", IsNan),
    TESTS("isinf", IsInf),
    COMPLEX_TESTS("isinf", IsInf),
    TESTS("isfinite", IsFinite),
    COMPLEX_TESTS("isfinite", IsFinite),
    TESTS("signbit", SignBit),
    PARTS("real", Real, 1),
    PARTS("imag", Imag, 1),
    COMPLEX("conj", Conj, 1),
};

}  // namespace

const LoopTable unary_basic = {entries, std::size(entries)};

}  // namespace reference_cpu
