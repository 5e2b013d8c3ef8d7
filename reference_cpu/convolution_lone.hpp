// Convolutions of channels on their own: each feature is made of one channel, with a window of neighbours
// (depthwise, in steps of 1). Few terms make a result, so that what counts is how often the source is read: a
// tile is one vector wide and several lines high, and each vector of a channel serves all its lines.
#ifndef REFERENCE_CPU_CONVOLUTION_LONE_HPP
#define REFERENCE_CPU_CONVOLUTION_LONE_HPP

#include <memory>

#include "convolution_planes.hpp"
#include "convolution_shape.hpp"
#include "convolution_tiles.hpp"
#include "pool.hpp"

namespace reference_cpu {

template <class C>
class LoneRunner {
 public:
  // Whether the grid is such a convolution, and its results fill tiles.
  static bool fits(const Roles &roles, const Grid &grid) {
    constexpr Axes ones{1, 1, 1};
    const int64_t size = grid.reach[1] + 1;
    return roles.channels == 1 && roles.features == 1 && grid.planes.size() == 1 &&
           grid.planes[0].scale == ones && grid.step == ones && roles.result[0] == 1 && grid.reach[0] == 0 &&
           grid.reach[2] + 1 == size && (size == 3 || size == 5 || size == 7) &&
           static_cast<int64_t>(grid.taps.size()) == size * size && grid.count[1] >= kLoneLines &&
           grid.count[2] >= tile_set<C>().lanes;
  }

  LoneRunner(const Roles &roles, const Grid &grid)
      : roles_(roles),
        grid_(grid),
        lanes_(tile_set<C>().lanes),
        tile_(tile_set<C>().lone[grid.reach[1] / 2 - 1]),
        line_(grid.count[2] + grid.reach[2]),
        strips_(std::max<int64_t>(1, grid.count[1] / std::max<int64_t>(kLoneLines, kStrip / line_))) {}

  void run(const C *source, const C *weight, const C *bias, C *result) const {
    constexpr int64_t kParallel = 1 << 18;  // multiplications of one thread's piece
    const int64_t units = roles_.images * roles_.groups * strips_;
    const int64_t work = static_cast<int64_t>(grid_.taps.size()) * product(grid_.count) / strips_;
    parallel_for(units, grain_of(kParallel, work), [&](int64_t begin, int64_t end) {
      const int64_t lines = (grid_.count[1] + strips_ - 1) / strips_ + grid_.reach[1];
      const std::unique_ptr<C[]> memory(new C[static_cast<size_t>(lines * line_)]);
      const std::unique_ptr<C[]> window(new C[grid_.taps.size()]);
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t channel = unit / strips_, group = channel % roles_.groups;
        for (const Tap &tap : grid_.taps) {
          window[static_cast<size_t>(tap.offset[1] * (grid_.reach[2] + 1) + tap.offset[2])] =
              weight[group * roles_.group_weight + tap.weight];
        }
        run_strip(memory.get(), source + channel * product(roles_.source), window.get(),
                  bias == nullptr ? C(0) : bias[group], result + channel * product(roles_.result),
                  unit % strips_);
      }
    });
  }

 private:
  static constexpr int64_t kStrip = 1 << 14;  // elements of a strip's copy

  void run_strip(C *memory, const C *channel, const C *window, C more, C *result, int64_t strip) const {
    const int64_t first = grid_.count[1] * strip / strips_, last = grid_.count[1] * (strip + 1) / strips_;
    Plane plane = grid_.planes[0];
    plane.shift[1] += first;
    copy_plane(memory, {1, last - first + grid_.reach[1], line_}, channel, roles_.source, plane);
    // The last tiles of a line, and of a strip, begin where they end with it: some results are made twice.
    for (int64_t y = 0; y < last - first; y += kLoneLines) {
      const int64_t from = std::min(y, last - first - kLoneLines);
      for (int64_t x = 0; x < grid_.count[2]; x += lanes_) {
        const int64_t place = std::min(x, grid_.count[2] - lanes_);
        tile_(result + (first + from) * roles_.result[2] + place, roles_.result[2],
              memory + from * line_ + place, line_, window, more);
      }
    }
  }

  Roles roles_;
  Grid grid_;
  int64_t lanes_;
  LoneTile<C> tile_;
  int64_t line_;    // elements of a line of the copy, with the zeros beside the image
  int64_t strips_;  // of a channel; each has lines enough for a tile
};

}  // namespace reference_cpu

#endif
