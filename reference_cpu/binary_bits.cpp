// Bitwise and logical kernels and shifts. A bool is a byte of 0 or 1, so its logic is that of bits.
#include "families.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

struct And {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

template <class T>
constexpr T kBits = static_cast<T>(sizeof(T) * 8);

template <class T>
inline bool shifts_out(T count) {
  return count < T{0} || count >= kBits<T>;
}

// A count that is negative or not below the width shifts everything out.
struct LeftShift {
  template <class T>
  static T apply(T a, T b) {
    if (shifts_out(b)) return 0;
    return static_cast<T>(static_cast<Wrap<T>>(a) << static_cast<int>(b));
  }
};
struct RightShift {
  template <class T>
  static T apply(T a, T b) {
    if (shifts_out(b)) return static_cast<T>(a < T{0} ? -1 : 0);
    return static_cast<T>(a >> static_cast<int>(b));
  }
};

template <class Op, class T>
constexpr Loop loop = binary_plain<Op, T, T>;

#define BITS(name, Op)                                                                     \
  {name, DA_BOOL, 1, loop<Op, uint8_t>}, {name, DA_INT8, 1, loop<Op, uint8_t>},            \
      {name, DA_UINT8, 1, loop<Op, uint8_t>}, {name, DA_INT16, 1, loop<Op, uint16_t>},     \
      {name, DA_UINT16, 1, loop<Op, uint16_t>}, {name, DA_INT32, 1, loop<Op, uint32_t>},   \
      {name, DA_UINT32, 1, loop<Op, uint32_t>}, {name, DA_INT64, 1, loop<Op, uint64_t>}, { \
    name, DA_UINT64, 1, loop<Op, uint64_t>                                                 \
  }

#define SHIFT(name, Op)                                                                 \
  {name, DA_INT8, 2, loop<Op, int8_t>}, {name, DA_UINT8, 2, loop<Op, uint8_t>},         \
      {name, DA_INT16, 2, loop<Op, int16_t>}, {name, DA_UINT16, 2, loop<Op, uint16_t>}, \
      {name, DA_INT32, 2, loop<Op, int32_t>}, {name, DA_UINT32, 2, loop<Op, uint32_t>}, \
      {name, DA_INT64, 2, loop<Op, int64_t>}, {                                         \
    name, DA_UINT64, 2, loop<Op, uint64_t>                                              \
  }

const LoopEntry entries[] = {
    BITS("bitwise_and", And),
    BITS("bitwise_or", Or),
    BITS("bitwise_xor", Xor),
    SHIFT("bitwise_left_shift", LeftShift),
    SHIFT("bitwise_right_shift", RightShift),
    {"logical_and", DA_BOOL, 1, loop<And, uint8_t>},
    {"logical_or", DA_BOOL, 1, loop<Or, uint8_t>},
    {"logical_xor", DA_BOOL, 1, loop<Xor, uint8_t>},
};

}  // namespace

const LoopTable binary_bits = {entries, std::size(entries)};

}  // namespace reference_cpu
