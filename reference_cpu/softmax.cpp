// softmax, log_softmax and their gradients, a line along the axis at a time. Sums are those of
// reduce_lanes.hpp: float lanes for short blocks, float64 above.
#include <cmath>

#include "axis_plan.hpp"
#include "device_api/ops.h"
#include "error.hpp"
#include "families.hpp"
#include "reduce_lanes.hpp"
#include "vector_math.hpp"
#include "vector_math64.hpp"

namespace reference_cpu {
namespace {

// NaN is passed over: it comes back by the exponentials.
template <class C>
inline __attribute__((always_inline)) C greatest(const C *x, int64_t n) {
  constexpr int kLanes = 64 / sizeof(C);
  C best = -std::numeric_limits<C>::infinity();
  int64_t i = 0;
  if (n >= kLanes) {
    Vector<C, kLanes> lanes, next;
    load_lanes(lanes, x);
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
      load_lanes(next, x + i);
      lanes = next > lanes ? next : lanes;
    }
    for (int lane = 0; lane < kLanes; ++lane) best = lanes[lane] > best ? lanes[lane] : best;
  }
  for (; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

template <class C>
inline __attribute__((always_inline)) double sum_of(const C *x, int64_t n) {
  return sum_terms<C>(
      n, [x](int64_t i, auto &lanes) __attribute__((always_inline)) { load_lanes(lanes, x + i); },
      [x](int64_t i) { return x[i]; });
}

template <class C>
REFERENCE_CPU_CLONES void softmax_line(char *const *operands, int64_t n) {
  C *out = reinterpret_cast<C *>(operands[0]);
  const C *x = reinterpret_cast<const C *>(operands[1]);
  const C top = greatest(x, n);
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kSumBlock) {
    const int64_t end = std::min(n, begin + kSumBlock);
    REFERENCE_CPU_INDEPENDENT
    for (int64_t i = begin; i < end; ++i) out[i] = vector_math::exp_of_difference(x[i], top);
    total += sum_of(out + begin, end - begin);
  }
  const C share = static_cast<C>(1.0 / total);
  for (int64_t i = 0; i < n; ++i) out[i] *= share;
}

template <class C>
REFERENCE_CPU_CLONES void log_softmax_line(char *const *operands, int64_t n) {
  C *out = reinterpret_cast<C *>(operands[0]);
  const C *x = reinterpret_cast<const C *>(operands[1]);
  const C top = greatest(x, n);
  double total = 0;
  alignas(64) C powers[kSumBlock];
  for (int64_t begin = 0; begin < n; begin += kSumBlock) {
    const int64_t count = std::min(n - begin, kSumBlock);
    for (int64_t i = 0; i < count; ++i) powers[i] = vector_math::exp_of_difference(x[begin + i], top);
    total += sum_of(powers, count);
  }
  const C level = static_cast<C>(std::log(total));
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = (x[i] - top) - level;
}

template <class C>
REFERENCE_CPU_CLONES void softmax_gradient_line(char *const *operands, int64_t n) {
  C *out = reinterpret_cast<C *>(operands[0]);
  const C *upstream = reinterpret_cast<const C *>(operands[1]);
  const C *result = reinterpret_cast<const C *>(operands[2]);
  const double product = sum_terms<C>(
      n,
      [=](int64_t i, auto &lanes) __attribute__((always_inline)) {
        auto other = lanes;
        load_lanes(lanes, upstream + i);
        load_lanes(other, result + i);
        lanes *= other;
      },
      [=](int64_t i) { return upstream[i] * result[i]; });
  const C level = static_cast<C>(product);
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = result[i] * (upstream[i] - level);
}

template <class C>
REFERENCE_CPU_CLONES void log_softmax_gradient_line(char *const *operands, int64_t n) {
  C *out = reinterpret_cast<C *>(operands[0]);
  const C *upstream = reinterpret_cast<const C *>(operands[1]);
  const C *result = reinterpret_cast<const C *>(operands[2]);
  const C total = static_cast<C>(sum_of(upstream, n));
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = upstream[i] - vector_math::exp(result[i]) * total;
}

}  // namespace

std::unique_ptr<Plan> build_softmax(const Request &request) {
  const int64_t axis = attributes_of<da_attributes_softmax>(request.attributes).axis;
  return axis_plan(request, axis, {softmax_line<float>, softmax_line<double>}, 4);
}

std::unique_ptr<Plan> build_log_softmax(const Request &request) {
  const int64_t axis = attributes_of<da_attributes_log_softmax>(request.attributes).axis;
  return axis_plan(request, axis, {log_softmax_line<float>, log_softmax_line<double>}, 4);
}

std::unique_ptr<Plan> build_softmax_gradient(const Request &request) {
  const int64_t axis = attributes_of<da_attributes_softmax_gradient>(request.attributes).axis;
  return axis_plan(request, axis, {softmax_gradient_line<float>, softmax_gradient_line<double>}, 2);
}

std::unique_ptr<Plan> build_log_softmax_gradient(const Request &request) {
  const int64_t axis = attributes_of<da_attributes_log_softmax_gradient>(request.attributes).axis;
  return axis_plan(request, axis, {log_softmax_gradient_line<float>, log_softmax_gradient_line<double>}, 4);
}

}  // namespace reference_cpu
