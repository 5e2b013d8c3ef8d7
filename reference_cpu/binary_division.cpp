// floor_divide, remainder and pow of integers; floor_divide and remainder of floats. Integers divided by zero
// give 0, and the smallest integer divided by -1 is itself. The remainder has the divisor's sign.
#include <cmath>
#include <limits>

#include "families.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

template <class T>
inline T wrapping_negative(T a) {
  return static_cast<T>(Wrap<T>{0} - static_cast<Wrap<T>>(a));
}

struct FloorDivide {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return divide_floats(a, b);
    } else {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return wrapping_negative(a);
        const T quotient = static_cast<T>(a / b);
        return static_cast<T>(quotient - ((a % b != 0) && ((a < 0) != (b < 0))));
      } else {
        return static_cast<T>(a / b);
      }
    }
  }

  template <class T>
  static T divide_floats(T a, T b) {
    // Beside an infinity the array API wants the quotient, where C's fmod leads to NaN or -1.
    if (b == 0 || std::isinf(a) || std::isinf(b)) return a / b;
    T rest = std::fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(T(0), a / b);
    // The quotient is within rounding of an integer: take that one, and not its neighbour below.
    const T whole = std::floor(quotient);
    return quotient - whole > T(0.5) ? whole + 1 : whole;
  }
};

struct Remainder {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      T rest = std::fmod(a, b);
      if (rest == 0) return std::copysign(T(0), b);
      return (b < 0) != (rest < 0) ? rest + b : rest;
    } else {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
        const T rest = static_cast<T>(a % b);
        return rest != 0 && ((rest < 0) != (b < 0)) ? static_cast<T>(rest + b) : rest;
      } else {
        return static_cast<T>(a % b);
      }
    }
  }
};

struct IntegerPower {
  template <class T>
  static T apply(T base, T exponent) {
    if constexpr (std::is_signed_v<T>) {
      if (exponent < 0) {
        if (base == 1) return 1;
        if (base == -1) return exponent % 2 != 0 ? T(-1) : T(1);
        return 0;
      }
    }
    Wrap<T> factor = static_cast<Wrap<T>>(base), made = 1;
    for (Wrap<T> rest = static_cast<Wrap<T>>(exponent); rest != 0; rest >>= 1) {
      if ((rest & 1) != 0) made *= factor;
      factor *= factor;
    }
    return static_cast<T>(made);
  }
};

template <class Op, class T>
constexpr Loop loop = binary_plain<Op, T, T>;

#define INTEGERS(name, Op, weight)                                                                \
  {name, DA_INT8, weight, loop<Op, int8_t>}, {name, DA_UINT8, weight, loop<Op, uint8_t>},         \
      {name, DA_INT16, weight, loop<Op, int16_t>}, {name, DA_UINT16, weight, loop<Op, uint16_t>}, \
      {name, DA_INT32, weight, loop<Op, int32_t>}, {name, DA_UINT32, weight, loop<Op, uint32_t>}, \
      {name, DA_INT64, weight, loop<Op, int64_t>}, {                                              \
    name, DA_UINT64, weight, loop<Op, uint64_t>                                                   \
  }

const LoopEntry entries[] = {
    INTEGERS("floor_divide", FloorDivide, 8),
    INTEGERS("remainder", Remainder, 8),
    INTEGERS("pow", IntegerPower, 12),
    {"floor_divide", DA_FLOAT32, 20, loop<FloorDivide, float>},
    {"floor_divide", DA_FLOAT64, 20, loop<FloorDivide, double>},
    {"remainder", DA_FLOAT32, 20, loop<Remainder, float>},
    {"remainder", DA_FLOAT64, 20, loop<Remainder, double>},
};

}  // namespace

const LoopTable binary_division = {entries, std::size(entries)};

}  // namespace reference_cpu
