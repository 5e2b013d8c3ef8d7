// The copy of a piece of an image that the tiles of a convolution walk: planes without borders to mind, as
// numbers to compute with.
#ifndef REFERENCE_CPU_CONVOLUTION_PLANES_HPP
#define REFERENCE_CPU_CONVOLUTION_PLANES_HPP

#include <algorithm>

#include "convolution_shape.hpp"
#include "types.hpp"

namespace reference_cpu {

// From `first` to before `last`.
struct Span {
  int64_t first, last;
};

// The elements of a plane's line, of `size` altogether, that lie in an image of this width.
inline Span inside(const Plane &plane, int64_t size, int64_t width) {
  const int64_t scale = plane.scale[2], shift = plane.shift[2], left = width - shift;
  const int64_t first = std::min(size, shift >= 0 ? 0 : (-shift + scale - 1) / scale);
  return {first, std::clamp<int64_t>(left > 0 ? (left + scale - 1) / scale : 0, first, size)};
}

// Fills `to` (sizes) with the elements of a channel at scale * j + shift, and with 0 outside of it.
template <class T, class C>
void copy_plane(C *to, const Axes &sizes, const T *channel, const Axes &image, const Plane &plane) {
  const int64_t scale = plane.scale[2], shift = plane.shift[2];
  const auto [first, last] = inside(plane, sizes[2], image[2]);
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
