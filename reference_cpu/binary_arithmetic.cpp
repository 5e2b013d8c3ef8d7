// add, subtract, multiply, divide, maximum and minimum: the binary kernels that vectorise. Integers wrap, so
// signed and unsigned types share one loop for the first three.
#include <complex>

#include "arithmetic.hpp"
#include "families.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

using namespace arithmetic;

template <class Op>
struct Wrapping {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(Op::apply(static_cast<Wrap<T>>(a), static_cast<Wrap<T>>(b)));
  }
};

template <class Op, class T>
constexpr Loop fast = binary_clones<Op, T, T>;

template <class Op, class T>
constexpr Loop plain = binary_plain<Op, T, T>;

#define WRAPPING(name, Op)                                                                                   \
  {name, DA_INT8, 1, fast<Wrapping<Op>, uint8_t>}, {name, DA_UINT8, 1, fast<Wrapping<Op>, uint8_t>},         \
      {name, DA_INT16, 1, fast<Wrapping<Op>, uint16_t>}, {name, DA_UINT16, 1, fast<Wrapping<Op>, uint16_t>}, \
      {name, DA_INT32, 1, fast<Wrapping<Op>, uint32_t>}, {name, DA_UINT32, 1, fast<Wrapping<Op>, uint32_t>}, \
      {name, DA_INT64, 1, fast<Wrapping<Op>, uint64_t>}, {                                                   \
    name, DA_UINT64, 1, fast<Wrapping<Op>, uint64_t>                                                         \
  }

#define FLOATING(name, Op, weight, complex_weight)                                           \
  {name, DA_FLOAT32, weight, fast<Op, float>}, {name, DA_FLOAT64, weight, fast<Op, double>}, \
      {name, DA_COMPLEX64, complex_weight, plain<Op, complex64>}, {                          \
    name, DA_COMPLEX128, complex_weight, plain<Op, complex128>                               \
  }

#define ORDERED(name, Op)                                                                 \
  {name, DA_BOOL, 1, fast<Op, uint8_t>}, {name, DA_UINT8, 1, fast<Op, uint8_t>},          \
      {name, DA_INT8, 1, fast<Op, int8_t>}, {name, DA_INT16, 1, fast<Op, int16_t>},       \
      {name, DA_UINT16, 1, fast<Op, uint16_t>}, {name, DA_INT32, 1, fast<Op, int32_t>},   \
      {name, DA_UINT32, 1, fast<Op, uint32_t>}, {name, DA_INT64, 1, fast<Op, int64_t>},   \
      {name, DA_UINT64, 1, fast<Op, uint64_t>}, {name, DA_FLOAT32, 1, fast<Op, float>}, { \
    name, DA_FLOAT64, 1, fast<Op, double>                                                 \
  }

const LoopEntry entries[] = {
    WRAPPING("add", Add),
    WRAPPING("subtract", Subtract),
    WRAPPING("multiply", Multiply),
    FLOATING("add", Add, 1, 1),
    FLOATING("subtract", Subtract, 1, 1),
    FLOATING("multiply", Multiply, 1, 3),
    FLOATING("divide", Divide, 2, 10),
    ORDERED("maximum", Maximum),
    ORDERED("minimum", Minimum),
};

}  // namespace

const LoopTable binary_arithmetic = {entries, std::size(entries)};

}  // namespace reference_cpu
