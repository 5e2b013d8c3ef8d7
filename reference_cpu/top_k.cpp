// top_k: the first k of an axis in the order of argsort, without sorting the rest when k is small. A line's
// keys are compared with the worst of the k best so far, many at a time; few of them are ever better.
#include <algorithm>
#include <cstring>
#include <vector>

#include "device_api/ops.h"
#include "error.hpp"
#include "families.hpp"
#include "loops.hpp"
#include "pool.hpp"
#include "sort_keys.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kFew = 64;         // of this many, each better one is inserted; more are sorted
constexpr int64_t kPiece = 1 << 13;  // elements that one thread takes at a time

// Puts an item where its key belongs among k that are in order, behind its equals; the last one drops out.
template <class Key>
void insert(Item<Key> *best, int64_t k, Item<Key> item) {
  int64_t place = k - 1;
  for (; place > 0 && best[place - 1].key > item.key; --place) best[place] = best[place - 1];
  best[place] = item;
}

// The least k of n keys in order.
template <class Key>
REFERENCE_CPU_CLONES void select(const Key *keys, int64_t n, Item<Key> *best, int64_t k) {
  constexpr int64_t kBlock = 64;
  for (int64_t i = 0; i < k; ++i) insert(best, i + 1, {keys[i], i});
  for (int64_t begin = k; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    const Key worst = best[k - 1].key;
    Key better = 0;
    for (int64_t i = begin; i < end; ++i) better |= static_cast<Key>(keys[i] < worst);
    if (better == 0) continue;
    for (int64_t i = begin; i < end; ++i) {
      if (keys[i] < best[k - 1].key) insert(best, k, {keys[i], i});
    }
  }
}

template <class Key>
void sort_all(const Key *keys, int64_t n, Item<Key> *items) {
  for (int64_t i = 0; i < n; ++i) items[i] = {keys[i], i};
  sort_items(items, items + n, n);
}

// A line of n elements that are `inner` apart, and of its k first ones.
struct Line {
  int64_t n, k, inner;
};

using TopLine = void (*)(const char *in, char *values, int64_t *indices, const Line &line, bool largest);

template <class T, class Key>
REFERENCE_CPU_CLONES void make_keys(Key *keys, const Cell<T> *in, int64_t n, int64_t inner, bool largest) {
  for (int64_t i = 0; i < n; ++i) keys[i] = key_of<Key>(in[i * inner].get(), largest);
}

template <class T, class Key>
void top_line(const char *in, char *values, int64_t *indices, const Line &line, bool largest) {
  const Cell<T> *source = reinterpret_cast<const Cell<T> *>(in);
  Cell<T> *out = cells<T>(values);
  std::vector<Key> keys(static_cast<size_t>(line.n));
  std::vector<Item<Key>> items(static_cast<size_t>(line.k > kFew ? 2 * line.n : line.k));
  make_keys(keys.data(), source, line.n, line.inner, largest);
  if (line.k > kFew) {
    sort_all(keys.data(), line.n, items.data());
  } else {
    select(keys.data(), line.n, items.data(), line.k);
  }
  for (int64_t i = 0; i < line.k; ++i) {
    const int64_t place = items[static_cast<size_t>(i)].index;
    indices[i * line.inner] = place;
    out[i * line.inner] = source[place * line.inner];
  }
}

TopLine top_line_of(int32_t dtype) {
  switch (dtype) {
    case DA_BOOL:
    case DA_UINT8:
      return top_line<uint8_t, uint32_t>;
    case DA_INT8:
      return top_line<int8_t, uint32_t>;
    case DA_INT16:
      return top_line<int16_t, uint32_t>;
    case DA_UINT16:
      return top_line<uint16_t, uint32_t>;
    case DA_INT32:
      return top_line<int32_t, uint32_t>;
    case DA_UINT32:
      return top_line<uint32_t, uint32_t>;
    case DA_INT64:
      return top_line<int64_t, uint64_t>;
    case DA_UINT64:
      return top_line<uint64_t, uint64_t>;
    case DA_FLOAT16:
      return top_line<float16, uint32_t>;
    case DA_BFLOAT16:
      return top_line<bfloat16, uint32_t>;
    case DA_FLOAT32:
      return top_line<float, uint32_t>;
    default:
      return top_line<double, uint64_t>;
  }
}

// All tensors are row-major.
class TopPlan final : public Plan {
 public:
  explicit TopPlan(const Request &request)
      : width_(item_size(request.in(0).dtype)), top_(top_line_of(request.in(0).dtype)) {
    const auto &attributes = attributes_of<da_attributes_top_k>(request.attributes);
    const da_dl_tensor &x = request.in(0).dl;
    for (int64_t d = 0; d < attributes.axis; ++d) outer_ *= x.shape[d];
    for (int64_t d = attributes.axis + 1; d < x.ndim; ++d) line_.inner *= x.shape[d];
    line_.n = x.shape[attributes.axis];
    line_.k = attributes.k;
    largest_ = attributes.largest != 0;
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const char *in = address(inputs[0]);
    char *values = address(outputs[0]);
    int64_t *indices = reinterpret_cast<int64_t *>(address(outputs[1]));
    parallel_for(outer_ * line_.inner, std::max<int64_t>(1, kPiece / line_.n),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t outer = i / line_.inner, inner = i % line_.inner;
                     const int64_t to = outer * line_.k * line_.inner + inner;
                     top_(in + (outer * line_.n * line_.inner + inner) * width_, values + to * width_,
                          indices + to, line_, largest_);
                   }
                 });
  }

 private:
  int64_t width_;
  TopLine top_;
  int64_t outer_ = 1;
  Line line_{1, 1, 1};
  bool largest_;
};

}  // namespace

std::unique_ptr<Plan> build_top_k(const Request &request) { return std::make_unique<TopPlan>(request); }

}  // namespace reference_cpu
