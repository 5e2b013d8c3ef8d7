// batch_norm, batch_norm_training, and standardize with its gradient: a group is spread over a tensor as
// runs, one for each image. Groups whose runs are short are left to the composition of other kernels.
#include <optional>
#include <vector>

#include "device_api/ops.h"
#include "error.hpp"
#include "families.hpp"
#include "moments.hpp"
#include "numbers.hpp"
#include "pool.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kShortRun = 8;     // elements below which the passes over runs do not pay,
constexpr int64_t kSmall = 4096;     // unless there are few elements
constexpr int64_t kPiece = 1 << 14;  // elements of one thread's piece

template <class C>
REFERENCE_CPU_CLONES void affine(C *out, const C *x, int64_t n, C middle, C rest, C scale, C bias) {
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = ((x[i] - middle) - rest) * scale + bias;
}

// Adds the sum of `upstream`, and that of its products with the distances of x from its mean.
template <class C>
REFERENCE_CPU_CLONES void products(double *sums, const C *upstream, const C *x, int64_t n, C middle, C rest) {
  sum_pairs<C>(
      sums, n,
      [=](int64_t i, auto &left, auto &right) __attribute__((always_inline)) {
        load_lanes(left, upstream + i);
        load_lanes(right, x + i);
        right = ((right - middle) - rest) * left;
      },
      [=](int64_t i, C &left, C &right) {
        left = upstream[i];
        right = ((x[i] - middle) - rest) * left;
      });
}

// out = (upstream - mean - distance * slope) * scale
template <class C>
REFERENCE_CPU_CLONES void gradient(C *out, const C *upstream, const C *x, int64_t n, C middle, C rest, C mean,
                                   C slope, C scale) {
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const C distance = (x[i] - middle) - rest;
    out[i] = ((upstream[i] - mean) - distance * slope) * scale;
  }
}

// The groups of a row-major tensor over some of its axes: runs x groups x length, or groups x length.
struct Layout {
  int64_t runs = 1, groups = 1, length = 1;
  Group group(int64_t index) const { return {index * length, runs, length, groups * length}; }
  int64_t size() const { return runs * length; }
};

// None when the axes do not lie so, or the runs are short.
std::optional<Layout> layout_of(const da_dl_tensor &x, const int64_t *axes, int64_t count) {
  Layout layout;
  int stage = 0;  // 0: in the runs, 1: in the groups, 2: in the length
  for (int64_t d = 0; d < x.ndim; ++d) {
    if (x.shape[d] == 1) continue;
    const bool reduced = std::find(axes, axes + count, d) != axes + count;
    if (reduced && stage == 1) stage = 2;
    if (!reduced && stage == 2) return std::nullopt;
    if (!reduced) stage = 1;
    (stage == 0 ? layout.runs : stage == 1 ? layout.groups : layout.length) *= x.shape[d];
  }
  if (stage == 0) std::swap(layout.runs, layout.length);  // one group of everything
  const bool small = layout.size() * layout.groups <= kSmall;
  if (layout.length < kShortRun && !small) return std::nullopt;
  return layout;
}

Layout channels_of(const da_dl_tensor &x) {
  std::vector<int64_t> axes{0};
  for (int64_t d = 2; d < x.ndim; ++d) axes.push_back(d);
  const std::optional<Layout> layout = layout_of(x, axes.data(), static_cast<int64_t>(axes.size()));
  if (!layout) throw Failure(DA_STATUS_UNIMPLEMENTED, "takes no large batches of images this small");
  return *layout;
}

template <class C>
void apply(const da_tensor *x, const da_tensor *out, const Group &group, const Moments &moments, double scale,
           double bias) {
  const int32_t dtype = x->dtype;
  const int64_t width = item_size(dtype);
  Segment<C> from(dtype), to(dtype);
  each_segment(group, [&](int64_t at, int64_t n) {
    C *made = to.place(address(out) + at * width);
    affine(made, from.read(address(x) + at * width, n), n, static_cast<C>(moments.middle),
           static_cast<C>(moments.rest), static_cast<C>(scale), static_cast<C>(bias));
    to.wrote(address(out) + at * width, n);
  });
}

template <class C>
class InferencePlan final : public Plan {
 public:
  InferencePlan(const Request &request, double epsilon)
      : layout_(channels_of(request.in(0).dl)), epsilon_(epsilon) {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    parallel_for(layout_.groups, grain_of(kPiece, layout_.size()), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        const Moments moments{number_at(inputs[1], c, 0), 0, number_at(inputs[2], c, 0)};
        const double scale = moments.scale(epsilon_) * number_at(inputs[3], c, 1);
        apply<C>(inputs[0], outputs[0], layout_.group(c), moments, scale, number_at(inputs[4], c, 0));
      }
    });
  }

 private:
  Layout layout_;
  double epsilon_;
};

