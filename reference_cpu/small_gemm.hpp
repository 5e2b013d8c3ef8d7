// The plugin's own matrix product: for small matrices, for integers, and where there is no BLAS. Register
// blocks of kRows x kLanes; any strides of the left operand, unit column stride of the right one and of C.
#ifndef REFERENCE_CPU_SMALL_GEMM_HPP
#define REFERENCE_CPU_SMALL_GEMM_HPP

#include <cstdint>
#include <cstring>

#include "lanes.hpp"
#include "loops.hpp"

namespace reference_cpu {

// Strides in elements. Memory may have any alignment.
struct Matrix {
  char *data;
  int64_t row, column;
};

namespace {

template <class T>
inline T load(const Matrix &matrix, int64_t i, int64_t j) {
  T value;
  std::memcpy(&value, matrix.data + (i * matrix.row + j * matrix.column) * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

template <class T, int kRows, int kLanes>
inline __attribute__((always_inline)) void block(int64_t i, int64_t j, int64_t k, const Matrix &a,
                                                 const Matrix &b, const Matrix &c) {
  Vector<T, kLanes> sums[kRows] = {};
  for (int64_t p = 0; p < k; ++p) {
    Vector<T, kLanes> line;
    std::memcpy(&line, b.data + (p * b.row + j) * static_cast<int64_t>(sizeof(T)), sizeof(line));
    for (int r = 0; r < kRows; ++r) sums[r] += line * load<T>(a, i + r, p);
  }
  for (int r = 0; r < kRows; ++r) {
    std::memcpy(c.data + ((i + r) * c.row + j) * static_cast<int64_t>(sizeof(T)), &sums[r], sizeof(sums[r]));
  }
}

template <class T, int kLanes>
inline __attribute__((always_inline)) void strip(int64_t j, int64_t m, int64_t k, const Matrix &a,
                                                 const Matrix &b, const Matrix &c) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4) block<T, 4, kLanes>(i, j, k, a, b, c);
  for (; i < m; ++i) block<T, 1, kLanes>(i, j, k, a, b, c);
}

// C (m, n) = A (m, k) B (k, n).
template <class T>
REFERENCE_CPU_CLONES void vector_gemm(int64_t m, int64_t n, int64_t k, const Matrix &a, const Matrix &b,
                                      const Matrix &c) {
  constexpr int kWide = 64 / sizeof(T) < 16 ? 64 / sizeof(T) : 16;
  int64_t j = 0;
  for (; j + kWide <= n; j += kWide) strip<T, kWide>(j, m, k, a, b, c);
  if constexpr (kWide > 8) {
    for (; j + 8 <= n; j += 8) strip<T, 8>(j, m, k, a, b, c);
  }
  for (; j + 4 <= n; j += 4) strip<T, 4>(j, m, k, a, b, c);
  for (; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      T sum = 0;
      for (int64_t p = 0; p < k; ++p) sum = static_cast<T>(sum + load<T>(a, i, p) * load<T>(b, p, j));
      std::memcpy(c.data + (i * c.row + j) * static_cast<int64_t>(sizeof(T)), &sum, sizeof(T));
    }
  }
}

// The same for complex numbers (T is the complex type, R its parts): a row of C at a time.
template <class T, class R>
void complex_gemm(int64_t m, int64_t n, int64_t k, const Matrix &a, const Matrix &b, const Matrix &c) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      R real = 0, imaginary = 0;
      for (int64_t p = 0; p < k; ++p) {
        const T x = load<T>(a, i, p), y = load<T>(b, p, j);
        real += x.real() * y.real() - x.imag() * y.imag();
        imaginary += x.real() * y.imag() + x.imag() * y.real();
      }
      const T sum(real, imaginary);
      std::memcpy(c.data + (i * c.row + j) * static_cast<int64_t>(sizeof(T)), &sum, sizeof(T));
    }
  }
}

}  // namespace
}  // namespace reference_cpu

#endif
