// Plans for elementwise kernels. What is contiguous is handed to the loop as it is, and so are long rows,
// beside which a buffer holds the one number that another operand has for the whole row. The rest is cut into
// tiles of at most kBlock elements, whose strided, broadcast or converted operands pass through small
// buffers.
#include "elementwise.hpp"

#include <algorithm>

#include "elementwise_dims.hpp"
#include "pool.hpp"
#include "strided.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kBlock = 512;         // elements of a tile
constexpr int64_t kMostWidth = 16;      // bytes of the widest element
constexpr int64_t kFilled = 4096;       // bytes of a buffer full of one number
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

// Rows of elements side by side, for operands that are side by side too or have one number for each row.
class RowsPlan final : public Plan {
 public:
  static bool fits(const Dimensions &dims, const Recipe &recipe) {
    constexpr int64_t kLeastRow = 256;  // shorter ones are put together in tiles
    bool found = recipe.loop != nullptr && recipe.convert[0] == nullptr && dims.column().size >= kLeastRow &&
                 dims.column().stride[0] == dims.width(0);
    for (int k = 1; k < dims.operands(); ++k) {
      const int64_t stride = dims.column().stride[k];
      found = found && recipe.convert[k] == nullptr && (stride == 0 || stride == dims.width(k));
    }
    return found;
  }

  RowsPlan(const Dimensions &dims, const Recipe &recipe)
      : dims_(dims),
        loop_(recipe.loop),
        part_(std::min(dims.column().size, piece_size(recipe.weight, 1024))) {
    const int64_t columns = dims.column().size;
    parts_ = (columns + part_ - 1) / part_;
    for (int k = 1; k < dims.operands(); ++k) {
      // A buffer is filled for each row: for a short one it pays to fill little and to use it often.
      const int64_t bytes = columns * dims.width(k) < 8 * kFilled ? kFilled / 4 : kFilled;
      if (dims.column().stride[k] == 0) step_ = std::min(step_, bytes / dims.width(k));
    }
    units_ = dims.outer() * dims.row().size * parts_;
    grain_ = units_ * part_ * recipe.weight < kParallel ? units_ : grain_of(kPiece, part_ * recipe.weight);
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    char *base[kMostOperands];
    base[0] = address(outputs[0]);
    for (int k = 1; k < dims_.operands(); ++k) base[k] = address(inputs[k - 1]);
    parallel_for(units_, grain_, [&](int64_t begin, int64_t end) { run_units(base, begin, end); });
  }

 private:
  void run_units(char *const *base, int64_t begin, int64_t end) const {
    alignas(64) char buffers[kMostOperands][kFilled];
    const char *held[kMostOperands] = {};  // the number that a buffer is full of
    const Dimension &row = dims_.row(), &column = dims_.column();
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t line = unit / parts_, first = unit % parts_ * part_;
      char *operands[kMostOperands];
      int64_t advance[kMostOperands];
      for (int k = 0; k < dims_.operands(); ++k) {
        operands[k] = base[k] + line % row.size * row.stride[k] + first * column.stride[k];
      }
      dims_.locate(line / row.size, operands);
      for (int k = 0; k < dims_.operands(); ++k) {
        advance[k] = step_ * column.stride[k];
        if (column.stride[k] != 0) continue;
        if (held[k] != operands[k]) gather(dims_.width(k), buffers[k], operands[k], 1, step_, 0, 0);
        held[k] = operands[k];
        operands[k] = buffers[k];
      }
      for (int64_t left = std::min(part_, column.size - first); left > 0; left -= step_) {
        loop_(operands, std::min(step_, left));
        for (int k = 0; k < dims_.operands(); ++k) operands[k] += advance[k];
      }
    }
  }

  Dimensions dims_;
  Loop loop_;
  int64_t part_, parts_;  // columns that are one unit of work, and how many of them a row has
  int64_t step_ = part_;  // columns that the loop sees at a time
  int64_t units_, grain_;
};

class TiledPlan final : public Plan {
 public:
  TiledPlan(const Dimensions &dims, const Recipe &recipe) : dims_(dims), recipe_(recipe) { choose_tile(); }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    char *base[kMostOperands];
    base[0] = address(outputs[0]);
    for (int k = 1; k < dims_.operands(); ++k) base[k] = address(inputs[k - 1]);
    if (units_ == 1) {
      Buffers buffers;
      const char *splat[kMostOperands] = {};
      return run_tile(base, tile_rows_, tile_columns_, buffers, splat);
    }
    if (!parallel_) return run_units(base, 0, units_);
    parallel_for(units_, grain_, [&](int64_t begin, int64_t end) { run_units(base, begin, end); });
  }

 private:
  void choose_tile() {
    const Dimension &row = dims_.row(), &column = dims_.column();
    bool all_direct = true, transposed = false;
    for (int k = 0; k < dims_.operands(); ++k) {
      all_direct &= recipe_.convert[k] == nullptr && column.stride[k] == dims_.width(k);
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
    units_ = dims_.outer() * column_tiles_ * row_tiles_;
    const int64_t elements = dims_.outer() * row.size * column.size;
    const int64_t weight = recipe_.weight + 1;  // buffers cost about an addition
    parallel_ = elements * weight >= kParallel && units_ > 1;
    grain_ = grain_of(kPiece / weight, elements / units_);
  }

  void run_units(char *const *base, int64_t begin, int64_t end) const {
    const Dimension &row = dims_.row(), &column = dims_.column();
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
      for (int k = 0; k < dims_.operands(); ++k) {
        start[k] = base[k] + first_row * row.stride[k] + first_column * column.stride[k];
      }
      dims_.locate(outer, start);
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
    return dims_.column().stride[k] == dims_.width(k) &&
           (rows == 1 || dims_.row().stride[k] == columns * dims_.width(k));
  }

  void run_tile(char *const *start, int64_t rows, int64_t columns, Buffers &buffers,
                const char **splat) const {
    if (recipe_.loop == nullptr) return move_tile(start, rows, columns, buffers);
    const Dimension &row = dims_.row(), &column = dims_.column();
    const int64_t count = rows * columns;
    char *operands[kMostOperands];
    for (int k = 1; k < dims_.operands(); ++k) {
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
        gather(dims_.width(k), operands[k], start[k], scalar ? tile_rows_ : rows,
               scalar ? tile_columns_ : columns, row.stride[k], column.stride[k]);
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
    if (!direct) scatter(dims_.width(0), start[0], made, rows, columns, row.stride[0], column.stride[0]);
  }

  void move_tile(char *const *start, int64_t rows, int64_t columns, Buffers &buffers) const {
    const Dimension &row = dims_.row(), &column = dims_.column();
    const auto take = [&](char *to) {
      gather(dims_.width(1), to, start[1], rows, columns, row.stride[1], column.stride[1]);
    };
    const auto put = [&](const char *from) {
      scatter(dims_.width(0), start[0], from, rows, columns, row.stride[0], column.stride[0]);
    };
    if (is_direct(0, rows, columns)) return take(start[0]);
    if (is_direct(1, rows, columns)) return put(start[1]);
    take(buffers.raw[0]);
    put(buffers.raw[0]);
  }

  Dimensions dims_;
  Recipe recipe_;
  bool parallel_ = false;
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
  const Dimensions dims(request);
  if (RowsPlan::fits(dims, recipe)) return std::make_unique<RowsPlan>(dims, recipe);
  return std::make_unique<TiledPlan>(dims, recipe);
}

}  // namespace reference_cpu
