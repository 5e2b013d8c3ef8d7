// copy: strided on both sides, between any two element types. A cast passes through one of four exact
// intermediate types (float32, float64, int64, uint64), so that 17 x 17 pairs need about 60 loops.
#include <complex>
#include <limits>

#include "elementwise.hpp"
#include "families.hpp"
#include "halves.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

// Truncates, saturates, and makes 0 of NaN.
template <class To, class From>
To saturate(From value) {
  constexpr From beyond = static_cast<From>(To{1} << (std::numeric_limits<To>::digits - 1)) * 2;
  constexpr From lowest = std::is_signed_v<To> ? -beyond : From{0};
  const From inside = value > lowest && value < beyond ? value : From{0};
  const To limit = value >= beyond ? std::numeric_limits<To>::max()
                                   : (value <= lowest ? std::numeric_limits<To>::min() : To{0});
  return inside == value ? static_cast<To>(inside) : limit;
}

// An integer as float64 that narrows correctly to every type below float64: bits that do not fit leave a mark
// in the last one that does.
inline double marked(uint64_t magnitude) {
  constexpr uint64_t low = (uint64_t{1} << 11) - 1;
  const uint64_t mark = (magnitude & low) != 0 ? low + 1 : 0;
  return static_cast<double>(magnitude >> 53 == 0 ? magnitude : ((magnitude & ~low) | mark));
}
inline double marked(int64_t value) {
  const uint64_t bits = static_cast<uint64_t>(value);
  return value < 0 ? -marked(uint64_t{0} - bits) : marked(bits);
}

// How a value of an intermediate type becomes an element of type To.
template <class To>
struct Store {
  template <class From>
  static To apply(From value) {
    if constexpr (std::is_same_v<To, complex64>) {
      return {static_cast<float>(value), 0.0f};
    } else if constexpr (std::is_same_v<To, complex128>) {
      return {static_cast<double>(value), 0.0};
    } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
      return saturate<To>(value);
    } else if constexpr (std::is_arithmetic_v<To>) {
      return static_cast<To>(value);
    } else if constexpr (std::is_same_v<From, float>) {
      return narrow<To>(value);
    } else if constexpr (std::is_same_v<From, double>) {
      return narrow<To>(round_to_odd(value));
    } else {
      return narrow<To>(round_to_odd(marked(value)));
    }
  }
};

struct StoreBool {
  template <class From>
  static uint8_t apply(From value) {
    return value != From(0);
  }
};

struct Widen {
  template <class From>
  static float apply(From value) {
    if constexpr (std::is_integral_v<From>) {
      return static_cast<float>(value);
    } else {
      return widen(value);
    }
  }
};

struct Extend {
  template <class From>
  static int64_t apply(From value) {
    return static_cast<int64_t>(value);
  }
};

struct RealPart {
  template <class T>
  static T apply(std::complex<T> value) {
    return value.real();
  }
};

struct Recast {
  static complex64 apply(complex128 value) {
    return {static_cast<float>(value.real()), static_cast<float>(value.imag())};
  }
  static complex128 apply(complex64 value) { return {value.real(), value.imag()}; }
};

enum class Middle { float32, float64, int64, uint64 };

template <class From>
Loop store_loop(int32_t to) {
  switch (to) {
    case DA_BOOL:
      return unary_plain<StoreBool, uint8_t, From>;
    case DA_INT8:
      return unary_plain<Store<int8_t>, int8_t, From>;
    case DA_INT16:
      return unary_plain<Store<int16_t>, int16_t, From>;
    case DA_INT32:
      return unary_plain<Store<int32_t>, int32_t, From>;
    case DA_INT64:
      return unary_plain<Store<int64_t>, int64_t, From>;
    case DA_UINT8:
      return unary_plain<Store<uint8_t>, uint8_t, From>;
    case DA_UINT16:
      return unary_plain<Store<uint16_t>, uint16_t, From>;
    case DA_UINT32:
      return unary_plain<Store<uint32_t>, uint32_t, From>;
    case DA_UINT64:
      return unary_plain<Store<uint64_t>, uint64_t, From>;
    case DA_FLOAT16:
      if constexpr (std::is_same_v<From, float>) return narrow_loop(DA_FLOAT16);
      return unary_clones<Store<float16>, float16, From>;
    case DA_BFLOAT16:
      return unary_clones<Store<bfloat16>, bfloat16, From>;
    case DA_FLOAT32:
      return unary_clones<Store<float>, float, From>;
    case DA_FLOAT64:
      return unary_clones<Store<double>, double, From>;
    case DA_COMPLEX64:
      return unary_plain<Store<complex64>, complex64, From>;
    case DA_COMPLEX128:
      return unary_plain<Store<complex128>, complex128, From>;
    case DA_FLOAT8_E4M3FN:
      return unary_plain<Store<float8_e4m3fn>, float8_e4m3fn, From>;
    default:
      return unary_plain<Store<float8_e5m2>, float8_e5m2, From>;
  }
}

