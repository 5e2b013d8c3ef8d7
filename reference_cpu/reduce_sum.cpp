// reduce_sum and reduce_prod. Sums of float32 and narrower accumulate short blocks in float32 and those in
// float64; those of float64 carry their rounding errors along; integers wrap. A complex number is two sums
// side by side.
#include <algorithm>
#include <complex>

#include "families.hpp"
#include "halves.hpp"
#include "lanes.hpp"
#include "reduce.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

constexpr int kLanes = 8;

// The sums of the numbers at even and at odd places.
struct Pair {
  double sum[2];
  double error[2];
};
static_assert(sizeof(Pair) <= kValueBytes, "a partial result fits");

Pair &pair_of(char *value) { return *reinterpret_cast<Pair *>(value); }
const Pair &pair_of(const char *value) { return *reinterpret_cast<const Pair *>(value); }

void start_pair(char *value) { pair_of(value) = Pair{}; }

void add_to(Pair &pair, int place, double x) { add_exactly(pair.sum[place], pair.error[place], x); }

void merge_pair(char *value, const char *later) {
  for (int place = 0; place < 2; ++place) {
    add_to(pair_of(value), place, pair_of(later).sum[place]);
    pair_of(value).error[place] += pair_of(later).error[place];
  }
}

// The same block in float64, for sums that pass the range of float32 on their way.
void add_block(Pair &pair, const Cell<float> *x, int64_t n) {
  double even = 0, odd = 0;
  int64_t i = 0;
  for (; i + 2 <= n; i += 2) {
    even += static_cast<double>(x[i].value);
    odd += static_cast<double>(x[i + 1].value);
  }
  if (i < n) even += static_cast<double>(x[i].value);
  pair.sum[0] += even;
  pair.sum[1] += odd;
}

// x[0..n) float32: lanes, each of one parity for the sake of complex numbers, add up blocks in float32, 16
// numbers each, and the blocks' sums are added up in float64. A sum that is not finite is made once more.
REFERENCE_CPU_CLONES void sum_float32(char *value, const char *x, int64_t n, int64_t) {
  constexpr int kWide = 16, kHalf = kWide / 2, kChains = 4;
  constexpr int64_t kBlock = 16 * kWide * kChains;
  Pair &pair = pair_of(value);
  Vector<double, kHalf> sums{};
  int64_t done = 0;
  for (; done + kBlock <= n; done += kBlock) {
    Vector<float, kWide> chain[kChains] = {};
    for (int64_t i = done; i < done + kBlock; i += kWide * kChains) {
      for (int c = 0; c < kChains; ++c) {
        Vector<float, kWide> a;
        std::memcpy(&a, x + (i + c * kWide) * 4, sizeof(a));
        chain[c] += a;
      }
    }
    const Vector<float, kWide> all = (chain[0] + chain[1]) + (chain[2] + chain[3]);
    Vector<float, kHalf> half[2];
    std::memcpy(half, &all, sizeof(all));
    sums += __builtin_convertvector(half[0], Vector<double, kHalf>);
    sums += __builtin_convertvector(half[1], Vector<double, kHalf>);
  }
  const double even = (sums[0] + sums[2]) + (sums[4] + sums[6]),
               odd = (sums[1] + sums[3]) + (sums[5] + sums[7]);
  if (even - even == 0 && odd - odd == 0) {
    pair.sum[0] += even;
    pair.sum[1] += odd;
  } else {
    done = 0;
  }
  add_block(pair, reinterpret_cast<const Cell<float> *>(x) + done, n - done);
}

REFERENCE_CPU_CLONES void sum_float64(char *value, const char *x, int64_t n, int64_t) {
  Vector<double, kLanes> sum{}, error{};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Vector<double, kLanes> a;
    std::memcpy(&a, x + i * 8, sizeof(a));
    add_exactly(sum, error, a);
  }
  Pair &pair = pair_of(value);
  if (i > 0) {
    for (int lane = 0; lane < kLanes; ++lane) {
      add_to(pair, lane % 2, sum[lane]);
      pair.error[lane % 2] += error[lane];
    }
  }
  const Cell<double> *rest = reinterpret_cast<const Cell<double> *>(x);
  for (; i < n; ++i) add_to(pair, static_cast<int>(i % 2), rest[i].value);
}

