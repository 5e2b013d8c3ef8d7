// Plans for elementwise kernels. Dimensions are ordered by the output's strides and merged where every
// operand allows it. What is contiguous then is handed to the loop as it is; the rest is cut into tiles of at
// most kBlock elements, whose strided, broadcast or converted operands pass through small buffers.
#include "elementwise.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "pool.hpp"
#include "strided.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kBlock = 512;         // elements of a tile
constexpr int64_t kMostWidth = 16;      // bytes of the widest element
constexpr int64_t kParallel = 1 << 17;  // weighted elements from which threads pay
constexpr int64_t kPiece = 1 << 15;     // weighted elements of one thread's piece

// Elements, or units of work, that one piece holds; a multiple of `multiple`, so that the borders of vectors
// do not depend on the number of threads.
int64_t piece_size(int64_t weight, int64_t multiple) {
  return grain_of(kPiece / multiple, weight) * multiple;
}

template <int kOperands>
class ContiguousPlan final : public Plan {
 public:
  ContiguousPlan(const Request &request, const Recipe &recipe)
      : loop_(recipe.loop), count_(element_count(request.out())), weight_(recipe.weight) {
    width_[0] = item_size(request.out().dtype);
    for (int k = 1; k < kOperands; ++k) width_[k] = item_size(request.in(k - 1).dtype);
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    char *operands[kOperands];
    operands[0] = address(outputs[0]);
    for (int k = 1; k < kOperands; ++k) operands[k] = address(inputs[k - 1]);
    if (count_ * weight_ < kParallel) return loop_(operands, count_);
    run_parallel(operands);
  }

 private:
  __attribute__((noinline)) void run_parallel(char *const *operands) const {
    parallel_for(count_, piece_size(weight_, 1024), [&](int64_t begin, int64_t end) {
      char *piece[kOperands];
      for (int k = 0; k < kOperands; ++k) piece[k] = operands[k] + begin * width_[k];
      loop_(piece, end - begin);
    });
  }

  Loop loop_;
  int64_t count_;
  int64_t weight_;
  int64_t width_[kOperands];
};

struct Dimension {
  int64_t size;
  int64_t stride[kMostOperands];  // bytes
};

class TiledPlan final : public Plan {
 public:
  TiledPlan(const Request &request, const Recipe &recipe)
      : recipe_(recipe), operands_(static_cast<int>(request.input_count) + 1) {
    width_[0] = item_size(request.out().dtype);
    for (int k = 1; k < operands_; ++k) width_[k] = item_size(request.in(k - 1).dtype);
    fold(request);
    choose_tile();
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    char *base[kMostOperands];
    base[0] = address(outputs[0]);
    for (int k = 1; k < operands_; ++k) base[k] = address(inputs[k - 1]);
    if (units_ == 1) {
      Buffers buffers;
      const char *splat[kMostOperands] = {};
      return run_tile(base, tile_rows_, tile_columns_, buffers, splat);
    }
    if (!parallel_) return run_units(base, 0, units_);
    parallel_for(units_, grain_, [&](int64_t begin, int64_t end) { run_units(base, begin, end); });
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
    // The innermost two dimensions always exist.
    while (rank_ < 2) {
      std::move_backward(dims_, dims_ + rank_, dims_ + rank_ + 1);
      dims_[0] = Dimension{1, {}};
      if (rank_ == 0) {
        for (int k = 0; k < operands_; ++k) dims_[0].stride[k] = width_[k];
      }
      ++rank_;
    }
  }

  void choose_tile() {
    const Dimension &row = dims_[rank_ - 2], &column = dims_[rank_ - 1];
    bool all_direct = true, transposed = false;
    for (int k = 0; k < operands_; ++k) {
      all_direct &= recipe_.convert[k] == nullptr && column.stride[k] == width_[k];
      transposed |= std::llabs(row.stride[k]) < std::llabs(column.stride[k]) && row.stride[k] != 0;
    }
    if (transposed && row.size > 1) {
      tile_columns_ = std::min<int64_t>(column.size, 32);
    } else {
      tile_columns_ = std::min<int64_t>(column.size, all_direct ? kPiece : kBlock);
    }
    tile_rows_ = std::clamp<int64_t>(kBlock / tile_columns_, 1, row.size);
    column_tiles_ = (column.size + tile_columns_ - 1) / tile_columns_;
    row_tiles_ = (row.size + tile_rows_ - 1) / tile_rows_;
    units_ = column_tiles_ * row_tiles_;
    int64_t elements = row.size * column.size;
    for (int d = 0; d < rank_ - 2; ++d) {
      units_ *= dims_[d].size;
      elements *= dims_[d].size;
    }
    const int64_t weight = recipe_.weight + 1;  // buffers cost about an addition
    parallel_ = elements * weight >= kParallel && units_ > 1;
    grain_ = grain_of(kPiece / weight, elements / units_);
  }

