// argsort_last: stable, in both directions, NaN last in both.
#include <algorithm>
#include <cstring>
#include <memory>

#include "device_api/ops.h"
#include "error.hpp"
#include "families.hpp"
#include "pool.hpp"
#include "sort_keys.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kPiece = 1 << 13;  // elements that one thread takes at a time

using SortRow = void (*)(char *out, int64_t out_stride, const char *in, int64_t in_stride, int64_t n,
                         bool descending);

template <class T, class Key>
void sort_row(char *out, int64_t out_stride, const char *in, int64_t in_stride, int64_t n, bool descending) {
  const std::unique_ptr<Item<Key>[]> items(new Item<Key>[static_cast<size_t>(2 * n)]);
  for (int64_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, in + i * in_stride, sizeof(T));
    items[static_cast<size_t>(i)] = {key_of<Key>(value, descending), i};
  }
  sort_items(items.get(), items.get() + n, n);
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(out + i * out_stride, &items[static_cast<size_t>(i)].index, sizeof(int64_t));
  }
}

SortRow sort_row_of(int32_t dtype) {
  switch (dtype) {
    case DA_BOOL:
    case DA_UINT8:
      return sort_row<uint8_t, uint32_t>;
    case DA_INT8:
      return sort_row<int8_t, uint32_t>;
    case DA_INT16:
      return sort_row<int16_t, uint32_t>;
    case DA_UINT16:
      return sort_row<uint16_t, uint32_t>;
    case DA_INT32:
      return sort_row<int32_t, uint32_t>;
    case DA_UINT32:
      return sort_row<uint32_t, uint32_t>;
    case DA_INT64:
      return sort_row<int64_t, uint64_t>;
    case DA_UINT64:
      return sort_row<uint64_t, uint64_t>;
    case DA_FLOAT16:
      return sort_row<float16, uint32_t>;
    case DA_BFLOAT16:
      return sort_row<bfloat16, uint32_t>;
    case DA_FLOAT32:
      return sort_row<float, uint32_t>;
    default:
      return sort_row<double, uint64_t>;
  }
}

class ArgsortPlan final : public Plan {
 public:
  explicit ArgsortPlan(const Request &request) : sort_(sort_row_of(request.in(0).dtype)) {
    const da_dl_tensor &in = request.in(0).dl, &out = request.out().dl;
    const int64_t width = item_size(request.in(0).dtype);
    rank_ = out.ndim - 1;
    length_ = out.shape[rank_];
    in_stride_ = in.strides[rank_] * width;
    out_stride_ = out.strides[rank_] * 8;
    for (int d = 0; d < rank_; ++d) {
      size_[d] = out.shape[d];
      in_step_[d] = in.strides[d] * width;
      out_step_[d] = out.strides[d] * 8;
      rows_ *= size_[d];
    }
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs,
           const void *attributes) const override {
    const bool descending = attributes_of<da_attributes_argsort_last>(attributes).descending != 0;
    const int64_t grain = std::max<int64_t>(1, kPiece / std::max<int64_t>(1, length_));
    parallel_for(rows_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const char *in = address(inputs[0]);
        char *out = address(outputs[0]);
        int64_t rest = row;
        for (int d = rank_ - 1; d >= 0; --d) {
          in += rest % size_[d] * in_step_[d];
          out += rest % size_[d] * out_step_[d];
          rest /= size_[d];
        }
        sort_(out, out_stride_, in, in_stride_, length_, descending);
      }
    });
  }

 private:
  SortRow sort_;
  int rank_;
  int64_t length_, in_stride_, out_stride_;
  int64_t rows_ = 1;
  int64_t size_[DA_MAX_RANK], in_step_[DA_MAX_RANK], out_step_[DA_MAX_RANK];
};

}  // namespace

std::unique_ptr<Plan> build_argsort_last(const Request &request) {
  return std::make_unique<ArgsortPlan>(request);
}

}  // namespace reference_cpu