// Complex elements are pairs of numbers already.
template <void (*sum)(char *, const char *, int64_t, int64_t)>
void sum_complex(char *value, const char *x, int64_t n, int64_t first) {
  sum(value, x, 2 * n, first);
}

double total(const Pair &pair) {
  Pair both = pair;
  add_to(both, 0, both.sum[1]);
  return with_error(both.sum[0], both.error[0] + both.error[1]);
}

template <class T>
void store(char *out, T value) {
  std::memcpy(out, &value, sizeof(value));
}

template <class T>
void finish_real(char *out, const char *value) {
  const double exact = total(pair_of(value));
  if constexpr (std::is_floating_point_v<T>) {
    store(out, static_cast<T>(exact));
  } else {
    store(out, narrow<T>(round_to_odd(exact)));
  }
}

template <class T>
void finish_complex(char *out, const char *value) {
  const Pair &pair = pair_of(value);
  for (int place = 0; place < 2; ++place) {
    store(out + place * static_cast<int64_t>(sizeof(T)),
          static_cast<T>(with_error(pair.sum[place], pair.error[place])));
  }
}

REFERENCE_CPU_CLONES void columns_float32(char *out, int64_t out_stride, const char *x, int64_t rows,
                                          int64_t row_stride, int64_t columns) {
  double sums[kColumnTile];
  std::fill(sums, sums + columns, 0.0);
  int64_t row = 0;
  for (; row + 4 <= rows; row += 4, x += 4 * row_stride) {  // four rows for each time the sums are touched
    const Cell<float> *a = reinterpret_cast<const Cell<float> *>(x);
    const Cell<float> *b = reinterpret_cast<const Cell<float> *>(x + row_stride);
    const Cell<float> *c = reinterpret_cast<const Cell<float> *>(x + 2 * row_stride);
    const Cell<float> *d = reinterpret_cast<const Cell<float> *>(x + 3 * row_stride);
    for (int64_t i = 0; i < columns; ++i) {
      sums[i] += (static_cast<double>(a[i].get()) + static_cast<double>(b[i].get())) +
                 (static_cast<double>(c[i].get()) + static_cast<double>(d[i].get()));
    }
  }
  for (; row < rows; ++row, x += row_stride) {
    const Cell<float> *cell = reinterpret_cast<const Cell<float> *>(x);
    for (int64_t c = 0; c < columns; ++c) sums[c] += static_cast<double>(cell[c].value);
  }
  for (int64_t c = 0; c < columns; ++c) store(out + c * out_stride, static_cast<float>(sums[c]));
}

REFERENCE_CPU_CLONES void columns_float64(char *out, int64_t out_stride, const char *x, int64_t rows,
                                          int64_t row_stride, int64_t columns) {
  double sums[kColumnTile], errors[kColumnTile];
  std::fill(sums, sums + columns, 0.0);
  std::fill(errors, errors + columns, 0.0);
  for (int64_t row = 0; row < rows; ++row, x += row_stride) {
    const Cell<double> *cell = reinterpret_cast<const Cell<double> *>(x);
    for (int64_t c = 0; c < columns; ++c) add_exactly(sums[c], errors[c], cell[c].value);
  }
  for (int64_t c = 0; c < columns; ++c) store(out + c * out_stride, with_error(sums[c], errors[c]));
}

struct Plus {
  static constexpr uint64_t identity = 0;
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
  }
};
struct Times {
  static constexpr uint64_t identity = 1;
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
  }
};

template <class Op, class T>
void start_integer(char *value) {
  store(value, static_cast<T>(Op::identity));
}

template <class Op, class T>
REFERENCE_CPU_CLONES void chunk_integer(char *value, const char *x, int64_t n, int64_t) {
  const Cell<T> *cell = reinterpret_cast<const Cell<T> *>(x);
  T made;
  std::memcpy(&made, value, sizeof(T));
  for (int64_t i = 0; i < n; ++i) made = Op::apply(made, cell[i].value);
  store(value, made);
}

template <class Op, class T>
void merge_integer(char *value, const char *later) {
  chunk_integer<Op, T>(value, later, 1, 0);
}

template <class T>
void finish_integer(char *out, const char *value) {
  std::memcpy(out, value, sizeof(T));
}