  void run_units(char *const *base, int64_t begin, int64_t end) const {
    const Dimension &row = dims_[rank_ - 2], &column = dims_[rank_ - 1];
    Buffers buffers;
    const char *splat[kMostOperands] = {};  // the source of a broadcast scalar that its buffer still holds
    int64_t outer = begin / (column_tiles_ * row_tiles_);
    int64_t inner = begin % (column_tiles_ * row_tiles_);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first_row = inner / column_tiles_ * tile_rows_;
      const int64_t first_column = inner % column_tiles_ * tile_columns_;
      const int64_t rows = std::min(tile_rows_, row.size - first_row);
      const int64_t columns = std::min(tile_columns_, column.size - first_column);
      char *start[kMostOperands];
      for (int k = 0; k < operands_; ++k) {
        start[k] = base[k] + first_row * row.stride[k] + first_column * column.stride[k];
      }
      int64_t rest = outer;
      for (int d = rank_ - 3; d >= 0; --d) {
        const int64_t index = rest % dims_[d].size;
        rest /= dims_[d].size;
        for (int k = 0; k < operands_; ++k) start[k] += index * dims_[d].stride[k];
      }
      run_tile(start, rows, columns, buffers, splat);
      if (++inner == column_tiles_ * row_tiles_) {
        inner = 0;
        ++outer;
      }
    }
  }

  struct Buffers {
    alignas(64) char raw[kMostOperands][kBlock * kMostWidth];
    alignas(64) char converted[kMostOperands][kBlock * kMostWidth];
  };

  bool is_direct(int k, int64_t rows, int64_t columns) const {
    return dims_[rank_ - 1].stride[k] == width_[k] &&
           (rows == 1 || dims_[rank_ - 2].stride[k] == columns * width_[k]);
  }

  void run_tile(char *const *start, int64_t rows, int64_t columns, Buffers &buffers,
                const char **splat) const {
    if (recipe_.loop == nullptr) return move_tile(start, rows, columns, buffers);
    const Dimension &row = dims_[rank_ - 2], &column = dims_[rank_ - 1];
    const int64_t count = rows * columns;
    char *operands[kMostOperands];
    for (int k = 1; k < operands_; ++k) {
      operands[k] = start[k];
      if (!is_direct(k, rows, columns)) {
        // One element for the whole tile, whose buffer serves the next tile too if that has the same one.
        const bool scalar = column.stride[k] == 0 && (row.stride[k] == 0 || tile_rows_ == 1);
        if (scalar && splat[k] == start[k]) {
          operands[k] = recipe_.convert[k] == nullptr ? buffers.raw[k] : buffers.converted[k];
          continue;
        }
        operands[k] = buffers.raw[k];
        // A scalar fills its buffer as far as any tile of this plan reads it.
        gather(width_[k], operands[k], start[k], scalar ? tile_rows_ : rows, scalar ? tile_columns_ : columns,
               row.stride[k], column.stride[k]);
        if (scalar) splat[k] = start[k];
      }
      if (recipe_.convert[k] != nullptr) {
        char *const pair[] = {buffers.converted[k], operands[k]};
        recipe_.convert[k](pair, splat[k] != nullptr ? tile_rows_ * tile_columns_ : count);
        operands[k] = buffers.converted[k];
      }
    }
    const bool direct = is_direct(0, rows, columns);
    char *const made = direct ? start[0] : buffers.raw[0];
    operands[0] = recipe_.convert[0] == nullptr ? made : buffers.converted[0];
    recipe_.loop(operands, count);
    if (recipe_.convert[0] != nullptr) {
      char *const pair[] = {made, operands[0]};
      recipe_.convert[0](pair, count);
    }
    if (!direct) scatter(width_[0], start[0], made, rows, columns, row.stride[0], column.stride[0]);
  }

  void move_tile(char *const *start, int64_t rows, int64_t columns, Buffers &buffers) const {
    const Dimension &row = dims_[rank_ - 2], &column = dims_[rank_ - 1];
    const auto take = [&](char *to) {
      gather(width_[1], to, start[1], rows, columns, row.stride[1], column.stride[1]);
    };
    const auto put = [&](const char *from) {
      scatter(width_[0], start[0], from, rows, columns, row.stride[0], column.stride[0]);
    };
    if (is_direct(0, rows, columns)) return take(start[0]);
    if (is_direct(1, rows, columns)) return put(start[1]);
    take(buffers.raw[0]);
    put(buffers.raw[0]);
  }

  Recipe recipe_;
  int operands_;
  int rank_ = 0;
  bool parallel_ = false;
  int64_t width_[kMostOperands] = {};
  Dimension dims_[DA_MAX_RANK + 2];
  int64_t tile_rows_ = 1, tile_columns_ = 1, row_tiles_ = 1, column_tiles_ = 1;
  int64_t units_ = 1, grain_ = 1;
};

bool all_contiguous(const Request &request, const Recipe &recipe) {
  bool found = is_contiguous(request.out()) && recipe.convert[0] == nullptr;
  for (uint32_t k = 0; k < request.input_count; ++k) {
    found = found && is_contiguous(*request.inputs[k]) && recipe.convert[k + 1] == nullptr;
  }
  return found;
}

}  // namespace

std::unique_ptr<Plan> elementwise_plan(const Request &request, const Recipe &recipe) {
  if (all_contiguous(request, recipe)) {
    switch (request.input_count) {
      case 1:
        return std::make_unique<ContiguousPlan<2>>(request, recipe);
      case 2:
        return std::make_unique<ContiguousPlan<3>>(request, recipe);
      default:
        return std::make_unique<ContiguousPlan<4>>(request, recipe);
    }
  }
  return std::make_unique<TiledPlan>(request, recipe);
}

}  // namespace reference_cpu
