// layer_norm_gradient: rows of neighbouring elements, as in normalisation.cpp. Each piece of rows has sums of
// its own for weight and bias, which are added up in the order of the pieces: the result is the same for any
// number of threads.
#include <algorithm>
#include <string>
#include <vector>

#include "device_api/ops.h"
#include "error.hpp"
#include "families.hpp"
#include "line.hpp"
#include "moments.hpp"
#include "numbers.hpp"
#include "parameter.hpp"
#include "pool.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kPiece = 1 << 16;     // elements of one thread's piece,
constexpr int64_t kMostSums = 1 << 20;  // unless the sums of all pieces would be more numbers than these;
constexpr int64_t kMostPieces = 32;     // there are no more pieces than these where sums are taken,
constexpr int64_t kFewestPieces = 4;    // and these, however long their rows are
constexpr int64_t kTogether = 16;       // rows whose sum is taken in C before float64 takes over
constexpr int64_t kColumns = 1 << 9;    // columns whose sums one thread adds up

// What normalises a row: ((x - middle) - rest) * scale. Its gradient by x is
// ((upstream * weight - mean) - distance * slope) * scale.
template <class C>
struct RowFacts {
  C middle, rest, scale, mean, slope;
};

// Adds the sum of the weighted upstream, and that of its products with the distances of x from its mean.
template <class C>
REFERENCE_CPU_CLONES void add_products(double *sums, const C *upstream, const C *weight, const C *x,
                                       int64_t n, C middle, C rest) {
  sum_pairs<C>(
      sums, n,
      [=](int64_t i, auto &left, auto &right) __attribute__((always_inline)) {
        load_lanes(left, upstream + i);
        load_lanes(right, weight + i);
        left *= right;
        load_lanes(right, x + i);
        right = ((right - middle) - rest) * left;
      },
      [=](int64_t i, C &left, C &right) {
        left = upstream[i] * weight[i];
        right = ((x[i] - middle) - rest) * left;
      });
}

// A row of each gradient that is asked for: that of x is written, those of weight and bias are added to.
template <class C, bool by_x, bool by_weight, bool by_bias>
REFERENCE_CPU_CLONES void go_over(C *out, C *weight_sums, C *bias_sums, const C *upstream, const C *weight,
                                  const C *x, int64_t n, const RowFacts<C> &row) {
  const C middle = row.middle, rest = row.rest, scale = row.scale, mean = row.mean, slope = row.slope;
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const C above = upstream[i], distance = by_x || by_weight ? (x[i] - middle) - rest : C(0);
    if (by_weight) weight_sums[i] += above * (distance * scale);
    if (by_bias) bias_sums[i] += above;
    if (by_x) out[i] = ((above * weight[i] - mean) - distance * slope) * scale;
  }
}

// Moves numbers to sums in float64.
template <class C>
REFERENCE_CPU_CLONES void move_sums(double *sums, C *numbers, int64_t n) {
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    sums[i] += static_cast<double>(numbers[i]);
    numbers[i] = 0;
  }
}

// Of each piece two rows of sums, for weight and for bias. They begin at cache lines, so that no vector lies
// in two.
template <class T>
class Sums {
 public:
  explicit Sums(int64_t size, int64_t pieces = 1)
      : lines_((size * static_cast<int64_t>(sizeof(T)) + 63) / 64),
        memory_(static_cast<size_t>(2 * pieces * lines_)) {}
  T *row(int64_t index) {
    return memory_.empty() ? nullptr : memory_[static_cast<size_t>(index * lines_)].numbers;
  }
  // From one row to the next.
  int64_t apart() const { return lines_ * static_cast<int64_t>(64 / sizeof(T)); }

 private:
  struct alignas(64) CacheLine {
    T numbers[64 / sizeof(T)];
  };
  int64_t lines_;
  std::vector<CacheLine> memory_;
};

struct Shape {
  int64_t rows = 1, size = 1;
  double epsilon;
  bool centred, by_x, by_weight, by_bias;

  bool sums() const { return by_weight || by_bias; }
  int64_t summed() const { return sums() ? size : 0; }
  bool moments() const { return by_x || by_weight; }
  int64_t grain() const {
    const int64_t usual = grain_of(kPiece, size);
    if (!sums()) return usual;
    const int64_t pieces = std::clamp(kMostSums / std::max<int64_t>(1, size), kFewestPieces, kMostPieces);
    return std::max(usual, (rows + pieces - 1) / pieces);
  }
};

template <class C>
class NormGradientPlan final : public Plan {
 public:
  NormGradientPlan(const Shape &shape, int32_t dtype)
      : shape_(shape), dtype_(dtype), go_over_(loops[shape.by_x][shape.by_weight][shape.by_bias]) {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const Parameter<C> weight(inputs[2], shape_.size, C(1));
    const int64_t grain = shape_.grain(), pieces = (shape_.rows + grain - 1) / grain;
    Sums<double> sums(shape_.summed(), pieces);
    parallel_for(shape_.rows, grain, [&](int64_t begin, int64_t end) {
      const int64_t piece = begin / grain;
      run_piece(inputs, outputs, weight.numbers(), begin, end, sums.row(2 * piece), sums.row(2 * piece + 1));
    });
    if (shape_.by_weight) write_sums(outputs[1], sums.row(0), pieces, 2 * sums.apart());
    if (shape_.by_bias) write_sums(outputs[2], sums.row(1), pieces, 2 * sums.apart());
  }

