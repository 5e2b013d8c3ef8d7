// take_along_axis for operands whose other axes agree: one element for each index. Others are broadcast by
// the composition of other kernels. All indices are checked before anything is written.
#include <algorithm>
#include <atomic>
#include <string>

#include "device_api/ops.h"
#include "error.hpp"
#include "families.hpp"
#include "loops.hpp"
#include "pool.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kPiece = 1 << 15;  // elements of one thread's piece

struct Wide {
  uint64_t low, high;
};

struct Extent {
  int64_t outer = 1, from = 1, taken = 1, inner = 1;  // (outer, from, inner) by (outer, taken, inner)
};

// Whether all n indices are in [-size, size).
REFERENCE_CPU_CLONES bool all_inside(const int64_t *index, int64_t n, int64_t size) {
  uint64_t outside = 0;
  for (int64_t i = 0; i < n; ++i) {
    outside |=
        static_cast<uint64_t>(static_cast<uint64_t>(index[i] + size) >= static_cast<uint64_t>(2 * size));
  }
  return outside == 0;
}

template <class T>
void take(const Extent &extent, const char *from, const int64_t *index, char *to, int64_t begin,
          int64_t end) {
  const Cell<T> *source = reinterpret_cast<const Cell<T> *>(from);
  Cell<T> *out = cells<T>(to);
  // `line` counts the positions (outer, taken), each with `inner` neighbours.
  int64_t base = begin / extent.taken * extent.from;
  int64_t left = extent.taken - begin % extent.taken;  // lines until the next place of the outer axes
  for (int64_t line = begin; line < end; ++line, --left) {
    if (left == 0) {
      base += extent.from;
      left = extent.taken;
    }
    for (int64_t i = 0; i < extent.inner; ++i) {
      const int64_t place = index[line * extent.inner + i];
      const int64_t row = base + (place < 0 ? place + extent.from : place);
      out[line * extent.inner + i] = source[row * extent.inner + i];
    }
  }
}

using Take = void (*)(const Extent &extent, const char *from, const int64_t *index, char *to, int64_t begin,
                      int64_t end);

Take take_of(int64_t width) {
  switch (width) {
    case 1:
      return take<uint8_t>;
    case 2:
      return take<uint16_t>;
    case 4:
      return take<uint32_t>;
    case 8:
      return take<uint64_t>;
    default:
      return take<Wide>;
  }
}

class TakePlan final : public Plan {
 public:
  TakePlan(const Request &request, const Extent &extent)
      : extent_(extent), take_(take_of(item_size(request.out().dtype))) {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const int64_t *index = reinterpret_cast<const int64_t *>(address(inputs[1]));
    check(index);
    const int64_t grain = std::max<int64_t>(1, kPiece / std::max<int64_t>(1, extent_.inner));
    parallel_for(extent_.outer * extent_.taken, grain, [&](int64_t begin, int64_t end) {
      take_(extent_, address(inputs[0]), index, address(outputs[0]), begin, end);
    });
  }

 private:
  void check(const int64_t *index) const {
    const int64_t count = extent_.outer * extent_.taken * extent_.inner;
    std::atomic<bool> good{true};
    parallel_for(count, kPiece, [&](int64_t begin, int64_t end) {
      if (!all_inside(index + begin, end - begin, extent_.from)) good = false;
    });
    if (good) return;
    const int64_t size = extent_.from;
    const int64_t *bad =
        std::find_if(index, index + count, [size](int64_t i) { return i < -size || i >= size; });
    throw Failure(DA_STATUS_OUT_OF_RANGE, "index " + std::to_string(*bad) + " is outside the " +
                                              std::to_string(size) + " positions; nothing was written");
  }

  Extent extent_;
  Take take_;
};

}  // namespace

std::unique_ptr<Plan> build_take_along_axis(const Request &request) {
  const int64_t axis = attributes_of<da_attributes_take_along_axis>(request.attributes).axis;
  const da_dl_tensor &x = request.in(0).dl, &index = request.in(1).dl;
  Extent extent;
  for (int64_t d = 0; d < x.ndim; ++d) {
    if (d != axis && (index.ndim != x.ndim || index.shape[d] != x.shape[d])) {
      throw Failure(DA_STATUS_UNIMPLEMENTED, "takes operands that agree in the other axes only");
    }
    (d < axis ? extent.outer : d > axis ? extent.inner : extent.from) *= x.shape[d];
  }
  extent.taken = index.shape[axis];
  return std::make_unique<TakePlan>(request, extent);
}

}  // namespace reference_cpu