template <class Op, class T>
REFERENCE_CPU_CLONES void columns_integer(char *out, int64_t out_stride, const char *x, int64_t rows,
                                          int64_t row_stride, int64_t columns) {
  T made[kColumnTile];
  for (int64_t c = 0; c < columns; ++c) made[c] = static_cast<T>(Op::identity);
  for (int64_t row = 0; row < rows; ++row, x += row_stride) {
    const Cell<T> *cell = reinterpret_cast<const Cell<T> *>(x);
    for (int64_t c = 0; c < columns; ++c) made[c] = Op::apply(made[c], cell[c].value);
  }
  for (int64_t c = 0; c < columns; ++c) store(out + c * out_stride, made[c]);
}

template <class Op, class T>
Reducer integer_reducer() {
  return {start_integer<Op, T>, chunk_integer<Op, T>, merge_integer<Op, T>, finish_integer<T>,
          columns_integer<Op, T>};
}

template <class Op>
Reducer integer_reducer(int64_t width) {
  switch (width) {
    case 1:
      return integer_reducer<Op, uint8_t>();
    case 2:
      return integer_reducer<Op, uint16_t>();
    case 4:
      return integer_reducer<Op, uint32_t>();
    default:
      return integer_reducer<Op, uint64_t>();
  }
}

// Products: float32 and narrower in float64, one after the other; M is the type that multiplies.
template <class M>
void start_product(char *value) {
  store(value, M(1));
}

template <class T, class M>
void chunk_product(char *value, const char *x, int64_t n, int64_t) {
  M made;
  std::memcpy(&made, value, sizeof(M));
  for (int64_t i = 0; i < n; ++i) {
    T item;
    std::memcpy(&item, x + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    made *= M(item);
  }
  store(value, made);
}

template <class M>
void merge_product(char *value, const char *later) {
  chunk_product<M, M>(value, later, 1, 0);
}

template <class T, class M>
void finish_product(char *out, const char *value) {
  M made;
  std::memcpy(&made, value, sizeof(M));
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    store(out, narrow<T>(round_to_odd(made)));
  } else {
    store(out, T(made));
  }
}

template <class T, class X, class M>
Reducer product_reducer(Loop widen = nullptr) {
  return {start_product<M>, chunk_product<X, M>, merge_product<M>, finish_product<T, M>, nullptr, widen};
}

Reducer sum_reducer(int32_t dtype) {
  switch (dtype) {
    case DA_FLOAT16:
      return {start_pair, sum_float32, merge_pair, finish_real<float16>, nullptr, widen_loop(dtype)};
    case DA_BFLOAT16:
      return {start_pair, sum_float32, merge_pair, finish_real<bfloat16>, nullptr, widen_loop(dtype)};
    case DA_FLOAT32:
      return {start_pair, sum_float32, merge_pair, finish_real<float>, columns_float32};
    case DA_FLOAT64:
      return {start_pair, sum_float64, merge_pair, finish_real<double>, columns_float64};
    case DA_COMPLEX64:
      return {start_pair, sum_complex<sum_float32>, merge_pair, finish_complex<float>};
    case DA_COMPLEX128:
      return {start_pair, sum_complex<sum_float64>, merge_pair, finish_complex<double>};
    default:
      return integer_reducer<Plus>(item_size(dtype));
  }
}

Reducer prod_reducer(int32_t dtype) {
  switch (dtype) {
    case DA_FLOAT16:
      return product_reducer<float16, float, double>(widen_loop(dtype));
    case DA_BFLOAT16:
      return product_reducer<bfloat16, float, double>(widen_loop(dtype));
    case DA_FLOAT32:
      return product_reducer<float, float, double>();
    case DA_FLOAT64:
      return product_reducer<double, double, double>();
    case DA_COMPLEX64:
      return product_reducer<complex64, complex64, complex128>();
    case DA_COMPLEX128:
      return product_reducer<complex128, complex128, complex128>();
    default:
      return integer_reducer<Times>(item_size(dtype));
  }
}

}  // namespace

std::unique_ptr<Plan> build_reduce_sum(const Request &request) {
  return reduce_plan(request, sum_reducer(request.in(0).dtype));
}

std::unique_ptr<Plan> build_reduce_prod(const Request &request) {
  return reduce_plan(request, prod_reducer(request.in(0).dtype));
}

}  // namespace reference_cpu
