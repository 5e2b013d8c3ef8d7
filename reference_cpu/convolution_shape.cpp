// See convolution_shape.hpp.
#include "convolution_shape.hpp"

#include <algorithm>
#include <string>

#include "error.hpp"

namespace reference_cpu {
namespace {

// Spatial sizes of a tensor (batch, channels, axes ...), behind ones.
Axes spatial(const int64_t *shape, int rank) {
  Axes axes{1, 1, 1};
  for (int i = 0; i < rank; ++i) axes[static_cast<size_t>(3 - rank + i)] = shape[2 + i];
  return axes;
}

// One number for all axes, or one for each.
Axes each_axis(const char *name, const int64_t *values, int64_t count, int rank, int64_t neutral) {
  if (count != 1 && count != rank) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT, std::string(name) + " has " + std::to_string(count) +
                                                  " numbers for " + std::to_string(rank) + " spatial axes");
  }
  Axes axes{neutral, neutral, neutral};
  for (int i = 0; i < rank; ++i) axes[static_cast<size_t>(3 - rank + i)] = values[count == 1 ? 0 : i];
  return axes;
}

// Calls body(index) for all indices below sizes, the last axis fastest.
template <class Body>
void each_index(const Axes &sizes, const Body &body) {
  Axes index;
  for (index[0] = 0; index[0] < sizes[0]; ++index[0]) {
    for (index[1] = 0; index[1] < sizes[1]; ++index[1]) {
      for (index[2] = 0; index[2] < sizes[2]; ++index[2]) body(index);
    }
  }
}

int plane_number(std::vector<Plane> &planes, const Plane &wanted) {
  for (size_t i = 0; i < planes.size(); ++i) {
    if (planes[i].scale == wanted.scale && planes[i].shift == wanted.shift) return static_cast<int>(i);
  }
  planes.push_back(wanted);
  return static_cast<int>(planes.size()) - 1;
}

void note_reach(Grid &grid) {
  grid.reach = {0, 0, 0};
  for (const Tap &tap : grid.taps) {
    for (size_t d = 0; d < 3; ++d) grid.reach[d] = std::max(grid.reach[d], tap.offset[d]);
  }
}

}  // namespace

Convolution convolution_of(const ConvolutionRequest &request) {
  const int rank = request.result.ndim - 2;
  if (rank < 1 || rank > 3 || request.image.ndim != rank + 2 || request.weight.ndim != rank + 2) {
    throw Failure(DA_STATUS_UNIMPLEMENTED, "takes one to three spatial axes, the same number everywhere");
  }
  const int64_t *image = request.image.shape, *weight = request.weight.shape;
  Convolution made{};
  made.images = image[0];
  made.groups = request.groups;
  if (made.groups < 1 || image[1] % made.groups != 0 || weight[0] % made.groups != 0 ||
      weight[1] != image[1] / made.groups || request.result.shape[1] != weight[0]) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT, "channels of image, weight and result do not fit " +
                                                  std::to_string(made.groups) + " groups");
  }
  made.channels = image[1] / made.groups;
  made.features = weight[0] / made.groups;
  made.image = spatial(image, rank);
  made.window = spatial(weight, rank);
  made.result = spatial(request.result.shape, rank);
  made.stride = each_axis("stride", request.stride, request.stride_count, rank, 1);
  made.dilation = each_axis("dilation", request.dilation, request.dilation_count, rank, 1);
  // What goes before each axis comes first; what goes behind follows from the result's size.
  const int64_t padding_count = request.padding_count == 2 * rank ? rank : request.padding_count;
  made.before = each_axis("padding", request.padding, padding_count, rank, 0);
  return made;
}

Grid forward_grid(const Convolution &convolution) {
  Grid grid{convolution.result, {1, 1, 1}, {0, 0, 0}, {}, {}, {}};
  each_index(convolution.window, [&](const Axes &place) {
    // Images are taken apart by their remainder modulo the stride, so that neighbours are side by side.
    Plane plane{convolution.stride, {}};
    Tap tap{0, {}, place_in(convolution.window, place)};
    for (size_t d = 0; d < 3; ++d) {
      const int64_t distance = place[d] * convolution.dilation[d];
      plane.shift[d] = distance % convolution.stride[d] - convolution.before[d];
      tap.offset[d] = distance / convolution.stride[d];
    }
    tap.plane = plane_number(grid.planes, plane);
    grid.taps.push_back(tap);
  });
  note_reach(grid);
  return grid;
}

std::vector<Grid> gradient_grids(const Convolution &convolution) {
  std::vector<Grid> grids;
  // A place i of the image, with a = i + before = stride * q + phase, meets the window's place t and the
  // result y where a = stride * y + dilation * t: that is t with (dilation * t) % stride == phase, and y = q
  // - (dilation * t - phase) / stride.
  each_index(convolution.stride, [&](const Axes &phase) {
    Grid grid{{}, convolution.stride, {}, {}, {}, {}};
    Axes first_q{};
    for (size_t d = 0; d < 3; ++d) {
      const int64_t stride = convolution.stride[d], low = convolution.before[d] - phase[d];
      first_q[d] = low > 0 ? (low + stride - 1) / stride : -(-low / stride);
      grid.first[d] = stride * first_q[d] + phase[d] - convolution.before[d];
      const int64_t left = convolution.image[d] - grid.first[d];
      grid.count[d] = left > 0 ? (left + stride - 1) / stride : 0;
    }
    if (product(grid.count) == 0) return;
    each_index(convolution.window, [&](const Axes &place) {
      Tap tap{0, {}, place_in(convolution.window, place)};
      for (size_t d = 0; d < 3; ++d) {
        const int64_t distance = place[d] * convolution.dilation[d] - phase[d];
        if (distance % convolution.stride[d] != 0) return;
        tap.offset[d] = distance / convolution.stride[d];  // against the direction of the plane, see below
      }
      grid.taps.push_back(tap);
    });
    note_reach(grid);
    Plane plane{{1, 1, 1}, {}};
    for (size_t d = 0; d < 3; ++d) plane.shift[d] = first_q[d] - grid.reach[d];
    grid.planes.push_back(plane);
    for (Tap &tap : grid.taps) {
      for (size_t d = 0; d < 3; ++d) tap.offset[d] = grid.reach[d] - tap.offset[d];
    }
    grids.push_back(std::move(grid));
  });
  return grids;
}

}  // namespace reference_cpu
