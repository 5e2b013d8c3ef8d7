// See moments.hpp.
#include "moments.hpp"

#include "loops.hpp"

namespace reference_cpu {
namespace {

template <class C>
REFERENCE_CPU_CLONES double sum(const C *x, int64_t n) {
  return sum_terms<C>(
      n, [x](int64_t i, auto &lanes) __attribute__((always_inline)) { load_lanes(lanes, x + i); },
      [x](int64_t i) { return x[i]; });
}

// Adds the sums of the distances from `middle` and of their squares.
template <class C>
REFERENCE_CPU_CLONES void add_spread(double *sums, const C *x, int64_t n, C middle) {
  sum_pairs<C>(
      sums, n,
      [=](int64_t i, auto &distances, auto &squares) __attribute__((always_inline)) {
        load_lanes(distances, x + i);
        distances -= middle;
        squares = distances * distances;
      },
      [=](int64_t i, C &distance, C &square) {
        distance = x[i] - middle;
        square = distance * distance;
      });
}

template <class C>
REFERENCE_CPU_CLONES double sum_of_squares(const C *x, int64_t n) {
  return sum_terms<C>(
      n,
      [=](int64_t i, auto &lanes) __attribute__((always_inline)) {
        load_lanes(lanes, x + i);
        lanes *= lanes;
      },
      [=](int64_t i) { return x[i] * x[i]; });
}

}  // namespace

template <class C>
Moments moments_of(const char *x, int32_t dtype, const Group &group) {
  const int64_t width = item_size(dtype);
  const double count = static_cast<double>(group.size());
  Segment<C> segment(dtype);
  double total = 0;
  each_segment(group, [&](int64_t at, int64_t n) { total += sum(segment.read(x + at * width, n), n); });
  const C middle = static_cast<C>(total / count);
  double sums[2] = {};  // of distances, of squares
  each_segment(group,
               [&](int64_t at, int64_t n) { add_spread(sums, segment.read(x + at * width, n), n, middle); });
  const double rest = std::isfinite(total) ? sums[0] / count : 0;  // an infinite mean stays so
  const double variance = sums[1] / count - rest * rest;
  return {static_cast<double>(middle), rest, variance < 0 ? 0 : variance};  // NaN stays
}

template <class C>
double power_of(const char *x, int32_t dtype, const Group &group) {
  const int64_t width = item_size(dtype);
  Segment<C> segment(dtype);
  double total = 0;
  each_segment(group,
               [&](int64_t at, int64_t n) { total += sum_of_squares(segment.read(x + at * width, n), n); });
  return total / static_cast<double>(group.size());
}

template Moments moments_of<float>(const char *, int32_t, const Group &);
template Moments moments_of<double>(const char *, int32_t, const Group &);
template double power_of<float>(const char *, int32_t, const Group &);
template double power_of<double>(const char *, int32_t, const Group &);

}  // namespace reference_cpu
