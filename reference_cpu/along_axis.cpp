// take_along_axis, for operands whose other axes agree, take and embedding: elements at positions along an
// axis. Operands of take_along_axis that broadcast are left to the composition of other kernels.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "device_api/ops.h"
#include "error.hpp"
#include "families.hpp"
#include "loops.hpp"
#include "pool.hpp"

// The compiler unrolls no loop that it cannot vectorise on its own.
#if defined(__clang__)
#define REFERENCE_CPU_UNROLL _Pragma("unroll 8")
#else
#define REFERENCE_CPU_UNROLL _Pragma("GCC unroll 8")
#endif

namespace reference_cpu {
namespace {

constexpr int64_t kPiece = 1 << 14;  // elements of one thread's piece
constexpr int64_t kBlock = 256;      // positions that are looked at together

struct Wide {
  uint64_t low, high;
};

// (outer, size, inner) elements become (outer, taken, inner).
struct Extent {
  int64_t outer = 1, size = 1, taken = 1, inner = 1;
};

// Where n positions, of which negative ones count from the end, are from the start. False when one of them is
// outside.
REFERENCE_CPU_CLONES bool locate(const int64_t *places, int64_t n, int64_t size, int64_t *found) {
  const uint64_t length = static_cast<uint64_t>(size);
  uint64_t outside = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t place = static_cast<uint64_t>(places[i]);
    const uint64_t made = place + (places[i] < 0 ? length : 0);
    outside |= static_cast<uint64_t>(made >= length);
    found[i] = static_cast<int64_t>(made);
  }
  return outside == 0;
}

void take_lines(const char *from, const int64_t *places, char *to, int64_t count, int64_t bytes) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * bytes, from + places[i] * bytes, static_cast<size_t>(bytes));
  }
}

// Element i comes from a line of `inner` elements and stands in it where it will stand, from `first` on.
using Take = void (*)(const char *from, const int64_t *places, char *to, int64_t count, int64_t inner,
                      int64_t first);

template <class T>
void take_elements(const char *from, const int64_t *places, char *to, int64_t count, int64_t inner,
                   int64_t first) {
  const Cell<T> *source = reinterpret_cast<const Cell<T> *>(from);
  Cell<T> *out = cells<T>(to);
  if (inner == 1) {
    REFERENCE_CPU_UNROLL
    for (int64_t i = 0; i < count; ++i) out[i] = source[places[i]];
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    out[i] = source[places[i] * inner + first];
    if (++first == inner) first = 0;
  }
}

Take take_of(int64_t width) {
  switch (width) {
    case 1:
      return take_elements<uint8_t>;
    case 2:
      return take_elements<uint16_t>;
    case 4:
      return take_elements<uint32_t>;
    case 8:
      return take_elements<uint64_t>;
    default:
      return take_elements<Wide>;
  }
}

class TakePlan final : public Plan {
 public:
  // `shared`: all places of the outer axes have the same list of positions, one for a whole line.
  TakePlan(const Request &request, const Extent &extent, bool shared)
      : extent_(extent),
        shared_(shared),
        width_(item_size(request.out().dtype)),
        positions_(element_count(request.in(1))),
        take_(take_of(width_)) {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const char *from = address(inputs[0]);
    const int64_t *places = reinterpret_cast<const int64_t *>(address(inputs[1]));
    char *to = address(outputs[0]);
    std::atomic<bool> good{true};
    const int64_t grain = std::max<int64_t>(1, kPiece / std::max<int64_t>(1, extent_.inner));
    parallel_for(extent_.outer * extent_.taken, grain, [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t outer = begin / extent_.taken;
        const int64_t last = std::min(end, (outer + 1) * extent_.taken);
        if (!take(from, places, to, outer, begin, last - begin)) good = false;
        begin = last;
      }
    });
    if (good) return;
    const int64_t size = extent_.size;
    const int64_t *bad =
        std::find_if(places, places + positions_, [size](int64_t i) { return i < -size || i >= size; });
    throw Failure(DA_STATUS_OUT_OF_RANGE,
                  "index " + std::to_string(*bad) + " is outside the " + std::to_string(size) + " positions");
  }

 private:
  // `count` lines from `line` on, all of one place of the outer axes; false when a position is outside.
  bool take(const char *from, const int64_t *places, char *to, int64_t outer, int64_t line,
            int64_t count) const {
    const int64_t bytes = extent_.inner * width_;
    const bool lines = shared_ && extent_.inner != 1;  // a position for each line, else for each element
    const int64_t many = lines ? count : count * extent_.inner;
    from += outer * extent_.size * bytes;
    to += line * bytes;
    places += shared_ ? line - outer * extent_.taken : line * extent_.inner;
    for (int64_t done = 0; done < many; done += kBlock) {
      const int64_t n = std::min(kBlock, many - done);
      int64_t found[kBlock];
      if (!locate(places + done, n, extent_.size, found)) return false;
      if (lines) {
        take_lines(from, found, to + done * bytes, n, bytes);
      } else {
        take_(from, found, to + done * width_, n, extent_.inner, done % extent_.inner);
      }
    }
    return true;
  }

  Extent extent_;
  bool shared_;
  int64_t width_, positions_;
  Take take_;
};

Extent extent_of(const da_dl_tensor &x, int64_t axis, int64_t taken) {
  Extent extent;
  extent.taken = taken;
  for (int64_t d = 0; d < x.ndim; ++d) {
    (d < axis ? extent.outer : d > axis ? extent.inner : extent.size) *= x.shape[d];
  }
  return extent;
}

}  // namespace

std::unique_ptr<Plan> build_take_along_axis(const Request &request) {
  const int64_t axis = attributes_of<da_attributes_take_along_axis>(request.attributes).axis;
  const da_dl_tensor &x = request.in(0).dl, &index = request.in(1).dl;
  for (int64_t d = 0; d < x.ndim; ++d) {
    if (d != axis && (index.ndim != x.ndim || index.shape[d] != x.shape[d])) {
      throw Failure(DA_STATUS_UNIMPLEMENTED, "takes operands that agree in the other axes only");
    }
  }
  return std::make_unique<TakePlan>(request, extent_of(x, axis, index.shape[axis]), false);
}

std::unique_ptr<Plan> build_take(const Request &request) {
  const int64_t axis = attributes_of<da_attributes_take>(request.attributes).axis;
  const Extent extent = extent_of(request.in(0).dl, axis, element_count(request.in(1)));
  return std::make_unique<TakePlan>(request, extent, true);
}

std::unique_ptr<Plan> build_embedding(const Request &request) {
  const Extent extent = extent_of(request.in(0).dl, 0, element_count(request.in(1)));
  return std::make_unique<TakePlan>(request, extent, true);
}

}  // namespace reference_cpu
