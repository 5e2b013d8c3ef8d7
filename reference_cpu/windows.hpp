// The windows of pooling: for each of three spatial axes (leading ones of size 1 where there are fewer), the
// places of each window that lie inside the image, and by how many elements a mean is divided.
#ifndef REFERENCE_CPU_WINDOWS_HPP
#define REFERENCE_CPU_WINDOWS_HPP

#include <vector>

#include "plan.hpp"

namespace reference_cpu {

// `count` places from `first` on, `step` apart.
struct Window {
  int64_t first, count, step, divisor;
};

struct WindowAxis {
  int64_t source = 1;  // the image's size
  std::vector<Window> windows{{0, 1, 1, 1}};
};

struct Windows {
  WindowAxis axis[3];

  int64_t source_size() const { return axis[0].source * axis[1].source * axis[2].source; }
  int64_t result_size() const {
    return static_cast<int64_t>(axis[0].windows.size() * axis[1].windows.size() * axis[2].windows.size());
  }
  // Whether there is one window, of the whole image.
  bool take_all() const;
};

// One number for all axes, or one for each (of padding also one for each end).
struct PerAxis {
  const int64_t *values;
  int64_t count;
};

struct WindowRequest {
  const da_dl_tensor &image, &result;
  PerAxis window, stride, padding;
  PerAxis dilation;           // absent (count 0): 1
  bool count_padding = true;  // a mean is divided by the places in the padding too
};

// Windows of one size that slide along. Throws Failure where numbers of axes do not fit.
Windows sliding_windows(const WindowRequest &request);

// Windows that share the image among the results: from floor(i n / size) to ceil((i + 1) n / size).
Windows spread_windows(const da_dl_tensor &image, const da_dl_tensor &result);

}  // namespace reference_cpu

#endif
