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
    const T count = shifts_out(b) ? T{0} : b;
    return shifts_out(b) ? T{0} : static_cast<T>(static_cast<Wrap<T>>(a) << count);
  }
};
struct RightShift {
  template <class T>
  static T apply(T a, T b) {
    // The last bit is as good as all of them: what is left is the sign.
    const T count = shifts_out(b) ? static_cast<T>(kBits<T> - 1) : b;
    const T rest = static_cast<T>(a >> count);
    return shifts_out(b) && a >= T{0} ? T{0} : rest;
  }
};

template <class Op, class T>
constexpr Loop loop = binary_plain<Op, T, T>;
// Shifts by a count for each element are instructions of newer processors only.
template <class Op, class T>
constexpr Loop fast = binary_clones<Op, T, T>;

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
      {name, DA_INT32, 2, fast<Op, int32_t>}, {name, DA_UINT32, 2, fast<Op, uint32_t>}, \
      {name, DA_INT64, 2, fast<Op, int64_t>}, {                                         \
    name, DA_UINT64, 2, fast<Op, uint64_t>                                              \
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
