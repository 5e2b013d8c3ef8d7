// cross_entropy_gradient where the classes of a target are neighbours in memory: softmax and the rest of the
// formula in one go over a line. Other axes are left to the composition.
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "device_api/ops.h"
#include "error.hpp"
#include "line.hpp"
#include "loss.hpp"
#include "numbers.hpp"
#include "pool.hpp"
#include "softmax_line.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kPiece = 1 << 14;  // elements of one thread's piece

using Attributes = da_attributes_cross_entropy_gradient;

// out = (softmax(x) - 1 at the target) * share
template <class C>
REFERENCE_CPU_CLONES void write_line(C *out, const C *x, int64_t n, int64_t target, double share) {
  const double part = 1.0 / write_powers(out, x, n);
  // Of infinite shares both terms are infinite: the difference comes first.
  const double hit = (static_cast<double>(out[target]) * part - 1.0) * share;
  const C factor = static_cast<C>(part * share);
  for (int64_t i = 0; i < n; ++i) out[i] *= factor;
  out[target] = static_cast<C>(hit);
}

template <class C>
class CrossEntropyGradientPlan final : public Plan {
 public:
  CrossEntropyGradientPlan(const Request &request, const Attributes &attributes)
      : dtype_(request.out().dtype),
        classes_(request.in(0).dl.shape[attributes.axis]),
        count_(element_count(request.in(1))),
        mean_(std::strcmp(attributes.reduction, "mean") == 0),
        each_(std::strcmp(attributes.reduction, "none") == 0),
        ignores_(attributes.has_ignore_index != 0),
        ignored_(attributes.ignore_index) {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const int64_t *targets = reinterpret_cast<const int64_t *>(address(inputs[1]));
    const std::vector<double> scales = scales_of(targets, inputs[3]);
    const double whole = mean_ ? std::accumulate(scales.begin(), scales.end(), 0.0) : 1.0;
    const int64_t width = classes_ * item_size(dtype_);
    parallel_for(count_, grain_of(kPiece, classes_), [&](int64_t begin, int64_t end) {
      Line<C> scores(dtype_, classes_), made(dtype_, classes_);
      for (int64_t i = begin; i < end; ++i) {
        char *const out = address(outputs[0]) + i * width;
        const double scale = scales[static_cast<size_t>(i)];
        if (scale == 0) {  // whatever the scores are
          std::memset(out, 0, static_cast<size_t>(width));
        } else {
          const double share = number_at(inputs[2], each_ ? i : 0, 0) / whole * scale;
          const C *given = scores.read(address(inputs[0]) + i * width, classes_);
          write_line(made.place(out), given, classes_, targets[i], share);
          made.wrote(out, classes_);
        }
      }
    });
  }

 private:
  // What each target counts for. Every one that counts is a class.
  std::vector<double> scales_of(const int64_t *targets, const da_tensor *weight) const {
    std::vector<double> scales(static_cast<size_t>(count_));
    for (int64_t i = 0; i < count_; ++i) {
      if (ignores_ && targets[i] == ignored_) continue;
      if (targets[i] < 0 || targets[i] >= classes_) {
        throw Failure(DA_STATUS_OUT_OF_RANGE, "target " + std::to_string(targets[i]) + " at position " +
                                                  std::to_string(i) + " is none of the " +
                                                  std::to_string(classes_) + " classes; nothing was written");
      }
      scales[static_cast<size_t>(i)] = number_at(weight, targets[i], 1);
    }
    return scales;
  }

  int32_t dtype_;
  int64_t classes_, count_;
  bool mean_, each_, ignores_;
  int64_t ignored_;
};

}  // namespace

bool takes_cross_entropy_gradient(const Request &request) {
  const da_dl_tensor &scores = request.in(0).dl;
  int64_t inner = 1;
  for (int64_t d = attributes_of<Attributes>(request.attributes).axis + 1; d < scores.ndim; ++d) {
    inner *= scores.shape[d];
  }
  return inner == 1;
}

std::unique_ptr<Plan> build_cross_entropy_gradient(const Request &request) {
  const auto &attributes = attributes_of<Attributes>(request.attributes);
  if (request.out().dtype == DA_FLOAT64) {
    return std::make_unique<CrossEntropyGradientPlan<double>>(request, attributes);
  }
  return std::make_unique<CrossEntropyGradientPlan<float>>(request, attributes);
}

}  // namespace reference_cpu
