// The dimensions that the operands of an elementwise kernel are walked in: ordered by the output's strides,
// and merged where every operand allows it.
#ifndef REFERENCE_CPU_ELEMENTWISE_DIMS_HPP
#define REFERENCE_CPU_ELEMENTWISE_DIMS_HPP

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "elementwise.hpp"
#include "types.hpp"

namespace reference_cpu {

struct Dimension {
  int64_t size;
  int64_t stride[kMostOperands];  // bytes
};

// The innermost two dimensions, row and column, always exist.
class Dimensions {
 public:
  explicit Dimensions(const Request &request) : operands_(static_cast<int>(request.input_count) + 1) {
    width_[0] = item_size(request.out().dtype);
    for (int k = 1; k < operands_; ++k) width_[k] = item_size(request.in(k - 1).dtype);
    fold(request);
  }

  int operands() const { return operands_; }
  int64_t width(int operand) const { return width_[operand]; }
  const Dimension &row() const { return dims_[rank_ - 2]; }
  const Dimension &column() const { return dims_[rank_ - 1]; }

  // How many matrices of rows and columns there are.
  int64_t outer() const {
    int64_t count = 1;
    for (int d = 0; d < rank_ - 2; ++d) count *= dims_[d].size;
    return count;
  }

  // Brings the operands' addresses from the first matrix to this one.
  void locate(int64_t matrix, char **operands) const {
    for (int d = rank_ - 3; d >= 0; --d) {
      const int64_t index = matrix % dims_[d].size;
      matrix /= dims_[d].size;
      for (int k = 0; k < operands_; ++k) operands[k] += index * dims_[d].stride[k];
    }
  }

 private:
  void fold(const Request &request) {
    const da_dl_tensor &out = request.out().dl;
    for (int32_t d = 0; d < out.ndim; ++d) {
      if (out.shape[d] == 1) continue;
      Dimension dimension{out.shape[d], {out.strides[d] * width_[0]}};
      for (int k = 1; k < operands_; ++k) {
        dimension.stride[k] = request.in(k - 1).dl.strides[d] * width_[k];
      }
      dims_[rank_++] = dimension;
    }
    // The greatest stride of the output outermost: a permuted output is walked in memory order.
    std::stable_sort(dims_, dims_ + rank_, [](const Dimension &a, const Dimension &b) {
      return std::llabs(a.stride[0]) > std::llabs(b.stride[0]);
    });
    int kept = 0;
    for (int d = 1; d < rank_; ++d) {
      Dimension &outer = dims_[kept];
      const Dimension &inner = dims_[d];
      bool merges = true;
      for (int k = 0; k < operands_; ++k) merges &= outer.stride[k] == inner.stride[k] * inner.size;
      if (merges) {
        const int64_t size = outer.size * inner.size;
        outer = inner;
        outer.size = size;
      } else {
        dims_[++kept] = inner;
      }
    }
    rank_ = rank_ == 0 ? 0 : kept + 1;
    while (rank_ < 2) {
      std::move_backward(dims_, dims_ + rank_, dims_ + rank_ + 1);
      dims_[0] = Dimension{1, {}};
      if (rank_ == 0) {
        for (int k = 0; k < operands_; ++k) dims_[0].stride[k] = width_[k];
      }
      ++rank_;
    }
  }

  int operands_;
  int rank_ = 0;
  int64_t width_[kMostOperands] = {};
  Dimension dims_[DA_MAX_RANK + 2];
};

}  // namespace reference_cpu

#endif
