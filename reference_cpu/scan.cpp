// scan_sum and scan_prod: inclusive, over the last axis. float32 and narrower accumulate in float64 and round
// each result once; float64 sums carry their rounding errors along; integers wrap. A row is one thread's
// work, a few rows at a time: an addition waits for the one before it in its row, but not for other rows.
#include <algorithm>
#include <complex>
#include <cstring>

#include "families.hpp"
#include "lanes.hpp"
#include "pool.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kPiece = 1 << 15;  // elements that one thread takes at a time

template <class T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return narrow<T>(round_to_odd(value));
  } else {
    return static_cast<T>(value);
  }
}

// What has been added up so far; T is the element type.
template <class T>
struct Sum {
  double sum = 0, error = 0;
  void take(T x) {
    if constexpr (std::is_same_v<T, double>) {
      add_exactly(sum, error, x);
    } else {
      sum += static_cast<double>(widen(x));
    }
  }
  T result() const { return from_double<T>(std::is_same_v<T, double> ? with_error(sum, error) : sum); }
};

template <class R>
struct Sum<std::complex<R>> {
  Sum<R> real, imaginary;
  void take(std::complex<R> x) {
    real.take(x.real());
    imaginary.take(x.imag());
  }
  std::complex<R> result() const { return {real.result(), imaginary.result()}; }
};

template <class T>
struct Product {
  double made = 1;
  void take(T x) {
    if constexpr (std::is_same_v<T, double>) {
      made *= x;
    } else {
      made *= static_cast<double>(widen(x));
    }
  }
  T result() const { return from_double<T>(made); }
};

template <class R>
struct Product<std::complex<R>> {
  complex128 made{1.0, 0.0};
  void take(std::complex<R> x) { made *= complex128(x); }
  std::complex<R> result() const { return std::complex<R>(made); }
};

template <class T>
struct WrappingSum {
  T made = 0;
  void take(T x) { made = static_cast<T>(made + x); }
  T result() const { return made; }
};

template <class T>
struct WrappingProduct {
  T made = 1;
  void take(T x) { made = static_cast<T>(Wrap<T>{made} * Wrap<T>{x}); }
  T result() const { return made; }
};

constexpr int kTogether = 4;  // rows that one thread goes over at a time

// Where each of a few rows begins.
struct Rows {
  char *out[kTogether];
  const char *in[kTogether];
};

using Scan = void (*)(const Rows &rows, int count, int64_t out_stride, int64_t in_stride, int64_t n);

template <class Accumulator, class T, int kRows>
inline void scan_together(char *const *out_rows, const char *const *in_rows, int64_t out_stride,
                          int64_t in_stride, int64_t n) {
  Accumulator accumulators[kRows];
  char *out[kRows];
  const char *in[kRows];
  std::copy_n(out_rows, kRows, out);
  std::copy_n(in_rows, kRows, in);
  for (int64_t i = 0; i < n; ++i) {
    for (int row = 0; row < kRows; ++row) {
      T item;
      std::memcpy(static_cast<void *>(&item), in[row] + i * in_stride, sizeof(T));
      accumulators[row].take(item);
      const T made = accumulators[row].result();
      std::memcpy(out[row] + i * out_stride, &made, sizeof(T));
    }
  }
}

template <class Accumulator, class T>
void scan(const Rows &rows, int count, int64_t out_stride, int64_t in_stride, int64_t n) {
  if (count == kTogether) {
    return scan_together<Accumulator, T, kTogether>(rows.out, rows.in, out_stride, in_stride, n);
  }
  for (int row = 0; row < count; ++row) {
    scan_together<Accumulator, T, 1>(rows.out + row, rows.in + row, out_stride, in_stride, n);
  }
}

template <template <class> class OfFloats, template <class> class OfIntegers>
Scan scan_of(int32_t dtype) {
  switch (dtype) {
    case DA_INT8:
    case DA_UINT8:
      return scan<OfIntegers<uint8_t>, uint8_t>;
    case DA_INT16:
    case DA_UINT16:
      return scan<OfIntegers<uint16_t>, uint16_t>;
    case DA_INT32:
    case DA_UINT32:
      return scan<OfIntegers<uint32_t>, uint32_t>;
    case DA_INT64:
    case DA_UINT64:
      return scan<OfIntegers<uint64_t>, uint64_t>;
    case DA_FLOAT16:
      return scan<OfFloats<float16>, float16>;
    case DA_BFLOAT16:
      return scan<OfFloats<bfloat16>, bfloat16>;
    case DA_FLOAT32:
      return scan<OfFloats<float>, float>;
    case DA_FLOAT64:
      return scan<OfFloats<double>, double>;
    case DA_COMPLEX64:
      return scan<OfFloats<complex64>, complex64>;
    default:
      return scan<OfFloats<complex128>, complex128>;
  }
}

class ScanPlan final : public Plan {
 public:
  ScanPlan(const Request &request, Scan scan) : scan_(scan) {
    const da_dl_tensor &in = request.in(0).dl, &out = request.out().dl;
    const int64_t width = item_size(request.out().dtype);
    rank_ = out.ndim - 1;
    length_ = out.shape[rank_];
    in_stride_ = in.strides[rank_] * width;
    out_stride_ = out.strides[rank_] * width;
    for (int d = 0; d < rank_; ++d) {
      size_[d] = out.shape[d];
      in_step_[d] = in.strides[d] * width;
      out_step_[d] = out.strides[d] * width;
      rows_ *= size_[d];
    }
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const int64_t grain = std::max<int64_t>(1, kPiece / std::max<int64_t>(1, length_));
    parallel_for(rows_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; row += kTogether) {
        const int count = static_cast<int>(std::min<int64_t>(kTogether, end - row));
        Rows rows;
        for (int i = 0; i < count; ++i) {
          rows.in[i] = address(inputs[0]);
          rows.out[i] = address(outputs[0]);
          int64_t rest = row + i;
          for (int d = rank_ - 1; d >= 0; --d) {
            rows.in[i] += rest % size_[d] * in_step_[d];
            rows.out[i] += rest % size_[d] * out_step_[d];
            rest /= size_[d];
          }
        }
        scan_(rows, count, out_stride_, in_stride_, length_);
      }
    });
  }

 private:
  Scan scan_;
  int rank_;
  int64_t length_, in_stride_, out_stride_;
  int64_t rows_ = 1;
  int64_t size_[DA_MAX_RANK], in_step_[DA_MAX_RANK], out_step_[DA_MAX_RANK];
};

}  // namespace

std::unique_ptr<Plan> build_scan_sum(const Request &request) {
  return std::make_unique<ScanPlan>(request, scan_of<Sum, WrappingSum>(request.out().dtype));
}

std::unique_ptr<Plan> build_scan_prod(const Request &request) {
  return std::make_unique<ScanPlan>(request, scan_of<Product, WrappingProduct>(request.out().dtype));
}

}  // namespace reference_cpu
