// convolution (1 to 3 spatial axes) and its gradient by the input. The image is cut into strips along its
// first axis that is longer than 1; a strip's channels are copied into planes that fit the second-level
// cache, or read where they are, and tiles of output features x places go over them. A sum's terms are added
// in one order, whatever the strips and threads. 16-bit floats are summed in float32 and rounded once.
//
// Lines of a plane hold no padding: results fill whole vectors from one line to the next. Where a term of a
// result would then come from a neighbouring line, a mask puts the zero of the padding in its place.
#include "device_api/ops.h"

#include <memory>

#include "convolution_lone.hpp"
#include "convolution_planes.hpp"
#include "convolution_shape.hpp"
#include "convolution_tiles.hpp"
#include "error.hpp"
#include "families.hpp"
#include "halves.hpp"
#include "loops.hpp"
#include "pool.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kStripBytes = 192 * 1024;  // of the planes of a strip
constexpr int64_t kUnits = 16;               // pieces of work that a large convolution has at least
constexpr int64_t kParallel = 1 << 20;       // multiplications from which threads pay

template <class C>
REFERENCE_CPU_CLONES bool all_finite(const C *x, int64_t n) {
  int32_t found = 0;
  for (int64_t i = 0; i < n; ++i) found |= !(x[i] - x[i] == C(0));
  return found == 0;
}

// T is the type in memory, C the one to compute with.
template <class T, class C>
class GridRunner {
 public:
  GridRunner(const Roles &roles, const Grid &grid)
      : roles_(roles), grid_(grid), tiles_(tile_set<C>()), planes_(grid.planes) {
    split_ = grid.count[0] > 1 ? 0 : grid.count[1] > 1 ? 1 : 2;
    for (size_t d = 0; d < 3; ++d) sizes_[d] = grid.count[d] + grid.reach[d];
    std::vector<Span> spans(planes_.size(), Span{0, sizes_[2]});
    if (split_ != 2) {
      sizes_[2] = grid.count[2];
      for (size_t i = 0; i < planes_.size(); ++i) {
        spans[i] = inside(planes_[i], grid.count[2] + grid.reach[2], roles.source[2]);
        planes_[i].shift[2] += planes_[i].scale[2] * spans[i].first;
        sizes_[2] = std::max(sizes_[2], spans[i].last - spans[i].first);
      }
    }
    // Elements of a plane for one index of the split axis.
    const int64_t slice = product(sizes_) / sizes_[split_];
    const int64_t bytes = static_cast<int64_t>(sizeof(C)) * roles.channels * planes() * slice;
    const int64_t most =
        longest_strip(std::max<int64_t>(1, kStripBytes / std::max<int64_t>(1, bytes) - grid.reach[split_]));
    strip_ = next_part(grid.count[split_], std::min(most, grid.count[split_]));
    strips_ = (grid.count[split_] + strip_ - 1) / strip_;
    sizes_[split_] = strip_ + grid.reach[split_];
    plane_ = product(sizes_);
    // A tile reads past the last place of a plane, and before the first one.
    margin_ = tiles_.vectors * tiles_.lanes + grid.reach[2];
    make_masks(spans);
    terms_ = terms_of(spans, planes() * plane_, sizes_);
    may_stay_ = std::is_same_v<T, C> && planes() == 1 && planes_[0].scale == Axes{1, 1, 1};
    for (size_t d = 0; d < 3; ++d) {
      const bool whole = sizes_[d] == roles.source[d] && planes_[0].shift[d] == 0;
      may_stay_ = may_stay_ && (d == split_ || whole);
    }
    flat_ = grid.step == Axes{1, 1, 1};
    for (size_t d = split_ + 1; d < 3; ++d) flat_ = flat_ && sizes_[d] == roles.result[d];
    terms_in_place_ = terms_of(spans, product(roles.source), roles.source);
    // Few strips are many pieces by their features, in whole tiles.
    const int64_t units = std::max<int64_t>(1, roles.images * roles.groups * strips_);
    const int64_t blocks = (roles.features + tiles_.rows - 1) / tiles_.rows;
    const int64_t parts = std::min((kUnits + units - 1) / units, std::max<int64_t>(1, blocks));
    chunk_ = std::max<int64_t>(1, (blocks + parts - 1) / parts) * tiles_.rows;
    chunks_ = (roles.features + chunk_ - 1) / chunk_;
  }

