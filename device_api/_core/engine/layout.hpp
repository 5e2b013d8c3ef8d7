// Layouts: element type, shape and strides of a tensor, interned so that equal ones are one object.
//
// The plan cache compares a pointer instead of arrays, and a plan hands its outputs a layout that is already
// there. Strides count elements. Reference counts belong to the host lock: whoever touches one holds it.
#ifndef DEVICE_API_CORE_LAYOUT_HPP
#define DEVICE_API_CORE_LAYOUT_HPP

#include <cstdint>
#include <utility>

#include "dtype.hpp"

namespace device_api {

struct Layout {
  uint64_t references;
  uint64_t hash;
  int32_t dtype;
  int32_t rank;
  int64_t elements;
  int64_t lowest;   // byte distance from the first element to the lowest byte touched, <= 0
  int64_t highest;  // to one past the highest byte touched; 0 when empty
  bool contiguous;
  bool self_overlapping;  // some stride 0 over more than one element
  int64_t shape[DA_MAX_RANK];
  int64_t strides[DA_MAX_RANK];

  uint64_t bytes() const { return static_cast<uint64_t>(elements) * item_size(dtype); }
};

class LayoutRef {
 public:
  LayoutRef() = default;
  // Takes over one reference.
  explicit LayoutRef(Layout *layout) : layout_(layout) {}
  LayoutRef(const LayoutRef &other) : layout_(other.layout_) {
    if (layout_ != nullptr) ++layout_->references;
  }
  LayoutRef(LayoutRef &&other) noexcept : layout_(std::exchange(other.layout_, nullptr)) {}
  LayoutRef &operator=(LayoutRef other) noexcept {
    std::swap(layout_, other.layout_);
    return *this;
  }
  ~LayoutRef() {
    if (layout_ != nullptr && --layout_->references == 0) destroy(layout_);
  }
  Layout *get() const { return layout_; }
  Layout *operator->() const { return layout_; }

 private:
  static void destroy(Layout *layout);
  Layout *layout_ = nullptr;
};

enum class LayoutProblem { none, rank, negative, overflow };

// Finds or makes a layout. `strides` may be nullptr: row-major. Sizes beyond int64 bytes are a problem.
LayoutProblem intern_layout(int32_t dtype, int32_t rank, const int64_t *shape, const int64_t *strides,
                            LayoutRef *out);

}  // namespace device_api

#endif
