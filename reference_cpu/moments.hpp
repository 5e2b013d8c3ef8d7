// Means and variances of groups of numbers, for the normalisations. A group is one or more runs of contiguous
// elements; a run is read in segments, which 16-bit floats are widened for.
#ifndef REFERENCE_CPU_MOMENTS_HPP
#define REFERENCE_CPU_MOMENTS_HPP

#include <algorithm>
#include <cmath>

#include "halves.hpp"
#include "plan.hpp"
#include "reduce_lanes.hpp"

namespace reference_cpu {

constexpr int64_t kSegment = 4 * kSumBlock;

// Equally long runs, equally far apart; in elements.
struct Group {
  int64_t start, runs, length, apart;
  int64_t size() const { return runs * length; }
};

// Elements as numbers of type C: where they are, or widened into a buffer.
template <class C>
class Segment {
 public:
  explicit Segment(int32_t dtype) : half_(is_half(dtype)), dtype_(dtype) {}
  const C *read(const char *from, int64_t n) {
    if (!half_) return reinterpret_cast<const C *>(from);
    char *const pair[] = {reinterpret_cast<char *>(numbers_), const_cast<char *>(from)};
    widen_loop(dtype_)(pair, n);
    return numbers_;
  }
  // Where numbers for `to` may be written; `wrote` brings them there.
  C *place(char *to) { return half_ ? numbers_ : reinterpret_cast<C *>(to); }
  void wrote(char *to, int64_t n) {
    if (!half_) return;
    char *const pair[] = {to, reinterpret_cast<char *>(numbers_)};
    narrow_loop(dtype_)(pair, n);
  }

 private:
  const bool half_;
  const int32_t dtype_;
  alignas(64) C numbers_[kSegment];
};

// Calls body(place, n) for the segments of a group in order; `place` counts elements of the tensor.
template <class Body>
void each_segment(const Group &group, const Body &body) {
  for (int64_t run = 0; run < group.runs; ++run) {
    const int64_t start = group.start + run * group.apart;
    for (int64_t done = 0; done < group.length; done += kSegment) {
      body(start + done, std::min(kSegment, group.length - done));
    }
  }
}

// The mean in two parts, the second of which is what rounding to C took away, and the biased variance.
struct Moments {
  double middle, rest, variance;
  double scale(double epsilon) const { return 1.0 / std::sqrt(variance + epsilon); }
};

template <class C>
Moments moments_of(const char *x, int32_t dtype, const Group &group);

// The mean of squares.
template <class C>
double power_of(const char *x, int32_t dtype, const Group &group);

}  // namespace reference_cpu

#endif
