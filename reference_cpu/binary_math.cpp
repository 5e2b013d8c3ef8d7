// atan2, hypot, copysign, nextafter and logaddexp of floats, and pow of float64 and complex numbers.
#include <cmath>
#include <complex>
#include <limits>

#include "complex_math.hpp"
#include "families.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

struct Power {
  template <class T>
  static T apply(T a, T b) {
    return std::pow(a, b);
  }
  template <class T>
  static std::complex<T> apply(std::complex<T> a, std::complex<T> b) {
    return complex_power(a, b);
  }
};
struct Atan2 {
  template <class T>
  static T apply(T a, T b) {
    return std::atan2(a, b);
  }
};
struct Hypot {
  template <class T>
  static T apply(T a, T b) {
    return std::hypot(a, b);
  }
};
struct CopySign {
  template <class T>
  static T apply(T a, T b) {
    return std::copysign(a, b);
  }
};

// 16-bit floats need their own: their neighbours are further apart than those of float32.
struct NextAfter {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::nextafter(a, b);
    } else {
      const float from = widen(a), to = widen(b);
      if (from != from) return a;
      if (to != to || from == to) return b;
      if (from == 0) return {static_cast<uint16_t>((b.bits & 0x8000u) | 1u)};
      const bool grows = (from < to) == (from > 0);
      return {static_cast<uint16_t>(grows ? a.bits + 1 : a.bits - 1)};
    }
  }
};

// log(exp(a) + exp(b)), without leaving the range of the type in between. The sum may cancel down to zero, so
// it is made in a wider type.
struct LogAddExp {
  template <class T>
  static T apply(T a, T b) {
    using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;
    if (a == b) return static_cast<T>(a + static_cast<Wider>(0.693147180559945309417232121458L));
    const Wider difference = static_cast<Wider>(a) - static_cast<Wider>(b);
    if (difference > 0) return static_cast<T>(a + std::log1p(std::exp(-difference)));
    if (difference <= 0) return static_cast<T>(b + std::log1p(std::exp(difference)));
    return static_cast<T>(difference);
  }
};

template <class Op, class T>
constexpr Loop loop = binary_plain<Op, T, T>;

const LoopEntry entries[] = {
    {"pow", DA_FLOAT64, 20, loop<Power, double>},
    {"pow", DA_COMPLEX64, 60, loop<Power, complex64>},
    {"pow", DA_COMPLEX128, 80, loop<Power, complex128>},
    {"atan2", DA_FLOAT32, 15, loop<Atan2, float>},
    {"atan2", DA_FLOAT64, 25, loop<Atan2, double>},
    {"hypot", DA_FLOAT32, 6, loop<Hypot, float>},
    {"hypot", DA_FLOAT64, 10, loop<Hypot, double>},
    {"copysign", DA_FLOAT32, 1, loop<CopySign, float>},
    {"copysign", DA_FLOAT64, 1, loop<CopySign, double>},
    {"nextafter", DA_FLOAT16, 6, loop<NextAfter, float16>},
    {"nextafter", DA_BFLOAT16, 6, loop<NextAfter, bfloat16>},
    {"nextafter", DA_FLOAT32, 6, loop<NextAfter, float>},
    {"nextafter", DA_FLOAT64, 6, loop<NextAfter, double>},
    {"logaddexp", DA_FLOAT32, 25, loop<LogAddExp, float>},
    {"logaddexp", DA_FLOAT64, 100, loop<LogAddExp, double>},
};

}  // namespace

const LoopTable binary_math = {entries, std::size(entries)};

}  // namespace reference_cpu