  void run(const T *source, const C *weight, const C *bias, T *result) const {
    const int64_t units = roles_.images * roles_.groups * strips_ * chunks_;
    const int64_t work = chunk_ * static_cast<int64_t>(terms_.size()) * plane_;
    const int64_t grain = std::max<int64_t>(1, std::min(units, kParallel / std::max<int64_t>(1, work)));
    parallel_for(units, grain, [&](int64_t begin, int64_t end) {
      std::unique_ptr<C[]> memory;
      int64_t held = -1;
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t piece = unit / chunks_, first_feature = unit % chunks_ * chunk_;
        if (const C *from = where_it_is(source, piece)) {
          run_chunk(from, terms_in_place_, weight, bias, result, piece, first_feature);
          continue;
        }
        if (memory == nullptr) {
          memory.reset(new C[static_cast<size_t>(roles_.channels * planes() * plane_ + 2 * margin_)]);
        }
        if (piece != held) copy_strip(memory.get(), source, piece);
        held = piece;
        run_chunk(memory.get() + margin_, terms_, weight, bias, result, piece, first_feature);
      }
    });
  }

  // The same one by one, with the terms alone whose source is inside the image.
  void run_inside(const T *source, const C *weight, T *result) const {
    parallel_for(roles_.images * roles_.groups * roles_.features, 1, [&](int64_t begin, int64_t end) {
      for (int64_t channel = begin; channel < end; ++channel) {
        const int64_t group = channel / roles_.features % roles_.groups;
        const int64_t image = channel / roles_.features / roles_.groups;
        const T *from = source + (image * roles_.groups + group) * roles_.channels * product(roles_.source);
        const C *factors =
            weight + group * roles_.group_weight + channel % roles_.features * roles_.feature_weight;
        run_channel_inside(from, factors, result + channel * product(roles_.result));
      }
    });
  }

 private:
  void run_channel_inside(const T *source, const C *factors, T *result) const {
    Axes q;
    for (q[0] = 0; q[0] < grid_.count[0]; ++q[0]) {
      for (q[1] = 0; q[1] < grid_.count[1]; ++q[1]) {
        for (q[2] = 0; q[2] < grid_.count[2]; ++q[2]) {
          C sum = 0;
          for (int64_t c = 0; c < roles_.channels; ++c) {
            for (const Tap &tap : grid_.taps) {
              Axes place;
              bool inside = true;
              for (size_t d = 0; d < 3; ++d) {
                place[d] = q[d] + tap.offset[d] + grid_.planes[0].shift[d];
                inside = inside && place[d] >= 0 && place[d] < roles_.source[d];
              }
              if (!inside) continue;
              const T *channel = source + c * product(roles_.source);
              sum += static_cast<C>(widen(channel[place_in(roles_.source, place)])) *
                     factors[c * roles_.channel_weight + tap.weight];
            }
          }
          Axes at;
          for (size_t d = 0; d < 3; ++d) at[d] = q[d] * grid_.step[d] + grid_.first[d];
          write_line(result + place_in(roles_.result, at), 1, &sum, C(0), 1);
        }
      }
    }
  }

  int64_t planes() const { return static_cast<int64_t>(planes_.size()); }

  // Of strips up to `fits`. Several planes are copied, by each piece of work for itself: for them rather many
  // strips than many pieces of a strip.
  int64_t longest_strip(int64_t fits) const {
    if (planes() == 1) return fits;
    const int64_t strips = grain_of(kUnits, roles_.images * roles_.groups);
    return std::min(fits, std::max({int64_t{1}, grid_.count[split_] / strips, 2 * grid_.reach[split_]}));
  }

  // For each plane and offset along a line: which places of a line have their term in the same line.
  void make_masks(const std::vector<Span> &spans) {
    mask_ = sizes_[2] + tiles_.vectors * tiles_.lanes;
    for (const Span &span : spans) {
      for (int64_t offset = 0; offset <= grid_.reach[2]; ++offset) {
        for (int64_t i = 0; i < mask_; ++i) {
          const int64_t column = i % sizes_[2] + offset;
          masks_.push_back(-static_cast<Mask<C>>(column >= span.first && column < span.last));
        }
      }
    }
  }

  // In memory where a channel takes `channel` elements, and its planes follow each other in `sizes`.
  std::vector<Term> terms_of(const std::vector<Span> &spans, int64_t channel, const Axes &sizes) const {
    std::vector<Term> terms;
    for (int64_t c = 0; c < roles_.channels; ++c) {
      for (const Tap &tap : grid_.taps) {
        const int64_t place = (tap.offset[0] * sizes[1] + tap.offset[1]) * sizes[2] + tap.offset[2];
        const int64_t source = c * channel + tap.plane * product(sizes) + place;
        terms.push_back({source - spans[static_cast<size_t>(tap.plane)].first,
                         (tap.plane * (grid_.reach[2] + 1) + tap.offset[2]) * mask_,
                         c * roles_.channel_weight + tap.weight});
      }
    }
    return terms;
  }

  // The strip in the source itself, when all that its tiles read is there; else NULL. Pieces are numbered by
  // image, group and strip.
  const C *where_it_is(const T *source, int64_t piece) const {
    if constexpr (std::is_same_v<T, C>) {
      const int64_t strip = piece % strips_, channel = piece / strips_ * roles_.channels;
      const int64_t all = product(roles_.source), slice = plane_ / sizes_[split_];
      const int64_t begin = (strip * strip_ + planes_[0].shift[split_]) * slice;
      if (may_stay_ && begin >= margin_ && begin + plane_ + margin_ <= all) {
        return source + channel * all + begin;
      }
    }
    return nullptr;
  }

  void copy_strip(C *to, const T *source, int64_t piece) const {
    const int64_t strip = piece % strips_, channel = piece / strips_ * roles_.channels;
    std::fill(to, to + margin_, C(0));
    to += margin_;
    for (int64_t c = 0; c < roles_.channels; ++c) {
      for (Plane plane : planes_) {
        plane.shift[split_] += plane.scale[split_] * strip * strip_;
        copy_plane(to, sizes_, source + (channel + c) * product(roles_.source), roles_.source, plane);
        to += plane_;
      }
    }
    std::fill(to, to + margin_, C(0));
  }

  void run_chunk(const C *planes, const std::vector<Term> &terms, const C *weight, const C *bias, T *result,
                 int64_t piece, int64_t first_feature) const {
    const int64_t strip = piece % strips_, group = piece / strips_ % roles_.groups;
    const int64_t image = piece / strips_ / roles_.groups;
    Axes count = grid_.count;
    count[split_] = std::min(strip_, grid_.count[split_] - strip * strip_);
    const int64_t places =
        ((count[0] - 1) * sizes_[1] + count[1] - 1) * sizes_[2] + count[2];  // up to the last result's
    Axes first = grid_.first;
    first[split_] += grid_.step[split_] * strip * strip_;
    const int64_t last_feature = std::min(first_feature + chunk_, roles_.features);
    alignas(64) C sums[kMostTileRows * 3 * 64 / sizeof(C)];
    for (int64_t feature = first_feature; feature < last_feature;) {
      const int64_t rows = next_part(last_feature - feature, tiles_.rows);
      const int64_t channel = group * roles_.features + feature;
      const C *factors = weight + group * roles_.group_weight + feature * roles_.feature_weight;
      T *to = result + (image * roles_.groups * roles_.features + channel) * product(roles_.result);
      for (int64_t place = 0; place < places;) {
        const int64_t vectors = next_part((places - place + tiles_.lanes - 1) / tiles_.lanes, tiles_.vectors);
        const int64_t width = vectors * tiles_.lanes;
        C *made = sums;
        int64_t pitch = width;
        if constexpr (std::is_same_v<T, C>) {
          if (flat_ && bias == nullptr && place + width <= places) {
            made = to + place_in(roles_.result, first) + place;
            pitch = product(roles_.result);
          }
        }
        tiles_.result[rows - 1][vectors - 1](made, pitch, factors, roles_.feature_weight, planes + place,
                                             masks_.data() + place % sizes_[2], terms.data(),
                                             static_cast<int64_t>(terms.size()));
        if (made == sums) {
          write_tile(sums, rows, width, place, std::min(place + width, places), count, first,
                     bias == nullptr ? nullptr : bias + channel, to);
        }
        place += width;
      }
      feature += rows;
    }
  }

  // Puts the sums of the places [place, end) where they belong; those between two lines belong nowhere.
  void write_tile(const C *sums, int64_t rows, int64_t width, int64_t place, int64_t end, const Axes &count,
                  const Axes &first, const C *bias, T *result) const {
    for (int64_t p = place; p < end;) {
      const int64_t w = p % sizes_[2], line = p / sizes_[2];
      const int64_t h = line % sizes_[1], d = line / sizes_[1];
      const int64_t next = std::min(end, p - w + sizes_[2]);
      const int64_t n = std::min(next - p, count[2] - w);
      if (h < count[1] && n > 0) {
        const int64_t at =
            ((d * grid_.step[0] + first[0]) * roles_.result[1] + h * grid_.step[1] + first[1]) *
                roles_.result[2] +
            w * grid_.step[2] + first[2];
        for (int64_t r = 0; r < rows; ++r) {
          T *to = result + r * product(roles_.result) + at;
          const C *from = sums + r * width + (p - place), more = bias == nullptr ? C(0) : bias[r];
          write_line(to, grid_.step[2], from, more, n);
        }
      }
      p = next;
    }
  }

  static void write_line(T *to, int64_t step, const C *from, C more, int64_t n) {
    if constexpr (std::is_same_v<T, C>) {
      if (step == 1) {
        for (int64_t i = 0; i < n; ++i) to[i] = from[i] + more;
      } else {
        for (int64_t i = 0; i < n; ++i) to[i * step] = from[i] + more;
      }
    } else {
      for (int64_t i = 0; i < n; ++i) to[i * step] = narrow<T>(from[i] + more);
    }
  }

  Roles roles_;
  Grid grid_;
  const TileSet<C> &tiles_;
  std::vector<Plane> planes_;  // without the padding at the ends of lines
  size_t split_;               // the axis along which strips are cut
  int64_t strip_, strips_;     // places of that axis in a strip, and how many strips
  int64_t chunk_, chunks_;     // features that are one piece of work, and how many pieces
  Axes sizes_;                 // of a plane of a strip
  int64_t plane_;              // elements of it
  int64_t margin_;             // elements that may be read on both sides of planes
  int64_t mask_;               // elements of a mask: a line, and on to the end of a tile
  std::vector<Mask<C>> masks_;
  std::vector<Term> terms_, terms_in_place_;  // for copies, for the source itself
  bool flat_;      // whether the results of a strip lie side by side, as its places do
  bool may_stay_;  // whether planes are pieces of the source's channels
};

