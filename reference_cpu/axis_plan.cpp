// See axis_plan.hpp. A piece of work is a number of lines that depends on the shape alone.
#include "axis_plan.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "error.hpp"
#include "halves.hpp"
#include "pool.hpp"
#include "strided.hpp"

namespace reference_cpu {
namespace {

constexpr int kMostOperands = 3;
constexpr int64_t kPiece = 1 << 16;  // weighted elements of one thread's piece
constexpr int64_t kTogether = 16;    // neighbouring lines that are brought together: a cache line of each row
constexpr int64_t kMostTile = 1 << 14;  // elements that are brought together, where lines are not longer

class AxisPlan final : public Plan {
 public:
  AxisPlan(const Request &request, int64_t axis, const LineLoops &loops, int64_t weight)
      : operands_(static_cast<int>(request.input_count) + 1), dtype_(request.out().dtype) {
    const da_dl_tensor &out = request.out().dl;
    if (axis < 0 || axis >= out.ndim) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT,
                    "axis " + std::to_string(axis) + " is none of the " + std::to_string(out.ndim) + " axes");
    }
    for (int64_t d = 0; d < axis; ++d) outer_ *= out.shape[d];
    length_ = out.shape[axis];
    for (int64_t d = axis + 1; d < out.ndim; ++d) inner_ *= out.shape[d];
    width_ = item_size(dtype_);
    number_ = dtype_ == DA_FLOAT64 ? 8 : 4;
    loop_ = dtype_ == DA_FLOAT64 ? loops.of_float64 : loops.of_float32;
    together_ = std::min({kTogether, grain_of(kMostTile, length_), inner_});
    grain_ = grain_of(kPiece, together_ * length_ * weight);
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    char *base[kMostOperands] = {address(outputs[0])};
    for (int k = 1; k < operands_; ++k) base[k] = address(inputs[k - 1]);
    const int64_t tiles = (inner_ + together_ - 1) / together_;
    const bool direct = inner_ == 1 && !is_half(dtype_);
    parallel_for(outer_ * tiles, grain_, [&](int64_t begin, int64_t end) {
      std::vector<char> memory;
      if (!direct) memory.resize(static_cast<size_t>(operands_ * together_ * length_ * (number_ + width_)));
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t first = unit % tiles * together_;
        const int64_t start = (unit / tiles * length_ * inner_ + first) * width_;
        char *operands[kMostOperands];
        for (int k = 0; k < operands_; ++k) operands[k] = base[k] + start;
        if (direct) {
          loop_(operands, length_);
        } else {
          run_tile(operands, std::min(together_, inner_ - first), memory.data());
        }
      }
    });
  }

 private:
  // `lines` lines that begin side by side in memory.
  void run_tile(char *const *start, int64_t lines, char *memory) const {
    const int64_t count = lines * length_;
    char *numbers[kMostOperands];
    char *packed = memory + operands_ * count * number_;
    for (int k = 0; k < operands_; ++k, memory += count * number_) {
      numbers[k] = memory;
      if (k == 0) continue;
      char *const gathered = is_half(dtype_) ? packed : numbers[k];
      gather(width_, gathered, start[k], lines, length_, width_, inner_ * width_);
      if (!is_half(dtype_)) continue;
      char *const pair[] = {numbers[k], packed};
      widen_loop(dtype_)(pair, count);
    }
    for (int64_t line = 0; line < lines; ++line) {
      char *operands[kMostOperands];
      for (int k = 0; k < operands_; ++k) operands[k] = numbers[k] + line * length_ * number_;
      loop_(operands, length_);
    }
    char *made = numbers[0];
    if (is_half(dtype_)) {
      char *const pair[] = {packed, made};
      narrow_loop(dtype_)(pair, count);
      made = packed;
    }
    scatter(width_, start[0], made, lines, length_, width_, inner_ * width_);
  }

  int operands_;
  int32_t dtype_;
  int64_t outer_ = 1, length_ = 1, inner_ = 1;
  int64_t width_, number_;  // bytes of an element, and of the number that stands for it
  int64_t together_, grain_;
  Loop loop_;
};

}  // namespace

std::unique_ptr<Plan> axis_plan(const Request &request, int64_t axis, const LineLoops &loops,
                                int64_t weight) {
  return std::make_unique<AxisPlan>(request, axis, loops, weight);
}

}  // namespace reference_cpu
