// max_pool, avg_pool, adaptive_avg_pool and their gradients, a channel of an image at a time. A window is the
// product of three lists of places, one for each spatial axis, from which padding is left out beforehand; the
// rows of a window are brought together first, because neighbours in a row are neighbours in memory.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "device_api/ops.h"
#include "error.hpp"
#include "families.hpp"
#include "loops.hpp"
#include "pool.hpp"
#include "reduce_lanes.hpp"
#include "types.hpp"
#include "windows.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kPiece = 1 << 15;  // elements of one thread's piece

template <class T>
using Number = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
T narrowed(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return narrow<T>(round_to_odd(value));
  }
}

// Combines a row of the image into what the window has of other rows.
struct Greatest {
  template <class T>
  using Total = Number<T>;
  static constexpr double start = -std::numeric_limits<double>::infinity();
  template <class M>
  static inline __attribute__((always_inline)) M apply(M best, M x) {
    return x > best || x != x ? x : best;  // once NaN, it stays
  }
};
struct Sum {
  template <class T>
  using Total = double;
  static constexpr double start = 0;
  static inline __attribute__((always_inline)) double apply(double sum, double x) { return sum + x; }
};

template <class Op, class T>
REFERENCE_CPU_CLONES void combine_row(typename Op::template Total<T> *totals, const T *row, int64_t n) {
  using M = typename Op::template Total<T>;
  for (int64_t i = 0; i < n; ++i) totals[i] = Op::apply(totals[i], static_cast<M>(widen(row[i])));
}

template <class C>
REFERENCE_CPU_CLONES double sum_of_row(const C *x, int64_t n) {
  return sum_terms<C>(
      n, [x](int64_t i, auto &lanes) __attribute__((always_inline)) { load_lanes(lanes, x + i); },
      [x](int64_t i) { return x[i]; });
}

template <class Op, class T>
class PoolPlan final : public Plan {
  using M = typename Op::template Total<T>;

 public:
  PoolPlan(const Request &request, Windows windows)
      : windows_(std::move(windows)), channels_(request.in(0).dl.shape[0] * request.in(0).dl.shape[1]) {
    whole_ = std::is_same_v<Op, Sum> && std::is_floating_point_v<T> && windows_.take_all();
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const T *in = reinterpret_cast<const T *>(address(inputs[0]));
    T *out = reinterpret_cast<T *>(address(outputs[0]));
    const int64_t from = windows_.source_size(), to = windows_.result_size();
    parallel_for(channels_, grain_of(kPiece, from), [&](int64_t begin, int64_t end) {
      std::vector<M> totals(static_cast<size_t>(windows_.axis[2].source));
      for (int64_t c = begin; c < end; ++c) {
        if (whole_) {
          out[c] = narrowed<T>(total(in + c * from, from) / static_cast<double>(from));
        } else {
          run_channel(in + c * from, out + c * to, totals.data());
        }
      }
    });
  }

 private:
  static double total(const T *x, int64_t n) {
    if constexpr (std::is_floating_point_v<T>) {
      return sum_of_row(x, n);
    } else {
      return 0;  // `whole_` is false for these types
    }
  }

  void run_channel(const T *in, T *out, M *totals) const {
    const WindowAxis &width = windows_.axis[2];
    for (const Window &z : windows_.axis[0].windows) {
      for (const Window &y : windows_.axis[1].windows) {
        std::fill(totals, totals + width.source, static_cast<M>(Op::start));
        for (int64_t i = 0; i < z.count; ++i) {
          for (int64_t j = 0; j < y.count; ++j) {
            const int64_t row = (z.first + i * z.step) * windows_.axis[1].source + y.first + j * y.step;
            combine_row<Op, T>(totals, in + row * width.source, width.source);
          }
        }
        for (const Window &x : width.windows) {
          M made = static_cast<M>(Op::start);
          for (int64_t k = 0; k < x.count; ++k) made = Op::apply(made, totals[x.first + k * x.step]);
          if constexpr (std::is_same_v<Op, Sum>) {
            *out++ = narrowed<T>(made / static_cast<double>(z.divisor * y.divisor * x.divisor));
          } else if constexpr (std::is_floating_point_v<T>) {
            *out++ = made;
          } else {
            *out++ = narrow<T>(made);
          }
        }
      }
    }
  }

  Windows windows_;
  int64_t channels_;
  bool whole_;  // one window, of everything
};

// Sums of float32 and narrower in float32, those of float64 in float64; rounded once.
template <class T>
class GradientPlan : public Plan {
 protected:
  using M = Number<T>;

  GradientPlan(const Request &request, Windows windows)
      : windows_(std::move(windows)), channels_(request.out().dl.shape[0] * request.out().dl.shape[1]) {}

  // Calls body(sums, c) for each channel, and writes what it added up.
  template <class Body>
  void each_channel(const da_tensor *output, const Body &body) const {
    T *out = reinterpret_cast<T *>(address(output));
    const int64_t size = windows_.source_size();
    parallel_for(channels_, grain_of(kPiece, size), [&](int64_t begin, int64_t end) {
      std::vector<M> sums(static_cast<size_t>(size));
      for (int64_t c = begin; c < end; ++c) {
        std::fill(sums.begin(), sums.end(), M(0));
        body(sums.data(), c);
        for (int64_t i = 0; i < size; ++i) {
          if constexpr (std::is_same_v<T, M>) {
            out[c * size + i] = sums[static_cast<size_t>(i)];
          } else {
            out[c * size + i] = narrow<T>(sums[static_cast<size_t>(i)]);
          }
        }
      }
    });
  }

