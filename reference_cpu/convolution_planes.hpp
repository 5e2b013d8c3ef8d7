// The copy of a piece of an image that the tiles of a convolution walk: planes without borders to mind, as
// numbers to compute with.
#ifndef REFERENCE_CPU_CONVOLUTION_PLANES_HPP
#define REFERENCE_CPU_CONVOLUTION_PLANES_HPP

#include <algorithm>

#include "convolution_shape.hpp"
#include "types.hpp"

namespace reference_cpu {

// Fills `to` (sizes) with the elements of a channel at scale * j + shift, and with 0 outside of it.
template <class T, class C>
void copy_plane(C *to, const Axes &sizes, const T *channel, const Axes &image, const Plane &plane) {
  const int64_t scale = plane.scale[2], shift = plane.shift[2];
  // Elements j of a row with 0 <= scale * j + shift < width.
  const int64_t first = std::min(sizes[2], shift >= 0 ? 0 : (-shift + scale - 1) / scale);
  const int64_t inside = image[2] - shift;
  const int64_t last = std::clamp<int64_t>(inside > 0 ? (inside + scale - 1) / scale : 0, first, sizes[2]);
  for (int64_t d = 0; d < sizes[0]; ++d) {
    const int64_t z = plane.scale[0] * d + plane.shift[0];
    for (int64_t h = 0; h < sizes[1]; ++h, to += sizes[2]) {
      const int64_t y = plane.scale[1] * h + plane.shift[1];
      if (z < 0 || z >= image[0] || y < 0 || y >= image[1]) {
        std::fill(to, to + sizes[2], C(0));
        continue;
      }
      const T *row = channel + (z * image[1] + y) * image[2];
      std::fill(to, to + first, C(0));
      if (scale == 1) {
        for (int64_t j = first; j < last; ++j) to[j] = static_cast<C>(widen(row[j + shift]));
      } else {
        for (int64_t j = first; j < last; ++j) to[j] = static_cast<C>(widen(row[scale * j + shift]));
      }
      std::fill(to + last, to + sizes[2], C(0));
    }
  }
}

}  // namespace reference_cpu

#endif