 private:
  using GoOver = void (*)(C *, C *, C *, const C *, const C *, const C *, int64_t, const RowFacts<C> &);
  static constexpr GoOver loops[2][2][2] = {
      {{go_over<C, false, false, false>, go_over<C, false, false, true>},
       {go_over<C, false, true, false>, go_over<C, false, true, true>}},
      {{go_over<C, true, false, false>, go_over<C, true, false, true>},
       {go_over<C, true, true, false>, go_over<C, true, true, true>}}};

  void run_piece(const da_tensor *const *inputs, const da_tensor *const *outputs, const C *weight,
                 int64_t begin, int64_t end, double *weight_sums, double *bias_sums) const {
    const int64_t size = shape_.size, width = size * item_size(dtype_);
    Line<C> upstreams(dtype_, size), xs(dtype_, size), made(dtype_, size);
    Sums<C> recent(shape_.summed());
    for (int64_t row = begin; row < end; ++row) {
      const C *upstream = upstreams.read(address(inputs[0]) + row * width, size);
      const C *x = shape_.moments() ? xs.read(address(inputs[1]) + row * width, size) : nullptr;
      const RowFacts<C> facts = shape_.moments() ? facts_of(upstream, weight, x) : RowFacts<C>{};
      char *const place = shape_.by_x ? address(outputs[0]) + row * width : nullptr;
      go_over_(made.place(place), recent.row(0), recent.row(1), upstream, weight, x, size, facts);
      if (shape_.by_x) made.wrote(place, size);
      if (shape_.sums() && ((row - begin) % kTogether == kTogether - 1 || row == end - 1)) {
        move_sums(weight_sums, recent.row(0), size);
        move_sums(bias_sums, recent.row(1), size);
      }
    }
  }

  RowFacts<C> facts_of(const C *upstream, const C *weight, const C *x) const {
    const Moments moments = moments_at(x);
    const double scale = moments.scale(shape_.epsilon), count = static_cast<double>(shape_.size);
    RowFacts<C> row{static_cast<C>(moments.middle), static_cast<C>(moments.rest), static_cast<C>(scale), 0,
                    0};
    if (!shape_.by_x) return row;
    double products[2] = {};
    add_products(products, upstream, weight, x, shape_.size, row.middle, row.rest);
    if (shape_.centred) row.mean = static_cast<C>(products[0] / count);
    row.slope = static_cast<C>(products[1] / count * scale * scale);
    return row;
  }

  Moments moments_at(const C *x) const {
    const char *start = reinterpret_cast<const char *>(x);
    const int32_t dtype = sizeof(C) == 8 ? DA_FLOAT64 : DA_FLOAT32;
    const Group row{0, 1, shape_.size, 0};
    if (shape_.centred) return moments_of<C>(start, dtype, row);
    return {0, 0, power_of<C>(start, dtype, row)};
  }

  // The sum of the pieces' sums, which are `apart` numbers from each other.
  void write_sums(const da_tensor *out, const double *sums, int64_t pieces, int64_t apart) const {
    parallel_for(shape_.size, kColumns, [&](int64_t begin, int64_t end) {
      double totals[kColumns] = {};
      for (int64_t piece = 0; piece < pieces; ++piece) {
        for (int64_t i = begin; i < end; ++i) totals[i - begin] += sums[piece * apart + i];
      }
      for (int64_t i = begin; i < end; ++i) set_number(out, i, totals[i - begin]);
    });
  }

  Shape shape_;
  int32_t dtype_;
  GoOver go_over_;
};

}  // namespace

std::unique_ptr<Plan> build_layer_norm_gradient(const Request &request) {
  const auto &a = attributes_of<da_attributes_layer_norm_gradient>(request.attributes);
  const da_dl_tensor &x = request.in(1).dl;
  if (a.axis < 0 || a.axis >= x.ndim) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT,
                  "axis " + std::to_string(a.axis) + " is none of the " + std::to_string(x.ndim) + " axes");
  }
  Shape shape;
  for (int64_t d = 0; d < x.ndim; ++d) (d < a.axis ? shape.rows : shape.size) *= x.shape[d];
  shape.epsilon = a.epsilon;
  shape.centred = a.centred != 0;
  shape.by_x = a.by_x != 0;
  shape.by_weight = a.by_weight != 0;
  shape.by_bias = a.by_bias != 0;
  const int32_t dtype = request.in(1).dtype;
  if (dtype == DA_FLOAT64) return std::make_unique<NormGradientPlan<double>>(shape, dtype);
  return std::make_unique<NormGradientPlan<float>>(shape, dtype);
}

}  // namespace reference_cpu