template <class T, class C>
class ConvolutionPlan final : public Plan {
 public:
  ConvolutionPlan(const Roles &roles, const std::vector<Grid> &grids, int64_t weights, bool has_bias,
                  bool zeros_count)
      : weights_(weights),
        features_(roles.groups * roles.features),
        has_bias_(has_bias),
        zeros_count_(zeros_count) {
    int64_t covered = 0;
    for (const Grid &grid : grids) {
      runners_.emplace_back(roles, grid);
      if constexpr (std::is_same_v<T, C>) {
        if (LoneRunner<C>::fits(roles, grid)) lone_ = std::make_unique<LoneRunner<C>>(roles, grid);
      }
      covered += product(grid.count);
    }
    if (covered != product(roles.result)) throw Failure(DA_STATUS_INTERNAL, "the grids leave results out");
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    std::vector<C> weight_memory, bias_memory;
    const C *weight = numbers(inputs[1], weights_, weight_memory);
    const C *bias = has_bias_ ? numbers(inputs[2], features_, bias_memory) : nullptr;
    // A forward convolution multiplies the zeros around an image; a gradient has no terms there.
    const bool exact = !zeros_count_ && !all_finite(weight, weights_);
    if constexpr (std::is_same_v<T, C>) {
      if (lone_ != nullptr && !exact) {
        return lone_->run(reinterpret_cast<const C *>(address(inputs[0])), weight, bias,
                          reinterpret_cast<C *>(address(outputs[0])));
      }
    }
    for (const GridRunner<T, C> &runner : runners_) {
      if (exact) {
        runner.run_inside(reinterpret_cast<const T *>(address(inputs[0])), weight,
                          reinterpret_cast<T *>(address(outputs[0])));
        continue;
      }
      runner.run(reinterpret_cast<const T *>(address(inputs[0])), weight, bias,
                 reinterpret_cast<T *>(address(outputs[0])));
    }
  }

