// See windows.hpp.
#include "windows.hpp"

#include <algorithm>
#include <string>

#include "error.hpp"

namespace reference_cpu {
namespace {

int rank_of(const da_dl_tensor &image, const da_dl_tensor &result) {
  const int rank = image.ndim - 2;
  if (rank < 1 || rank > 3 || result.ndim != image.ndim) {
    throw Failure(DA_STATUS_UNIMPLEMENTED, "takes one to three spatial axes, the same number everywhere");
  }
  return rank;
}

int64_t number(const char *name, const PerAxis &numbers, int rank, int axis) {
  if (numbers.count != 1 && numbers.count != rank) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT, std::string(name) + " has " + std::to_string(numbers.count) +
                                                  " numbers for " + std::to_string(rank) + " spatial axes");
  }
  return numbers.values[numbers.count == 1 ? 0 : axis];
}

}  // namespace

bool Windows::take_all() const {
  for (const WindowAxis &each : axis) {
    const Window &window = each.windows.front();
    if (each.windows.size() != 1 || window.count != each.source || window.divisor != each.source) {
      return false;
    }
  }
  return true;
}

Windows sliding_windows(const WindowRequest &request) {
  const int rank = rank_of(request.image, request.result);
  const bool both_ends = request.padding.count == 2 * rank;
  const PerAxis low{request.padding.values, both_ends ? rank : request.padding.count};
  const PerAxis high{request.padding.values + (both_ends ? rank : 0), low.count};
  Windows made;
  for (int i = 0; i < rank; ++i) {
    WindowAxis &axis = made.axis[3 - rank + i];
    const int64_t size = request.image.shape[2 + i], length = number("window", request.window, rank, i);
    const int64_t stride = number("stride", request.stride, rank, i);
    const int64_t step = request.dilation.count == 0 ? 1 : number("dilation", request.dilation, rank, i);
    const int64_t before = number("padding", low, rank, i), after = number("padding", high, rank, i);
    axis.source = size;
    axis.windows.clear();
    for (int64_t place = 0; place < request.result.shape[2 + i]; ++place) {
      const int64_t start = place * stride - before;
      // Places start + t * step with t in [skipped, end) are inside.
      const int64_t skipped = std::clamp<int64_t>((step - 1 - start) / step, 0, length);
      // Padding is at most half of a window: none begins behind the image.
      const int64_t end = std::min(length, (size - start + step - 1) / step);
      const int64_t last = request.count_padding ? size + after : size;
      const int64_t first = request.count_padding ? -before : 0;
      const int64_t divisor = std::min(start + length, last) - std::max(start, first);
      axis.windows.push_back({start + skipped * step, end - skipped, step, divisor});
    }
  }
  return made;
}

Windows spread_windows(const da_dl_tensor &image, const da_dl_tensor &result) {
  const int rank = rank_of(image, result);
  Windows made;
  for (int i = 0; i < rank; ++i) {
    WindowAxis &axis = made.axis[3 - rank + i];
    const int64_t size = image.shape[2 + i], count = result.shape[2 + i];
    axis.source = size;
    axis.windows.clear();
    for (int64_t place = 0; place < count; ++place) {
      const int64_t start = place * size / count, end = ((place + 1) * size + count - 1) / count;
      axis.windows.push_back({start, end - start, 1, end - start});
    }
  }
  return made;
}

}  // namespace reference_cpu
