// equal, not_equal, less, less_equal, greater, greater_equal. Equality of integers is the same for both
// signs.
#include "families.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

struct Equal {
  template <class T>
  static bool apply(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  static bool apply(T a, T b) {
    return a != b;
  }
};
struct Less {
  template <class T>
  static bool apply(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  static bool apply(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  static bool apply(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <class T>
  static bool apply(T a, T b) {
    return a >= b;
  }
};

template <class Op, class T>
constexpr Loop loop = binary_plain<Op, uint8_t, T>;
template <class Op, class T>
constexpr Loop fast = binary_clones<Op, uint8_t, T>;

#define EQUALITY(name, Op)                                                                     \
  {name, DA_BOOL, 1, loop<Op, uint8_t>}, {name, DA_INT8, 1, loop<Op, uint8_t>},                \
      {name, DA_UINT8, 1, loop<Op, uint8_t>}, {name, DA_INT16, 1, loop<Op, uint16_t>},         \
      {name, DA_UINT16, 1, loop<Op, uint16_t>}, {name, DA_INT32, 1, fast<Op, uint32_t>},       \
      {name, DA_UINT32, 1, fast<Op, uint32_t>}, {name, DA_INT64, 1, fast<Op, uint64_t>},       \
      {name, DA_UINT64, 1, fast<Op, uint64_t>}, {name, DA_FLOAT32, 1, fast<Op, float>},        \
      {name, DA_FLOAT64, 1, fast<Op, double>}, {name, DA_COMPLEX64, 1, loop<Op, complex64>}, { \
    name, DA_COMPLEX128, 1, loop<Op, complex128>                                               \
  }

#define ORDER(name, Op)                                                                   \
  {name, DA_BOOL, 1, loop<Op, uint8_t>}, {name, DA_INT8, 1, loop<Op, int8_t>},            \
      {name, DA_UINT8, 1, loop<Op, uint8_t>}, {name, DA_INT16, 1, loop<Op, int16_t>},     \
      {name, DA_UINT16, 1, loop<Op, uint16_t>}, {name, DA_INT32, 1, fast<Op, int32_t>},   \
      {name, DA_UINT32, 1, loop<Op, uint32_t>}, {name, DA_INT64, 1, fast<Op, int64_t>},   \
      {name, DA_UINT64, 1, loop<Op, uint64_t>}, {name, DA_FLOAT32, 1, fast<Op, float>}, { \
    name, DA_FLOAT64, 1, fast<Op, double>                                                 \
  }

const LoopEntry entries[] = {
    EQUALITY("equal", Equal),       EQUALITY("not_equal", NotEqual), ORDER("less", Less),
    ORDER("less_equal", LessEqual), ORDER("greater", Greater),       ORDER("greater_equal", GreaterEqual),
};

}  // namespace

const LoopTable comparisons = {entries, std::size(entries)};

}  // namespace reference_cpu