 private:
  static const C *numbers(const da_tensor *tensor, int64_t count, std::vector<C> &memory) {
    if (!is_half(tensor->dtype)) return reinterpret_cast<const C *>(address(tensor));
    memory.resize(static_cast<size_t>(count));
    char *const pair[] = {reinterpret_cast<char *>(memory.data()), address(tensor)};
    widen_loop(tensor->dtype)(pair, count);
    return memory.data();
  }

  std::vector<GridRunner<T, C>> runners_;
  std::unique_ptr<LoneRunner<C>> lone_;  // in place of the only runner, where it fits
  int64_t weights_, features_;
  bool has_bias_;     // the third input
  bool zeros_count_;  // weights meet the zeros around an image, so that infinite ones give NaN
};

std::unique_ptr<Plan> plan_of(int32_t dtype, const Roles &roles, const std::vector<Grid> &grids,
                              int64_t weights, bool bias, bool zeros_count) {
  switch (dtype) {
    case DA_FLOAT16:
      return std::make_unique<ConvolutionPlan<float16, float>>(roles, grids, weights, bias, zeros_count);
    case DA_BFLOAT16:
      return std::make_unique<ConvolutionPlan<bfloat16, float>>(roles, grids, weights, bias, zeros_count);
    case DA_FLOAT32:
      return std::make_unique<ConvolutionPlan<float, float>>(roles, grids, weights, bias, zeros_count);
    default:
      return std::make_unique<ConvolutionPlan<double, double>>(roles, grids, weights, bias, zeros_count);
  }
}

}  // namespace

