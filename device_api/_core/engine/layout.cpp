#include "layout.hpp"

#include <cstring>
#include <unordered_set>

namespace device_api {

namespace {

struct HashOf {
  size_t operator()(const Layout *layout) const { return layout->hash; }
};

struct SameContent {
  bool operator()(const Layout *a, const Layout *b) const {
    const size_t bytes = sizeof(int64_t) * static_cast<size_t>(a->rank);
    return a->dtype == b->dtype && a->rank == b->rank && std::memcmp(a->shape, b->shape, bytes) == 0 &&
           std::memcmp(a->strides, b->strides, bytes) == 0;
  }
};

using Table = std::unordered_set<Layout *, HashOf, SameContent>;

// Lives for ever: tensors may die after static destructors have run.
Table &table() {
  static Table *const layouts = new Table;
  return *layouts;
}

uint64_t mix(uint64_t hash, int64_t value) {
  hash = (hash ^ static_cast<uint64_t>(value)) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ (hash >> 32);
}

// Fills everything that follows from dtype, shape and strides; false when a size leaves int64.
bool derive(Layout *layout) {
  const int64_t item = item_size(layout->dtype);
  layout->hash = mix(static_cast<uint64_t>(layout->dtype), layout->rank);
  layout->elements = 1;
  layout->lowest = 0;
  layout->highest = item;
  layout->contiguous = true;
  layout->self_overlapping = false;
  bool empty = false;
  for (int32_t i = 0; i < layout->rank; ++i) empty = empty || layout->shape[i] == 0;
  int64_t expected = 1;
  for (int32_t i = layout->rank - 1; i >= 0; --i) {
    const int64_t size = layout->shape[i];
    const int64_t stride = layout->strides[i];
    layout->hash = mix(mix(layout->hash, size), stride);
    if (empty || size == 1) continue;
    if (stride != expected) layout->contiguous = false;
    if (stride == 0) layout->self_overlapping = true;
    int64_t reach;
    if (__builtin_mul_overflow(expected, size, &expected) ||
        __builtin_mul_overflow(layout->elements, size, &layout->elements) ||
        __builtin_mul_overflow(stride, size - 1, &reach) || __builtin_mul_overflow(reach, item, &reach)) {
      return false;
    }
    int64_t *end = reach < 0 ? &layout->lowest : &layout->highest;
    if (__builtin_add_overflow(*end, reach, end)) return false;
  }
  int64_t bytes;
  if (__builtin_mul_overflow(layout->elements, item, &bytes)) return false;
  if (empty) {
    layout->elements = 0;
    layout->highest = 0;
  }
  return true;
}

}  // namespace

void LayoutRef::destroy(Layout *layout) {
  table().erase(layout);
  delete layout;
}

LayoutProblem intern_layout(int32_t dtype, int32_t rank, const int64_t *shape, const int64_t *strides,
                            LayoutRef *out) {
  if (rank > DA_MAX_RANK) return LayoutProblem::rank;
  Layout probe;
  probe.references = 1;
  probe.dtype = dtype;
  probe.rank = rank;
  bool empty = false;
  for (int32_t i = 0; i < rank; ++i) empty = empty || shape[i] == 0;
  int64_t stride = 1;
  for (int32_t i = rank - 1; i >= 0; --i) {
    if (shape[i] < 0) return LayoutProblem::negative;
    probe.shape[i] = shape[i];
    probe.strides[i] = strides != nullptr ? strides[i] : stride;
    if (strides != nullptr || shape[i] <= 1 || !__builtin_mul_overflow(stride, shape[i], &stride)) continue;
    // Nothing is ever reached through the strides of an empty tensor.
    if (!empty) return LayoutProblem::overflow;
    stride = 1;
  }
  if (!derive(&probe)) return LayoutProblem::overflow;
  Table &layouts = table();
  auto found = layouts.find(&probe);
  if (found != layouts.end()) {
    ++(*found)->references;
    *out = LayoutRef(*found);
    return LayoutProblem::none;
  }
  Layout *made = new Layout(probe);
  layouts.insert(made);
  *out = LayoutRef(made);
  return LayoutProblem::none;
}

}  // namespace device_api