template <class C>
class TrainingPlan final : public Plan {
 public:
  TrainingPlan(const Request &request, double momentum, double epsilon)
      : layout_(channels_of(request.in(0).dl)), momentum_(momentum), epsilon_(epsilon) {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const double count = static_cast<double>(layout_.size());
    parallel_for(layout_.groups, grain_of(kPiece, layout_.size()), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        const Group group = layout_.group(c);
        const Moments moments = moments_of<C>(address(inputs[0]), inputs[0]->dtype, group);
        const double scale = moments.scale(epsilon_) * number_at(inputs[3], c, 1);
        apply<C>(inputs[0], outputs[0], group, moments, scale, number_at(inputs[4], c, 0));
        const double mean = moments.middle + moments.rest, spread = moments.variance * count / (count - 1.0);
        set_number(outputs[1], c, number_at(inputs[1], c, 0) * (1.0 - momentum_) + mean * momentum_);
        set_number(outputs[2], c, number_at(inputs[2], c, 0) * (1.0 - momentum_) + spread * momentum_);
      }
    });
  }

 private:
  Layout layout_;
  double momentum_, epsilon_;
};

template <class C>
class StandardizePlan final : public Plan {
 public:
  StandardizePlan(const Layout &layout, double epsilon) : layout_(layout), epsilon_(epsilon) {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    parallel_for(layout_.groups, grain_of(kPiece, layout_.size()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Group group = layout_.group(i);
        const Moments moments = moments_of<C>(address(inputs[0]), inputs[0]->dtype, group);
        apply<C>(inputs[0], outputs[0], group, moments, moments.scale(epsilon_), 0);
      }
    });
  }

 private:
  Layout layout_;
  double epsilon_;
};

template <class C>
class GradientPlan final : public Plan {
 public:
  GradientPlan(const Layout &layout, double epsilon) : layout_(layout), epsilon_(epsilon) {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    parallel_for(layout_.groups, grain_of(kPiece, layout_.size()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        run_group(address(inputs[0]), address(inputs[1]), address(outputs[0]), inputs[0]->dtype,
                  layout_.group(i));
      }
    });
  }

 private:
  void run_group(const char *upstream, const char *x, char *out, int32_t dtype, const Group &group) const {
    const int64_t width = item_size(dtype);
    const Moments moments = moments_of<C>(x, dtype, group);
    const C middle = static_cast<C>(moments.middle), rest = static_cast<C>(moments.rest);
    Segment<C> left(dtype), right(dtype), to(dtype);
    double sums[2] = {};
    each_segment(group, [&](int64_t at, int64_t n) {
      products(sums, left.read(upstream + at * width, n), right.read(x + at * width, n), n, middle, rest);
    });
    const double scale = moments.scale(epsilon_), count = static_cast<double>(group.size());
    const C slope = static_cast<C>(sums[1] / count * scale * scale);
    each_segment(group, [&](int64_t at, int64_t n) {
      gradient(to.place(out + at * width), left.read(upstream + at * width, n), right.read(x + at * width, n),
               n, middle, rest, static_cast<C>(sums[0] / count), slope, static_cast<C>(scale));
      to.wrote(out + at * width, n);
    });
  }

  Layout layout_;
  double epsilon_;
};

Layout asked_for(const da_dl_tensor &x, const int64_t *axes, int64_t count) {
  const std::optional<Layout> layout = layout_of(x, axes, count);
  if (!layout) throw Failure(DA_STATUS_UNIMPLEMENTED, "takes groups of long runs only");
  return *layout;
}

template <template <class> class OfType, class... Arguments>
std::unique_ptr<Plan> by_type(int32_t dtype, const Arguments &...arguments) {
  if (dtype == DA_FLOAT64) return std::make_unique<OfType<double>>(arguments...);
  return std::make_unique<OfType<float>>(arguments...);
}

}  // namespace

std::unique_ptr<Plan> build_batch_norm(const Request &request) {
  const auto &attributes = attributes_of<da_attributes_batch_norm>(request.attributes);
  return by_type<InferencePlan>(request.out().dtype, request, attributes.epsilon);
}

std::unique_ptr<Plan> build_batch_norm_training(const Request &request) {
  const auto &attributes = attributes_of<da_attributes_batch_norm_training>(request.attributes);
  return by_type<TrainingPlan>(request.out().dtype, request, attributes.momentum, attributes.epsilon);
}

std::unique_ptr<Plan> build_standardize(const Request &request) {
  const auto &attributes = attributes_of<da_attributes_standardize>(request.attributes);
  const Layout layout = asked_for(request.in(0).dl, attributes.axis, attributes.axis_count);
  return by_type<StandardizePlan>(request.out().dtype, layout, attributes.epsilon);
}

std::unique_ptr<Plan> build_standardize_gradient(const Request &request) {
  const auto &attributes = attributes_of<da_attributes_standardize_gradient>(request.attributes);
  const Layout layout = asked_for(request.in(0).dl, attributes.axis, attributes.axis_count);
  return by_type<GradientPlan>(request.out().dtype, layout, attributes.epsilon);
}

}  // namespace reference_cpu
