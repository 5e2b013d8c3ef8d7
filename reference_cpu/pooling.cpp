// max_pool, avg_pool, adaptive_avg_pool and their gradients, a channel of an image at a time. A window is the
// product of three lists of places, one for each spatial axis, from which padding is left out beforehand; the
// rows of a window are brought together first, because neighbours in a row are neighbours in memory. Windows
// side by side are then worked on together, one of their columns after the other.
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
    return (x > best) | (x != x) ? x : best;  // once NaN, it stays
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

// Combines into each window one of its columns, whose place in the row `columns` has.
template <class Op, class M>
REFERENCE_CPU_CLONES void combine_columns(M *made, const M *row, const int32_t *columns, int64_t n) {
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) made[i] = Op::apply(made[i], row[columns[i]]);
}

// The same for the greatest element and its place; the row begins at `start`. Once NaN, it stays. No
// branches: which element wins is anybody's guess.
template <class T>
REFERENCE_CPU_CLONES void keep_greater(Number<T> *best, int32_t *found, const T *row, int32_t start,
                                       const int32_t *columns, int64_t n) {
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const Number<T> value = widen(row[columns[i]]), old = best[i];
    const bool wins = (value > old) | ((value != value) & (old == old));
    found[i] = wins ? start + columns[i] : found[i];
    best[i] = wins ? value : old;
  }
}