  // Calls body(z, y, x) for the windows in the order of results.
  template <class Body>
  void each_window(const Body &body) const {
    for (const Window &z : windows_.axis[0].windows) {
      for (const Window &y : windows_.axis[1].windows) {
        for (const Window &x : windows_.axis[2].windows) body(z, y, x);
      }
    }
  }

  // Calls body(place) for the elements of a window in order.
  template <class Body>
  void each_place(const Window &z, const Window &y, const Window &x, const Body &body) const {
    for (int64_t i = 0; i < z.count; ++i) {
      for (int64_t j = 0; j < y.count; ++j) {
        const int64_t row = (z.first + i * z.step) * windows_.axis[1].source + y.first + j * y.step;
        for (int64_t k = 0; k < x.count; ++k) body(row * windows_.axis[2].source + x.first + k * x.step);
      }
    }
  }

  Windows windows_;
  int64_t channels_;
};

// Each upstream element goes to its window's greatest element, the first of equals; NaN is the greatest.
template <class T>
class MaxGradientPlan final : public GradientPlan<T> {
 public:
  MaxGradientPlan(const Request &request, Windows windows) : GradientPlan<T>(request, std::move(windows)) {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    using M = Number<T>;
    const T *upstream = reinterpret_cast<const T *>(address(inputs[0]));
    const T *in = reinterpret_cast<const T *>(address(inputs[1]));
    this->each_channel(outputs[0], [&](M *sums, int64_t c) {
      const T *channel = in + c * this->windows_.source_size();
      const T *share = upstream + c * this->windows_.result_size();
      this->each_window([&](const Window &z, const Window &y, const Window &x) {
        int64_t found = -1;
        M best = 0;
        this->each_place(z, y, x, [&](int64_t place) {
          const M value = widen(channel[place]);
          const bool wins = found < 0 || value > best || (value != value && best == best);
          found = wins ? place : found;
          best = wins ? value : best;
        });
        if (found >= 0) sums[found] += widen(*share);
        ++share;
      });
    });
  }
};

// Each upstream element is divided evenly among the elements of its window.
template <class T>
class AverageGradientPlan final : public GradientPlan<T> {
 public:
  AverageGradientPlan(const Request &request, Windows windows)
      : GradientPlan<T>(request, std::move(windows)) {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    using M = Number<T>;
    const T *upstream = reinterpret_cast<const T *>(address(inputs[0]));
    this->each_channel(outputs[0], [&](M *sums, int64_t c) {
      const T *share = upstream + c * this->windows_.result_size();
      this->each_window([&](const Window &z, const Window &y, const Window &x) {
        const M part = widen(*share++) / static_cast<M>(z.divisor * y.divisor * x.divisor);
        this->each_place(z, y, x, [&](int64_t place) { sums[place] += part; });
      });
    });
  }
};

template <template <class> class OfType>
std::unique_ptr<Plan> by_type(const Request &request, Windows windows) {
  switch (request.out().dtype) {
    case DA_FLOAT16:
      return std::make_unique<OfType<float16>>(request, std::move(windows));
    case DA_BFLOAT16:
      return std::make_unique<OfType<bfloat16>>(request, std::move(windows));
    case DA_FLOAT32:
      return std::make_unique<OfType<float>>(request, std::move(windows));
    default:
      return std::make_unique<OfType<double>>(request, std::move(windows));
  }
}

template <class T>
using MaxPlan = PoolPlan<Greatest, T>;
template <class T>
using AveragePlan = PoolPlan<Sum, T>;

template <class Attributes>
WindowRequest window_request(const Attributes &a, const da_dl_tensor &image, const da_dl_tensor &result) {
  const PerAxis window{a.window, a.window_count}, stride{a.stride, a.stride_count};
  return {image, result, window, a.has_stride != 0 ? stride : window, {a.padding, a.padding_count}, {}};
}

template <class Attributes>
Windows max_windows(const Attributes &a, const da_dl_tensor &image, const da_dl_tensor &result) {
  WindowRequest request = window_request(a, image, result);
  request.dilation = {a.dilation, a.dilation_count};
  return sliding_windows(request);
}

template <class Attributes>
Windows average_windows(const Attributes &a, const da_dl_tensor &image, const da_dl_tensor &result) {
  WindowRequest request = window_request(a, image, result);
  request.count_padding = a.count_include_pad != 0;
  return sliding_windows(request);
}

}  // namespace

std::unique_ptr<Plan> build_max_pool(const Request &request) {
  const auto &a = attributes_of<da_attributes_max_pool>(request.attributes);
  return by_type<MaxPlan>(request, max_windows(a, request.in(0).dl, request.out().dl));
}

std::unique_ptr<Plan> build_avg_pool(const Request &request) {
  const auto &a = attributes_of<da_attributes_avg_pool>(request.attributes);
  return by_type<AveragePlan>(request, average_windows(a, request.in(0).dl, request.out().dl));
}

std::unique_ptr<Plan> build_adaptive_avg_pool(const Request &request) {
  return by_type<AveragePlan>(request, spread_windows(request.in(0).dl, request.out().dl));
}

std::unique_ptr<Plan> build_max_pool_gradient(const Request &request) {
  const auto &a = attributes_of<da_attributes_max_pool_gradient>(request.attributes);
  return by_type<MaxGradientPlan>(request, max_windows(a, request.in(1).dl, request.in(0).dl));
}

std::unique_ptr<Plan> build_avg_pool_gradient(const Request &request) {
  const auto &a = attributes_of<da_attributes_avg_pool_gradient>(request.attributes);
  return by_type<AverageGradientPlan>(request, average_windows(a, request.out().dl, request.in(0).dl));
}

std::unique_ptr<Plan> build_adaptive_avg_pool_gradient(const Request &request) {
  return by_type<AverageGradientPlan>(request, spread_windows(request.out().dl, request.in(0).dl));
}

}  // namespace reference_cpu
