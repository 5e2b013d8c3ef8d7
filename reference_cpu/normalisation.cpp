// layer_norm, rms_norm and group_norm: groups of neighbouring elements, one after the other in memory.
#include <string>

#include "device_api/ops.h"
#include "error.hpp"
#include "families.hpp"
#include "moments.hpp"
#include "parameter.hpp"
#include "pool.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kPiece = 1 << 16;  // elements of one thread's piece

// With a weight and a bias for each element.
template <class C>
REFERENCE_CPU_CLONES void normalise(C *out, const C *x, int64_t n, C middle, C rest, C scale, const C *weight,
                                    const C *bias) {
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = ((x[i] - middle) - rest) * scale * weight[i] + bias[i];
}

// With the same ones for all.
template <class C>
REFERENCE_CPU_CLONES void normalise_run(C *out, const C *x, int64_t n, C middle, C rest, C scale, C weight,
                                        C bias) {
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = ((x[i] - middle) - rest) * scale * weight + bias;
}

struct Shape {
  int64_t groups, size;  // elements of a group
  int64_t run;           // neighbours that share a weight and a bias; 0: each has its own
  int64_t parameters;    // weights and biases that there are
  double epsilon;
  bool centred;
};

template <class C>
class NormPlan final : public Plan {
 public:
  NormPlan(const Request &request, const Shape &shape) : shape_(shape), dtype_(request.out().dtype) {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const char *x = address(inputs[0]);
    char *out = address(outputs[0]);
    const Parameter<C> weight(inputs[1], shape_.parameters, C(1));
    const Parameter<C> bias(shape_.centred ? inputs[2] : nullptr, shape_.parameters, C(-0.0));
    parallel_for(shape_.groups, grain_of(kPiece, shape_.size), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) run_group(i, x, out, weight.numbers(), bias.numbers());
    });
  }

 private:
  void run_group(int64_t index, const char *x, char *out, const C *weight, const C *bias) const {
    const int64_t width = item_size(dtype_);
    const Group group{index * shape_.size, 1, shape_.size, 0};
    Moments moments{0, 0, 0};
    if (shape_.centred) {
      moments = moments_of<C>(x, dtype_, group);
    } else {
      moments.variance = power_of<C>(x, dtype_, group);
    }
    const C middle = static_cast<C>(moments.middle), rest = static_cast<C>(moments.rest);
    const C scale = static_cast<C>(moments.scale(shape_.epsilon));
    Segment<C> from(dtype_), to(dtype_);
    each_segment(group, [&](int64_t at, int64_t n) {
      const C *numbers = from.read(x + at * width, n);
      C *made = to.place(out + at * width);
      if (shape_.run == 0) {
        const int64_t first = at - group.start;
        normalise(made, numbers, n, middle, rest, scale, weight + first, bias + first);
      } else {
        // Channels of `run` elements follow each other.
        for (int64_t done = 0; done < n;) {
          const int64_t place = at + done, channel = place / shape_.run % shape_.parameters;
          const int64_t count = std::min(n - done, shape_.run - place % shape_.run);
          normalise_run(made + done, numbers + done, count, middle, rest, scale, weight[channel],
                        bias[channel]);
          done += count;
        }
      }
      to.wrote(out + at * width, n);
    });
  }

  Shape shape_;
  int32_t dtype_;
};

std::unique_ptr<Plan> norm_plan(const Request &request, const Shape &shape) {
  if (request.out().dtype == DA_FLOAT64) return std::make_unique<NormPlan<double>>(request, shape);
  return std::make_unique<NormPlan<float>>(request, shape);
}

// All elements from `axis` on are a group.
Shape trailing(const da_dl_tensor &x, int64_t axis, double epsilon, bool centred) {
  if (axis < 0 || axis >= x.ndim) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT,
                  "axis " + std::to_string(axis) + " is none of the " + std::to_string(x.ndim) + " axes");
  }
  Shape shape{1, 1, 0, 0, epsilon, centred};
  for (int64_t d = 0; d < x.ndim; ++d) (d < axis ? shape.groups : shape.size) *= x.shape[d];
  shape.parameters = shape.size;
  return shape;
}

}  // namespace

std::unique_ptr<Plan> build_layer_norm(const Request &request) {
  const auto &attributes = attributes_of<da_attributes_layer_norm>(request.attributes);
  return norm_plan(request, trailing(request.in(0).dl, attributes.axis, attributes.epsilon, true));
}

std::unique_ptr<Plan> build_rms_norm(const Request &request) {
  const auto &attributes = attributes_of<da_attributes_rms_norm>(request.attributes);
  return norm_plan(request, trailing(request.in(0).dl, attributes.axis, attributes.epsilon, false));
}

std::unique_ptr<Plan> build_group_norm(const Request &request) {
  const auto &attributes = attributes_of<da_attributes_group_norm>(request.attributes);
  const da_dl_tensor &x = request.in(0).dl;
  if (x.ndim < 2 || attributes.groups < 1 || x.shape[1] % attributes.groups != 0) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT,
                  "there are no " + std::to_string(attributes.groups) + " equal groups of channels");
  }
  int64_t run = 1;
  for (int d = 2; d < x.ndim; ++d) run *= x.shape[d];
  const int64_t size = x.shape[1] / attributes.groups * run;
  return norm_plan(request,
                   Shape{x.shape[0] * attributes.groups, size, run, x.shape[1], attributes.epsilon, true});
}

}  // namespace reference_cpu