Loop store_loop(Middle middle, int32_t to) {
  switch (middle) {
    case Middle::float32:
      return store_loop<float>(to);
    case Middle::float64:
      return store_loop<double>(to);
    case Middle::int64:
      return store_loop<int64_t>(to);
    default:
      return store_loop<uint64_t>(to);
  }
}

// Element type -> intermediate type; no loop where they are the same.
struct Load {
  Middle middle;
  Loop loop;
};

Load load_to_integer(int32_t from) {
  switch (from) {
    case DA_BOOL:
    case DA_UINT8:
      return {Middle::int64, unary_plain<Extend, int64_t, uint8_t>};
    case DA_INT8:
      return {Middle::int64, unary_plain<Extend, int64_t, int8_t>};
    case DA_INT16:
      return {Middle::int64, unary_plain<Extend, int64_t, int16_t>};
    case DA_UINT16:
      return {Middle::int64, unary_plain<Extend, int64_t, uint16_t>};
    case DA_INT32:
      return {Middle::int64, unary_plain<Extend, int64_t, int32_t>};
    case DA_UINT32:
      return {Middle::int64, unary_plain<Extend, int64_t, uint32_t>};
    default:
      return {Middle::int64, nullptr};  // int64, and uint64 read as int64: only its low bits matter here
  }
}

Load load_to_float(int32_t from) {
  switch (from) {
    case DA_BOOL:
    case DA_UINT8:
      return {Middle::float32, unary_clones<Widen, float, uint8_t>};
    case DA_INT8:
      return {Middle::float32, unary_clones<Widen, float, int8_t>};
    case DA_INT16:
      return {Middle::float32, unary_clones<Widen, float, int16_t>};
    case DA_UINT16:
      return {Middle::float32, unary_clones<Widen, float, uint16_t>};
    case DA_FLOAT16:
    case DA_BFLOAT16:
      return {Middle::float32, widen_loop(from)};
    case DA_FLOAT8_E4M3FN:
      return {Middle::float32, unary_plain<Widen, float, float8_e4m3fn>};
    case DA_FLOAT8_E5M2:
      return {Middle::float32, unary_plain<Widen, float, float8_e5m2>};
    case DA_FLOAT32:
      return {Middle::float32, nullptr};
    case DA_FLOAT64:
      return {Middle::float64, nullptr};
    case DA_COMPLEX64:
      return {Middle::float32, unary_plain<RealPart, float, complex64>};
    case DA_COMPLEX128:
      return {Middle::float64, unary_plain<RealPart, double, complex128>};
    case DA_UINT64:
      return {Middle::uint64, nullptr};
    default:
      return load_to_integer(from);
  }
}

bool is_integer(int32_t dtype) { return dtype >= DA_BOOL && dtype <= DA_UINT64; }

// The loops that do not pass through an intermediate type; NULL for all other pairs.
Loop direct_loop(int32_t from, int32_t to) {
  if (from == DA_INT32 && to == DA_FLOAT32) return unary_clones<Widen, float, int32_t>;
  if (from == DA_UINT32 && to == DA_FLOAT32) return unary_clones<Widen, float, uint32_t>;
  if (from == DA_COMPLEX64 && to == DA_COMPLEX128) return unary_plain<Recast, complex128, complex64>;
  if (from == DA_COMPLEX128 && to == DA_COMPLEX64) return unary_plain<Recast, complex64, complex128>;
  if (from == DA_COMPLEX64 && to == DA_BOOL) return unary_plain<StoreBool, uint8_t, complex64>;
  if (from == DA_COMPLEX128 && to == DA_BOOL) return unary_plain<StoreBool, uint8_t, complex128>;
  return nullptr;
}

template <int64_t width>
void move(char *const *operands, int64_t n) {
  if (operands[0] != operands[1]) __builtin_memcpy(operands[0], operands[1], static_cast<size_t>(n * width));
}

Loop move_loop(int64_t width) {
  switch (width) {
    case 1:
      return move<1>;
    case 2:
      return move<2>;
    case 4:
      return move<4>;
    case 8:
      return move<8>;
    default:
      return move<16>;
  }
}

}  // namespace

std::unique_ptr<Plan> build_copy(const Request &request) {
  const int32_t from = request.in(0).dtype, to = request.out().dtype;
  Recipe recipe;
  if (from == to) {
    if (is_contiguous(request.in(0)) && is_contiguous(request.out())) recipe.loop = move_loop(item_size(to));
    return elementwise_plan(request, recipe);
  }
  recipe.loop = direct_loop(from, to);
  if (recipe.loop == nullptr) {
    const Load load = is_integer(from) && is_integer(to) ? load_to_integer(from) : load_to_float(from);
    const bool loaded = (load.middle == Middle::float32 && to == DA_FLOAT32) ||
                        (load.middle == Middle::float64 && to == DA_FLOAT64);
    if (loaded) {
      recipe.loop = load.loop;
    } else {
      recipe.loop = store_loop(load.middle, to);
      recipe.convert[1] = load.loop;
      recipe.weight = 2;
    }
  }
  return elementwise_plan(request, recipe);
}

}  // namespace reference_cpu
