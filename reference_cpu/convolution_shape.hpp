// What a convolution asks for, brought to one form: three spatial axes (leading ones of size 1 where there
// are fewer), and the sums of a grid of results as terms at fixed distances from each result's place. A
// forward convolution is one grid; a gradient by the input is one for each place that a result can have
// between two steps of the stride.
#ifndef REFERENCE_CPU_CONVOLUTION_SHAPE_HPP
#define REFERENCE_CPU_CONVOLUTION_SHAPE_HPP

#include <array>
#include <vector>

#include "plan.hpp"

namespace reference_cpu {

using Axes = std::array<int64_t, 3>;

inline int64_t product(const Axes &axes) { return axes[0] * axes[1] * axes[2]; }

inline int64_t place_in(const Axes &sizes, const Axes &index) {
  return (index[0] * sizes[1] + index[1]) * sizes[2] + index[2];
}

struct Convolution {
  int64_t images, groups;
  int64_t channels, features;  // of a group: of the image, of the result
  Axes image, window, result;  // sizes
  Axes stride, before, dilation;

  int64_t taps() const { return product(window); }
};

// `image`, `weight` and `result` in the sense of a forward convolution, and the attributes.
struct ConvolutionRequest {
  const da_dl_tensor &image, &weight, &result;
  int64_t stride_count;
  const int64_t *stride;
  int64_t padding_count;
  const int64_t *padding;
  int64_t dilation_count;
  const int64_t *dilation;
  int64_t groups;
};

// Throws Failure where ranks or counts do not fit.
Convolution convolution_of(const ConvolutionRequest &request);

// How sums are made from a source: of the channels of a group (the terms), for its features (the rows).
struct Roles {
  int64_t images, groups, channels, features;
  Axes source, result;                     // sizes
  int64_t channel_weight, feature_weight;  // distances of weights in memory
  int64_t group_weight;
};

// A copy of the source's channels: element j of an axis is source element scale * j + shift, or 0 outside.
struct Plane {
  Axes scale, shift;
};

// Where one weight of the window meets the source: a plane, and how far into it.
struct Tap {
  int plane;
  Axes offset;
  int64_t weight;  // place in the window
};

// Results at step * q + first for q in [0, count).
struct Grid {
  Axes count, step, first;
  std::vector<Plane> planes;
  std::vector<Tap> taps;
  Axes reach;  // greatest offset of a tap
};

Grid forward_grid(const Convolution &convolution);
std::vector<Grid> gradient_grids(const Convolution &convolution);

}  // namespace reference_cpu

#endif
