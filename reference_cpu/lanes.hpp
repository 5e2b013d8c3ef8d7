// Vectors as the compiler offers them, for reductions: it does not reorder float additions on its own, so the
// lanes of an accumulator are written out. The sizes are fixed; a processor with shorter registers uses
// several.
#ifndef REFERENCE_CPU_LANES_HPP
#define REFERENCE_CPU_LANES_HPP

#include <cstdint>
#include <cstring>

namespace reference_cpu {

template <class T, int kLanes>
struct VectorOf {
  typedef T type __attribute__((vector_size(sizeof(T) * kLanes)));
};
template <class T, int kLanes>
using Vector = typename VectorOf<T, kLanes>::type;

// The sum of many numbers with the rounding errors of each addition kept beside it (Neumaier, by Knuth's
// exact sum of two). T is a number or a vector. An infinite sum has no meaningful error and is its own
// result.
template <class T>
inline void add_exactly(T &sum, T &error, const T &x) {
  const T next = sum + x;
  const T part = next - sum;
  error += (sum - (next - part)) + (x - part);
  sum = next;
}

inline double with_error(double sum, double error) { return sum - sum == 0.0 ? sum + error : sum; }

}  // namespace reference_cpu

#endif
