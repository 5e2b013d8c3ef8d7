// batch_matmul. Large products of floats are cut into tiles that depend on the shape alone, and each tile is
// one call of single-threaded BLAS; small ones, integers and machines without BLAS use the plugin's own
// loops. 16-bit floats are widened to float32 and rounded once at the end. k = 0 writes zeros.
#include <algorithm>
#include <climits>
#include <complex>
#include <memory>
#include <vector>

#include "blas.hpp"
#include "families.hpp"
#include "halves.hpp"
#include "pool.hpp"
#include "small_gemm.hpp"
#include "strided.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kOwnWork = 24 * 24 * 24;  // m n k up to which the plugin's own loops are faster than BLAS
constexpr int64_t kParallel = int64_t{3} << 20;  // work from which threads pay
constexpr int64_t kTileRows = 256;               // the largest tile of C for BLAS
constexpr int64_t kTileColumns = 512;

using Gemm = void (*)(int64_t m, int64_t n, int64_t k, const Matrix &a, const Matrix &b, const Matrix &c);

// How BLAS reads a matrix: which of its two strides is 1.
struct Layout {
  bool fits;
  int transpose;
  int leading;
};

Layout layout_of(int64_t rows, int64_t columns, const Matrix &matrix) {
  // A dimension of size 1 has no stride that matters.
  const int64_t row = rows == 1 ? columns : matrix.row;
  const int64_t column = columns == 1 ? 1 : matrix.column;
  if (column == 1 && row >= columns && row <= INT_MAX) {
    return {true, kNoTranspose, static_cast<int>(row)};
  }
  const int64_t first = rows == 1 ? 1 : matrix.row;
  const int64_t second = columns == 1 ? rows : matrix.column;
  if (first == 1 && second >= rows && second <= INT_MAX) {
    return {true, kTranspose, static_cast<int>(second)};
  }
  return {false, kNoTranspose, 0};
}

template <class T>
void call_blas(int m, int n, int k, const Layout &la, const char *a, const Layout &lb, const char *b, char *c,
               int ldc) {
  const T one(1), zero(0);
  const T *x = reinterpret_cast<const T *>(a), *y = reinterpret_cast<const T *>(b);
  T *z = reinterpret_cast<T *>(c);
  const Blas &table = *blas();
  if constexpr (std::is_same_v<T, float>) {
    table.sgemm(kRowMajor, la.transpose, lb.transpose, m, n, k, one, x, la.leading, y, lb.leading, zero, z,
                ldc);
  } else if constexpr (std::is_same_v<T, double>) {
    table.dgemm(kRowMajor, la.transpose, lb.transpose, m, n, k, one, x, la.leading, y, lb.leading, zero, z,
                ldc);
  } else if constexpr (std::is_same_v<T, complex64>) {
    table.cgemm(kRowMajor, la.transpose, lb.transpose, m, n, k, &one, x, la.leading, y, lb.leading, &zero, z,
                ldc);
  } else {
    table.zgemm(kRowMajor, la.transpose, lb.transpose, m, n, k, &one, x, la.leading, y, lb.leading, &zero, z,
                ldc);
  }
}

template <class T>
constexpr bool kHasBlas = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                          std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;

template <class T>
void own_gemm(int64_t m, int64_t n, int64_t k, const Matrix &a, const Matrix &b, const Matrix &c) {
  if constexpr (std::is_same_v<T, complex64>) {
    complex_gemm<complex64, float>(m, n, k, a, b, c);
  } else if constexpr (std::is_same_v<T, complex128>) {
    complex_gemm<complex128, double>(m, n, k, a, b, c);
  } else {
    vector_gemm<T>(m, n, k, a, b, c);
  }
}

// A copy of a matrix without gaps.
class Packed {
 public:
  Packed(int64_t width, int64_t rows, int64_t columns, const Matrix &from) {
    const int64_t bytes = rows * columns * width;
    char *data = near_;
    if (bytes > static_cast<int64_t>(sizeof(near_))) {
      far_.reset(new char[static_cast<size_t>(bytes)]);
      data = far_.get();
    }
    gather(width, data, from.data, rows, columns, from.row * width, from.column * width);
    matrix_ = {data, columns, 1};
  }
  const Matrix &matrix() const { return matrix_; }

