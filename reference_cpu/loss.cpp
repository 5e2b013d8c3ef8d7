// mse_loss of two tensors of one shape, in one pass: the terms are never written. Other shapes, 16-bit floats
// and losses that are not reduced are left to the composition.
#include <cstring>
#include <numeric>
#include <vector>

#include "device_api/ops.h"
#include "error.hpp"
#include "loops.hpp"
#include "loss.hpp"
#include "pool.hpp"
#include "reduce_lanes.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kPiece = 1 << 16;  // elements of one thread's piece, which has a sum of its own

template <class C>
REFERENCE_CPU_CLONES double squared_distance(const C *x, const C *target, int64_t n) {
  return sum_terms<C>(
      n,
      [=](int64_t i, auto &lanes) __attribute__((always_inline)) {
        auto other = lanes;
        load_lanes(lanes, x + i);
        load_lanes(other, target + i);
        lanes -= other;
        lanes *= lanes;
      },
      [=](int64_t i) { return (x[i] - target[i]) * (x[i] - target[i]); });
}

template <class C>
class SquaredErrorPlan final : public Plan {
 public:
  SquaredErrorPlan(const Request &request, bool mean) : count_(element_count(request.in(0))), mean_(mean) {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const C *x = reinterpret_cast<const C *>(address(inputs[0]));
    const C *target = reinterpret_cast<const C *>(address(inputs[1]));
    std::vector<double> sums(static_cast<size_t>((count_ + kPiece - 1) / kPiece));
    parallel_for(count_, kPiece, [&](int64_t begin, int64_t end) {
      sums[static_cast<size_t>(begin / kPiece)] = squared_distance(x + begin, target + begin, end - begin);
    });
    const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
    *reinterpret_cast<C *>(address(outputs[0])) =
        static_cast<C>(mean_ ? total / static_cast<double>(count_) : total);
  }

 private:
  int64_t count_;
  bool mean_;
};

const char *reduction_of(const Request &request) {
  return attributes_of<da_attributes_mse_loss>(request.attributes).reduction;
}

}  // namespace

bool takes_mse_loss(const Request &request) {
  const da_dl_tensor &x = request.in(0).dl, &target = request.in(1).dl;
  return std::strcmp(reduction_of(request), "none") != 0 && x.ndim == target.ndim &&
         std::equal(x.shape, x.shape + x.ndim, target.shape);
}

std::unique_ptr<Plan> build_mse_loss(const Request &request) {
  const bool mean = std::strcmp(reduction_of(request), "mean") == 0;
  if (request.out().dtype == DA_FLOAT64) return std::make_unique<SquaredErrorPlan<double>>(request, mean);
  return std::make_unique<SquaredErrorPlan<float>>(request, mean);
}

}  // namespace reference_cpu
