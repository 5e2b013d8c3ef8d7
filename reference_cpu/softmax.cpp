// softmax, log_softmax and their gradients, a line along the axis at a time. Sums are those of
// reduce_lanes.hpp: float lanes for short blocks, float64 above.
#include <cmath>

#include "axis_plan.hpp"
#include "device_api/ops.h"
#include "error.hpp"
#include "families.hpp"
#include "softmax_line.hpp"

namespace reference_cpu {
namespace {

template <class C>
REFERENCE_CPU_CLONES void softmax_line(char *const *operands, int64_t n) {
  C *out = reinterpret_cast<C *>(operands[0]);
  const C *x = reinterpret_cast<const C *>(operands[1]);
  const C share = static_cast<C>(1.0 / write_powers(out, x, n));
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