 private:
  alignas(64) char near_[2048];
  std::unique_ptr<char[]> far_;
  Matrix matrix_;
};

template <class T>
void own_tile(int64_t m, int64_t n, int64_t k, const Matrix &a, const Matrix &b, const Matrix &c) {
  // Rows far apart are brought together when they are read often enough.
  const bool near = m < 16 || b.row * static_cast<int64_t>(sizeof(T)) <= 1024;
  if (b.column == 1 && near) return own_gemm<T>(m, n, k, a, b, c);
  const Packed packed(sizeof(T), k, n, b);
  own_gemm<T>(m, n, k, a, packed.matrix(), c);
}

Matrix offset(const Matrix &matrix, int64_t width, int64_t i, int64_t j) {
  return {matrix.data + (i * matrix.row + j * matrix.column) * width, matrix.row, matrix.column};
}

// C has unit column stride.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, const Matrix &a, const Matrix &b, const Matrix &c) {
  if (m * n * k <= kOwnWork) return own_tile<T>(m, n, k, a, b, c);
  const bool has_blas = kHasBlas<T> && k <= INT_MAX && c.row <= INT_MAX && blas() != nullptr;
  const int64_t tile_rows = has_blas ? std::clamp<int64_t>((m / 4 + 15) / 16 * 16, 64, kTileRows) : 64;
  const int64_t tile_columns = has_blas ? kTileColumns : 64;
  const int64_t down = (m + tile_rows - 1) / tile_rows, across = (n + tile_columns - 1) / tile_columns;
  const int64_t grain = m * n * k < kParallel ? down * across : 1;
  Layout la{}, lb{};
  std::unique_ptr<Packed> packed_a, packed_b;
  Matrix left = a, right = b;
  if constexpr (kHasBlas<T>) {
    if (has_blas) {
      la = layout_of(m, k, left);
      if (!la.fits) {
        packed_a = std::make_unique<Packed>(sizeof(T), m, k, a);
        left = packed_a->matrix();
        la = layout_of(m, k, left);
      }
      lb = layout_of(k, n, right);
      if (!lb.fits) {
        packed_b = std::make_unique<Packed>(sizeof(T), k, n, b);
        right = packed_b->matrix();
        lb = layout_of(k, n, right);
      }
    }
  }
  parallel_for(down * across, grain, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t i = tile / across * tile_rows, j = tile % across * tile_columns;
      const int64_t rows = std::min(tile_rows, m - i), columns = std::min(tile_columns, n - j);
      const Matrix x = offset(left, sizeof(T), i, 0), y = offset(right, sizeof(T), 0, j);
      const Matrix z = offset(c, sizeof(T), i, j);
      if constexpr (kHasBlas<T>) {
        if (has_blas) {
          call_blas<T>(static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(k), la, x.data, lb,
                       y.data, z.data, static_cast<int>(std::max(c.row, n)));
          continue;
        }
      }
      own_tile<T>(rows, columns, k, x, y, z);
    }
  });
}

// Through float32, whatever the strides.
template <class Half>
void half_gemm(int64_t m, int64_t n, int64_t k, const Matrix &a, const Matrix &b, const Matrix &c) {
  const int32_t dtype = std::is_same_v<Half, float16> ? DA_FLOAT16 : DA_BFLOAT16;
  const Packed narrow_a(2, m, k, a), narrow_b(2, k, n, b);
  std::unique_ptr<float[]> wide(new float[static_cast<size_t>(m * k + k * n + m * n)]);
  float *const parts[] = {wide.get(), wide.get() + m * k, wide.get() + m * k + k * n};
  char *const first[] = {reinterpret_cast<char *>(parts[0]), narrow_a.matrix().data};
  char *const second[] = {reinterpret_cast<char *>(parts[1]), narrow_b.matrix().data};
  widen_loop(dtype)(first, m * k);
  widen_loop(dtype)(second, k * n);
  gemm<float>(m, n, k, {first[0], k, 1}, {second[0], n, 1}, {reinterpret_cast<char *>(parts[2]), n, 1});
  for (int64_t i = 0; i < m; ++i) {
    char *const line[] = {c.data + i * c.row * 2, reinterpret_cast<char *>(parts[2] + i * n)};
    narrow_loop(dtype)(line, n);
  }
}