// For each number k below the longest window's count: where the windows have their k-th place, one after the
// other. Where a window has fewer, `filler` makes its place from the window.
template <class Filler>
std::vector<int32_t> columns_of(const std::vector<Window> &windows, const Filler &filler) {
  int64_t longest = 0;
  for (const Window &window : windows) longest = std::max(longest, window.count);
  std::vector<int32_t> columns;
  for (int64_t k = 0; k < longest; ++k) {
    for (const Window &window : windows) {
      const int64_t place = k < window.count ? window.first + k * window.step : filler(window);
      columns.push_back(static_cast<int32_t>(place));
    }
  }
  return columns;
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
    const WindowAxis &width = windows_.axis[2];
    columns_ = columns_of(width.windows, [&](const Window &) { return width.source; });
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const T *in = reinterpret_cast<const T *>(address(inputs[0]));
    T *out = reinterpret_cast<T *>(address(outputs[0]));
    const int64_t from = windows_.source_size(), to = windows_.result_size();
    parallel_for(channels_, grain_of(kPiece, from), [&](int64_t begin, int64_t end) {
      const WindowAxis &width = windows_.axis[2];
      // Of the places of a row, and behind them what counts for nothing.
      std::vector<M> totals(static_cast<size_t>(width.source) + 1, static_cast<M>(Op::start));
      std::vector<M> made(width.windows.size());
      for (int64_t c = begin; c < end; ++c) {
        if (whole_) {
          out[c] = narrowed<T>(total(in + c * from, from) / static_cast<double>(from));
        } else {
          run_channel(in + c * from, out + c * to, totals.data(), made.data());
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

  void run_channel(const T *in, T *out, M *totals, M *made) const {
    const WindowAxis &width = windows_.axis[2];
    const int64_t count = static_cast<int64_t>(width.windows.size());
    for (const Window &z : windows_.axis[0].windows) {
      for (const Window &y : windows_.axis[1].windows) {
        std::fill(totals, totals + width.source, static_cast<M>(Op::start));
        for (int64_t i = 0; i < z.count; ++i) {
          for (int64_t j = 0; j < y.count; ++j) {
            const int64_t row = (z.first + i * z.step) * windows_.axis[1].source + y.first + j * y.step;
            combine_row<Op, T>(totals, in + row * width.source, width.source);
          }
        }
        std::fill(made, made + count, static_cast<M>(Op::start));
        for (size_t k = 0; k < columns_.size(); k += width.windows.size()) {
          combine_columns<Op, M>(made, totals, columns_.data() + k, count);
        }
        for (int64_t i = 0; i < count; ++i) {
          if constexpr (std::is_same_v<Op, Sum>) {
            const int64_t divisor = z.divisor * y.divisor * width.windows[static_cast<size_t>(i)].divisor;
            *out++ = narrowed<T>(made[i] / static_cast<double>(divisor));
          } else if constexpr (std::is_floating_point_v<T>) {
            *out++ = made[i];
          } else {
            *out++ = narrow<T>(made[i]);
          }
        }
      }
    }
  }

  Windows windows_;
  int64_t channels_;
  bool whole_;                    // one window, of everything
  std::vector<int32_t> columns_;  // of the windows of a row
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

  // Calls body(place) for the elements of a window without dilation in order.
  template <class Body>
  void each_place(const Window &z, const Window &y, const Window &x, const Body &body) const {
    for (int64_t i = 0; i < z.count; ++i) {
      for (int64_t j = 0; j < y.count; ++j) {
        const int64_t row = (z.first + i) * windows_.axis[1].source + y.first + j;
        for (int64_t k = 0; k < x.count; ++k) body(row * windows_.axis[2].source + x.first + k);
      }
    }
  }

  Windows windows_;
  int64_t channels_;
};

// Each upstream element goes to its window's greatest element, the first of equals; NaN is the greatest.
template <class T>
class MaxGradientPlan final : public GradientPlan<T> {
  using M = Number<T>;

 public:
  MaxGradientPlan(const Request &request, Windows windows) : GradientPlan<T>(request, std::move(windows)) {
    // A place that a window has already changes nothing; an empty window's is looked at, but gets nothing.
    columns_ = columns_of(this->windows_.axis[2].windows,
                          [](const Window &window) { return window.count > 0 ? window.first : 0; });
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const T *upstream = reinterpret_cast<const T *>(address(inputs[0]));
    const T *in = reinterpret_cast<const T *>(address(inputs[1]));
    const WindowAxis &height = this->windows_.axis[1], &width = this->windows_.axis[2];
    this->each_channel(outputs[0], [&](M *sums, int64_t c) {
      std::vector<M> best(width.windows.size());
      std::vector<int32_t> found(width.windows.size());
      const T *channel = in + c * this->windows_.source_size();
      const T *share = upstream + c * this->windows_.result_size();
      for (const Window &z : this->windows_.axis[0].windows) {
        for (const Window &y : height.windows) {
          find_greatest(channel, z, y, best.data(), found.data());
          const bool empty = z.count == 0 || y.count == 0;
          for (size_t i = 0; i < found.size(); ++i, ++share) {
            if (!empty && width.windows[i].count > 0) sums[found[i]] += widen(*share);
          }
        }
      }
    });
  }

 private:
  void find_greatest(const T *channel, const Window &z, const Window &y, M *best, int32_t *found) const {
    const WindowAxis &height = this->windows_.axis[1], &width = this->windows_.axis[2];
    const int64_t count = static_cast<int64_t>(width.windows.size());
    const int64_t first = (z.first * height.source + y.first) * width.source;
    for (int64_t i = 0; i < count; ++i) {
      best[i] = -std::numeric_limits<M>::infinity();
      found[i] = static_cast<int32_t>(
          first + width.windows[static_cast<size_t>(i)].first);  // unless there is a greater one
    }
    for (int64_t i = 0; i < z.count; ++i) {
      for (int64_t j = 0; j < y.count; ++j) {
        const int64_t row = (z.first + i * z.step) * height.source + y.first + j * y.step;
        for (size_t k = 0; k < columns_.size(); k += width.windows.size()) {
          keep_greater<T>(best, found, channel + row * width.source, static_cast<int32_t>(row * width.source),
                          columns_.data() + k, count);
        }
      }
    }
  }

  std::vector<int32_t> columns_;  // of the windows of a row
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
  if (windows.source_size() >= std::numeric_limits<int32_t>::max()) {
    throw Failure(DA_STATUS_UNIMPLEMENTED, "takes channels of fewer than 2^31 - 1 elements");
  }
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