std::unique_ptr<Plan> build_convolution(const Request &request) {
  const auto &a = attributes_of<da_attributes_convolution>(request.attributes);
  const Convolution c =
      convolution_of({request.in(0).dl, request.in(1).dl, request.out().dl, a.stride_count, a.stride,
                      a.padding_count, a.padding, a.dilation_count, a.dilation, a.groups});
  const int64_t of_feature = c.channels * c.taps();
  const Roles roles{c.images,   c.groups,   c.channels,
                    c.features, c.image,    c.result,
                    c.taps(),   of_feature, c.features * of_feature};
  return plan_of(request.out().dtype, roles, {forward_grid(c)}, c.groups * c.features * of_feature,
                 request.has(2), true);
}

std::unique_ptr<Plan> build_convolution_input_gradient(const Request &request) {
  const auto &a = attributes_of<da_attributes_convolution_input_gradient>(request.attributes);
  const Convolution c =
      convolution_of({request.out().dl, request.in(1).dl, request.in(0).dl, a.stride_count, a.stride,
                      a.padding_count, a.padding, a.dilation_count, a.dilation, a.groups});
  const int64_t of_feature = c.channels * c.taps();
  // The result's features are the terms here, and the image's channels are the rows.
  const Roles roles{c.images,   c.groups, c.features,
                    c.channels, c.result, c.image,
                    of_feature, c.taps(), c.features * of_feature};
  return plan_of(request.out().dtype, roles, gradient_grids(c), c.groups * c.features * of_feature, false,
                 false);
}

}  // namespace reference_cpu