Gemm gemm_of(int32_t dtype) {
  switch (dtype) {
    case DA_INT8:
    case DA_UINT8:
      return gemm<uint8_t>;
    case DA_INT16:
    case DA_UINT16:
      return gemm<uint16_t>;
    case DA_INT32:
    case DA_UINT32:
      return gemm<uint32_t>;
    case DA_INT64:
    case DA_UINT64:
      return gemm<uint64_t>;
    case DA_FLOAT16:
      return half_gemm<float16>;
    case DA_BFLOAT16:
      return half_gemm<bfloat16>;
    case DA_FLOAT32:
      return gemm<float>;
    case DA_FLOAT64:
      return gemm<double>;
    case DA_COMPLEX64:
      return gemm<complex64>;
    default:
      return gemm<complex128>;
  }
}

class MatmulPlan final : public Plan {
 public:
  explicit MatmulPlan(const Request &request)
      : gemm_(gemm_of(request.out().dtype)), width_(item_size(request.out().dtype)) {
    const da_dl_tensor &a = request.in(0).dl, &b = request.in(1).dl, &c = request.out().dl;
    rank_ = c.ndim - 2;
    m_ = c.shape[rank_];
    n_ = c.shape[rank_ + 1];
    k_ = a.shape[rank_ + 1];
    const da_dl_tensor *tensors[] = {&a, &b, &c};
    for (int t = 0; t < 3; ++t) {
      for (int d = 0; d < rank_; ++d) stride_[t][d] = tensors[t]->strides[d] * width_;
      form_[t] = {nullptr, tensors[t]->strides[rank_], tensors[t]->strides[rank_ + 1]};
    }
    for (int d = 0; d < rank_; ++d) batch_ *= shape_[d] = c.shape[d];
    // An output that is not row-major is made aside and put in its place.
    aside_ = n_ > 1 && form_[2].column != 1;
    if (m_ > 1 && form_[2].row < n_) aside_ = true;
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    char *const base[] = {address(inputs[0]), address(inputs[1]), address(outputs[0])};
    if (batch_ == 1) return run_one(base, 0);
    const int64_t work = m_ * n_ * k_;
    // Large products share themselves out; many small ones are shared out here.
    const int64_t grain = work * batch_ < kParallel ? batch_ : grain_of(kParallel, 4 * work);
    if (work >= kParallel && batch_ < 8) {
      for (int64_t i = 0; i < batch_; ++i) run_one(base, i);
      return;
    }
    parallel_for(batch_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) run_one(base, i);
    });
  }

 private:
  void run_one(char *const *base, int64_t index) const {
    Matrix matrix[3];
    for (int t = 0; t < 3; ++t) matrix[t] = {base[t], form_[t].row, form_[t].column};
    for (int d = rank_ - 1; d >= 0; --d) {
      const int64_t step = index % shape_[d];
      index /= shape_[d];
      for (int t = 0; t < 3; ++t) matrix[t].data += step * stride_[t][d];
    }
    if (!aside_) return multiply(matrix[0], matrix[1], matrix[2]);
    std::unique_ptr<char[]> made(new char[static_cast<size_t>(m_ * n_ * width_)]);
    multiply(matrix[0], matrix[1], {made.get(), n_, 1});
    scatter(width_, matrix[2].data, made.get(), m_, n_, matrix[2].row * width_, matrix[2].column * width_);
  }

  void multiply(const Matrix &a, const Matrix &b, const Matrix &c) const {
    if (k_ > 0) return gemm_(m_, n_, k_, a, b, c);
    for (int64_t i = 0; i < m_; ++i) {
      std::memset(c.data + i * c.row * width_, 0, static_cast<size_t>(n_ * width_));
    }
  }

  Gemm gemm_;
  int64_t width_;
  int rank_;
  int64_t m_, n_, k_;
  int64_t batch_ = 1;
  int64_t shape_[DA_MAX_RANK];
  int64_t stride_[3][DA_MAX_RANK];  // bytes, of the batch dimensions
  Matrix form_[3];                  // strides in elements
  bool aside_;
};

}  // namespace

std::unique_ptr<Plan> build_batch_matmul(const Request &request) {
  return std::make_unique<MatmulPlan>(request);
}

}  // namespace reference_cpu
