// Sums over a row of numbers, for kernels that reduce and then go over the row again: float lanes for blocks
// of a fixed length, whose sums are added up in float64. Everything is inlined into the caller's clones.
#ifndef REFERENCE_CPU_REDUCE_LANES_HPP
#define REFERENCE_CPU_REDUCE_LANES_HPP

#include <algorithm>
#include <cstring>

#include "lanes.hpp"

namespace reference_cpu {

constexpr int64_t kSumBlock = 1024;  // numbers that lanes add up before float64 takes over

// The sum of a vector's lanes in float64: halves are added, so that few additions wait for each other.
template <class C, int kLanes>
inline __attribute__((always_inline)) double sum_of_lanes(const Vector<C, kLanes> &lanes) {
  double sums[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) sums[lane] = static_cast<double>(lanes[lane]);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

// The sum over i in [0, n) of term(i, lanes), where term fills a vector from element i on, or for the rest of
// the row term(i) gives a single number.
template <class C, class Terms, class Term>
inline __attribute__((always_inline)) double sum_terms(int64_t n, const Terms &terms, const Term &term) {
  constexpr int kLanes = 64 / sizeof(C);
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kSumBlock) {
    const int64_t end = std::min(n, begin + kSumBlock);
    Vector<C, kLanes> first{}, second{};
    int64_t i = begin;
    for (; i + 2 * kLanes <= end; i += 2 * kLanes) {
      Vector<C, kLanes> a, b;
      terms(i, a);
      terms(i + kLanes, b);
      first += a;
      second += b;
    }
    first += second;
    double rest = 0;
    for (; i < end; ++i) rest += static_cast<double>(term(i));
    total += rest + sum_of_lanes<C, kLanes>(first);
  }
  return total;
}

// The same for two sums over the same elements, added to `totals`: terms(i, lanes, lanes) and
// term(i, number, number).
template <class C, class Terms, class Term>
inline __attribute__((always_inline)) void sum_pairs(double *totals, int64_t n, const Terms &terms,
                                                     const Term &term) {
  constexpr int kLanes = 64 / sizeof(C);
  for (int64_t begin = 0; begin < n; begin += kSumBlock) {
    const int64_t end = std::min(n, begin + kSumBlock);
    Vector<C, kLanes> left{}, more_left{}, right{}, more_right{};
    int64_t i = begin;
    for (; i + 2 * kLanes <= end; i += 2 * kLanes) {
      Vector<C, kLanes> a, b, c, d;
      terms(i, a, b);
      terms(i + kLanes, c, d);
      left += a;
      right += b;
      more_left += c;
      more_right += d;
    }
    left += more_left;
    right += more_right;
    double rest[2] = {};
    for (; i < end; ++i) {
      C a, b;
      term(i, a, b);
      rest[0] += static_cast<double>(a);
      rest[1] += static_cast<double>(b);
    }
    totals[0] += rest[0] + sum_of_lanes<C, kLanes>(left);
    totals[1] += rest[1] + sum_of_lanes<C, kLanes>(right);
  }
}

template <class V, class C>
inline __attribute__((always_inline)) void load_lanes(V &lanes, const C *from) {
  std::memcpy(&lanes, from, sizeof(lanes));
}

}  // namespace reference_cpu

#endif
