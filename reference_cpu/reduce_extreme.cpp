// reduce_max, reduce_min, reduce_any, reduce_all, reduce_argmax and reduce_argmin. A NaN is the extreme of
// its row, in either direction; of equal extremes the first counts. any and all are the maximum and minimum
// of bytes, whose empty rows have a result.
#include <algorithm>
#include <cstring>
#include <limits>

#include "families.hpp"
#include "halves.hpp"
#include "lanes.hpp"
#include "reduce.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

// kGreatest: the maximum, else the minimum.
template <bool kGreatest>
struct Extreme {
  static constexpr bool kTakesGreatest = kGreatest;

  template <class T>
  static constexpr T worst() {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_floating_point_v<T>) {
      return kGreatest ? -Limits::infinity() : Limits::infinity();
    } else {
      return kGreatest ? Limits::min() : Limits::max();
    }
  }

  template <class T>
  static T pick(T best, T x) {
    const bool keeps = kGreatest ? best >= x : best <= x;
    return keeps || best != best ? best : x;
  }
};

template <class T>
T read(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
void write(char *to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

template <class Op, class T>
void start(char *value) {
  write(value, Op::template worst<T>());
}

// Integers: the compiler reorders these on its own.
template <class Op, class T>
REFERENCE_CPU_CLONES void chunk_integers(char *value, const char *x, int64_t n, int64_t) {
  const Cell<T> *cell = reinterpret_cast<const Cell<T> *>(x);
  T best = read<T>(value);
  for (int64_t i = 0; i < n; ++i) best = Op::pick(best, cell[i].get());
  write(value, best);
}

// Of two vectors or numbers of which none is NaN.
template <class Op>
struct Better {
  template <class V>
  static void keep(V &best, const V &x) {
    best = Op::kTakesGreatest ? (best > x ? best : x) : (best < x ? best : x);
  }
};

struct Added {
  template <class V>
  static void keep(V &sum, const V &x) {
    sum += x;
  }
};

// Combines all lanes of a vector, halves of it at a time.
template <class Combine, class T, int kLanes>
inline __attribute__((always_inline)) T across(const char *lanes) {
  if constexpr (kLanes == 1) {
    return read<T>(lanes);
  } else {
    Vector<T, kLanes / 2> low, high;
    std::memcpy(&low, lanes, sizeof(low));
    std::memcpy(&high, lanes + sizeof(low), sizeof(high));
    Combine::keep(low, high);
    return across<Combine, T, kLanes / 2>(reinterpret_cast<const char *>(&low));
  }
}

template <class T>
inline __attribute__((always_inline)) bool has_nan(const char *x, int64_t n) {
  const Cell<T> *cell = reinterpret_cast<const Cell<T> *>(x);
  int found = 0;
  for (int64_t i = 0; i < n; ++i) found |= static_cast<int>(cell[i].get() != cell[i].get());
  return found != 0;
}

// The extreme of at least kChains vectors of floats; the last ones may overlap those before. Lanes hold
// extremes as if there were no NaN. Their sum shows whether there may be one: it is NaN then, and else only
// where infinities of both signs met.
template <class Op, class T, int kChains>
inline __attribute__((always_inline)) T extreme_of_lanes(const char *x, int64_t n) {
  constexpr int kLanes = 64 / sizeof(T);
  constexpr int64_t kWidth = sizeof(T), kStep = kLanes * kChains;
  Vector<T, kLanes> best[kChains], sum[kChains] = {};
  std::memcpy(best, x, sizeof(best));
  for (int64_t done = 0; done < n; done += kStep) {
    const char *from = x + std::min(done, n - kStep) * kWidth;
    for (int c = 0; c < kChains; ++c) {
      Vector<T, kLanes> a;
      std::memcpy(&a, from + c * kLanes * kWidth, sizeof(a));
      sum[c] += a;
      Better<Op>::keep(best[c], a);
    }
  }
  for (int c = 1; c < kChains; ++c) {
    sum[0] += sum[c];
    Better<Op>::keep(best[0], best[c]);
  }
  const T total = across<Added, T, kLanes>(reinterpret_cast<const char *>(sum));
  if (total != total && has_nan<T>(x, n)) return std::numeric_limits<T>::quiet_NaN();
  return across<Better<Op>, T, kLanes>(reinterpret_cast<const char *>(best));
}

template <class Op, class T>
REFERENCE_CPU_CLONES void chunk_floats(char *value, const char *x, int64_t n, int64_t) {
  constexpr int64_t kLanes = 64 / sizeof(T), kChains = 4;
  T best = read<T>(value);
  if (n >= kLanes * kChains) {
    best = Op::pick(best, extreme_of_lanes<Op, T, kChains>(x, n));
  } else if (n >= kLanes) {
    best = Op::pick(best, extreme_of_lanes<Op, T, 1>(x, n));
  } else {
    for (int64_t i = 0; i < n; ++i) best = Op::pick(best, read<T>(x + i * static_cast<int64_t>(sizeof(T))));
  }
  write(value, best);
}

template <class Op, class T>
void chunk(char *value, const char *x, int64_t n, int64_t first) {
  if constexpr (std::is_floating_point_v<T>) {
    chunk_floats<Op, T>(value, x, n, first);
  } else {
    chunk_integers<Op, T>(value, x, n, first);
  }
}

template <class Op, class T>
void merge(char *value, const char *later) {
  write(value, Op::pick(read<T>(value), read<T>(later)));
}

template <class T>
void finish(char *out, const char *value) {
  write(out, read<T>(value));
}

template <class Half>
void finish_half(char *out, const char *value) {
  write(out, narrow<Half>(read<float>(value)));
}

template <class Op, class T>
REFERENCE_CPU_CLONES void columns(char *out, int64_t out_stride, const char *x, int64_t rows,
                                  int64_t row_stride, int64_t count) {
  T best[kColumnTile];
  for (int64_t c = 0; c < count; ++c) best[c] = Op::template worst<T>();
  for (int64_t row = 0; row < rows; ++row, x += row_stride) {
    const Cell<T> *cell = reinterpret_cast<const Cell<T> *>(x);
    for (int64_t c = 0; c < count; ++c) best[c] = Op::pick(best[c], cell[c].get());
  }
  for (int64_t c = 0; c < count; ++c) write(out + c * out_stride, best[c]);
}

// The best element of a row and its index; index -1 before the first element.
template <class T>
struct Place {
  T best;
  int64_t index;
};

template <class T>
bool is_nan(T x) {
  return x != x;
}

template <class Op, class T>
bool beats(T x, T best) {
  if (is_nan(best)) return false;
  return is_nan(x) || (x != best && !is_nan(x) && Op::pick(best, x) == x);
}

template <class Op, class T>
void start_place(char *value) {
  write(value, Place<T>{Op::template worst<T>(), -1});
}

// The first place of `value`, or of a NaN when that is one; it is there.
template <class T>
REFERENCE_CPU_CLONES int64_t find(const char *x, int64_t n, T value) {
  constexpr int64_t kBlock = 64;
  const Cell<T> *cell = reinterpret_cast<const Cell<T> *>(x);
  const bool nan = is_nan(value);
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    uint8_t here = 0;
    for (int64_t j = 0; j < kBlock; ++j) {
      const T item = cell[i + j].get();
      here |= static_cast<uint8_t>((item == value) | ((item != item) & nan));
    }
    if (here != 0) break;
  }
  while (nan ? !is_nan(cell[i].get()) : cell[i].get() != value) ++i;
  return i;
}

template <class Op, class T>
void chunk_place(char *value, const char *x, int64_t n, int64_t first) {
  const Place<T> place = read<Place<T>>(value);
  char best_bytes[sizeof(T)];
  start<Op, T>(best_bytes);
  chunk<Op, T>(best_bytes, x, n, first);
  const T best = read<T>(best_bytes);
  if (place.index >= 0 && !beats<Op>(best, place.best)) return;
  write(value, Place<T>{best, first + find(x, n, best)});
}

template <class Op, class T>
void merge_place(char *value, const char *later) {
  const Place<T> now = read<Place<T>>(value), next = read<Place<T>>(later);
  if (beats<Op>(next.best, now.best)) write(value, next);
}

template <class T>
void finish_place(char *out, const char *value) {
  write(out, read<Place<T>>(value).index);
}

template <class Op, class T>
Reducer extreme() {
  return {start<Op, T>, chunk<Op, T>, merge<Op, T>, finish<T>, columns<Op, T>};
}

template <class Op, class Half>
Reducer extreme_half(int32_t dtype) {
  return {start<Op, float>,  chunk<Op, float>, merge<Op, float>,
          finish_half<Half>, nullptr,          widen_loop(dtype)};
}

template <class Op, class T>
Reducer place(Loop widen = nullptr) {
  return {start_place<Op, T>, chunk_place<Op, T>, merge_place<Op, T>, finish_place<T>, nullptr, widen};
}

template <class Op>
Reducer extreme_reducer(int32_t dtype) {
  switch (dtype) {
    case DA_BOOL:
    case DA_UINT8:
      return extreme<Op, uint8_t>();
    case DA_INT8:
      return extreme<Op, int8_t>();
    case DA_INT16:
      return extreme<Op, int16_t>();
    case DA_UINT16:
      return extreme<Op, uint16_t>();
    case DA_INT32:
      return extreme<Op, int32_t>();
    case DA_UINT32:
      return extreme<Op, uint32_t>();
    case DA_INT64:
      return extreme<Op, int64_t>();
    case DA_UINT64:
      return extreme<Op, uint64_t>();
    case DA_FLOAT16:
      return extreme_half<Op, float16>(dtype);
    case DA_BFLOAT16:
      return extreme_half<Op, bfloat16>(dtype);
    case DA_FLOAT32:
      return extreme<Op, float>();
    default:
      return extreme<Op, double>();
  }
}

template <class Op>
Reducer place_reducer(int32_t dtype) {
  switch (dtype) {
    case DA_BOOL:
    case DA_UINT8:
      return place<Op, uint8_t>();
    case DA_INT8:
      return place<Op, int8_t>();
    case DA_INT16:
      return place<Op, int16_t>();
    case DA_UINT16:
      return place<Op, uint16_t>();
    case DA_INT32:
      return place<Op, int32_t>();
    case DA_UINT32:
      return place<Op, uint32_t>();
    case DA_INT64:
      return place<Op, int64_t>();
    case DA_UINT64:
      return place<Op, uint64_t>();
    case DA_FLOAT16:
    case DA_BFLOAT16:
      return place<Op, float>(widen_loop(dtype));
    case DA_FLOAT32:
      return place<Op, float>();
    default:
      return place<Op, double>();
  }
}

using Max = Extreme<true>;
using Min = Extreme<false>;

// The start of `any` is false and that of `all` true, as bytes.
void start_any(char *value) { write<uint8_t>(value, 0); }
void start_all(char *value) { write<uint8_t>(value, 1); }

}  // namespace

std::unique_ptr<Plan> build_reduce_max(const Request &request) {
  return reduce_plan(request, extreme_reducer<Max>(request.in(0).dtype));
}

std::unique_ptr<Plan> build_reduce_min(const Request &request) {
  return reduce_plan(request, extreme_reducer<Min>(request.in(0).dtype));
}

std::unique_ptr<Plan> build_reduce_any(const Request &request) {
  Reducer reducer = extreme<Max, uint8_t>();
  reducer.start = start_any;
  return reduce_plan(request, reducer);
}

std::unique_ptr<Plan> build_reduce_all(const Request &request) {
  Reducer reducer = extreme<Min, uint8_t>();
  reducer.start = start_all;
  return reduce_plan(request, reducer);
}

std::unique_ptr<Plan> build_reduce_argmax(const Request &request) {
  return reduce_plan(request, place_reducer<Max>(request.in(0).dtype));
}

std::unique_ptr<Plan> build_reduce_argmin(const Request &request) {
  return reduce_plan(request, place_reducer<Min>(request.in(0).dtype));
}

}  // namespace reference_cpu
