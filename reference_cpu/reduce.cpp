// See reduce.hpp. A row is cut into pieces of kPiece elements; each is reduced on its own and the pieces are
// merged in order, also when one thread does it all.
#include "reduce.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "pool.hpp"
#include "strided.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kPiece = 1 << 16;     // elements of a row that are reduced together
constexpr int64_t kBlock = 1024;        // elements gathered or widened at a time
constexpr int64_t kTiles = 16;          // pieces that columns are cut into at least, when each has kLeastTile
constexpr int64_t kLeastTile = 256;     // columns
constexpr int64_t kParallel = 1 << 16;  // elements from which threads pay

struct Dimension {
  int64_t size, in_stride, out_stride;  // bytes
};

class ReducePlan final : public Plan {
 public:
  ReducePlan(const Request &request, const Reducer &reducer)
      : reducer_(reducer), width_(item_size(request.in(0).dtype)) {
    const da_dl_tensor &in = request.in(0).dl, &out = request.out().dl;
    const int64_t out_width = item_size(request.out().dtype);
    length_ = in.shape[in.ndim - 1];
    stride_ = length_ > 1 ? in.strides[in.ndim - 1] * width_ : width_;
    for (int32_t d = 0; d < out.ndim; ++d) {
      if (out.shape[d] == 1) continue;
      const Dimension next{out.shape[d], in.strides[d] * width_, out.strides[d] * out_width};
      Dimension *last = rank_ == 0 ? nullptr : &dims_[rank_ - 1];
      if (last != nullptr && last->in_stride == next.in_stride * next.size &&
          last->out_stride == next.out_stride * next.size) {
        *last = {last->size * next.size, next.in_stride, next.out_stride};
      } else {
        dims_[rank_++] = next;
      }
      rows_ *= next.size;
    }
    // Columns side by side in memory are reduced together, instead of one distant element after the other.
    for (int d = 0; d < rank_; ++d) {
      if (reducer_.columns != nullptr && reducer_.widen == nullptr && dims_[d].in_stride == width_ &&
          std::llabs(stride_) > width_ && dims_[d].size >= 4) {
        std::swap(dims_[d], dims_[rank_ - 1]);
        by_columns_ = true;
        break;
      }
    }
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const char *in = address(inputs[0]);
    char *out = address(outputs[0]);
    if (by_columns_) return run_columns(in, out);
    const bool large = rows_ * length_ >= kParallel;
    if (length_ > kPiece) return run_pieces(in, out);
    const int64_t grain = large ? grain_of(kPiece / 2, length_) : rows_;
    parallel_for(rows_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const char *from = in;
        char *to = out;
        locate(row, rank_, from, to);
        alignas(16) char value[kValueBytes];
        reduce_piece(value, from, 0, length_);
        reducer_.finish(to, value);
      }
    });
  }

 private:
  void locate(int64_t index, int rank, const char *&in, char *&out) const {
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t step = d == 0 ? index : index % dims_[d].size;
      index /= dims_[d].size;
      in += step * dims_[d].in_stride;
      out += step * dims_[d].out_stride;
    }
  }

  void reduce_piece(char *value, const char *row, int64_t first, int64_t count) const {
    reducer_.start(value);
    if (stride_ == width_ && reducer_.widen == nullptr) {
      if (count > 0) reducer_.chunk(value, row + first * width_, count, first);
      return;
    }
    reduce_gathered(value, row, first, count);
  }

  __attribute__((noinline)) void reduce_gathered(char *value, const char *row, int64_t first,
                                                 int64_t count) const {
    alignas(64) char gathered[kBlock * 16];
    alignas(64) char widened[kBlock * 4];
    for (int64_t done = 0; done < count; done += kBlock) {
      const int64_t n = std::min(kBlock, count - done);
      const char *from = row + (first + done) * stride_;
      if (stride_ != width_) {
        gather(width_, gathered, from, 1, n, 0, stride_);
        from = gathered;
      }
      if (reducer_.widen != nullptr) {
        char *const pair[] = {widened, const_cast<char *>(from)};
        reducer_.widen(pair, n);
        from = widened;
      }
      reducer_.chunk(value, from, n, first + done);
    }
  }

  void run_pieces(const char *in, char *out) const {
    const int64_t pieces = (length_ + kPiece - 1) / kPiece;
    std::vector<char> values(static_cast<size_t>(rows_ * pieces * kValueBytes));
    parallel_for(rows_ * pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const char *from = in;
        char *to = out;
        locate(unit / pieces, rank_, from, to);
        const int64_t first = unit % pieces * kPiece;
        reduce_piece(values.data() + unit * kValueBytes, from, first, std::min(length_ - first, kPiece));
      }
    });
    for (int64_t row = 0; row < rows_; ++row) {
      const char *from = in;
      char *to = out;
      locate(row, rank_, from, to);
      char *value = values.data() + row * pieces * kValueBytes;
      for (int64_t piece = 1; piece < pieces; ++piece) reducer_.merge(value, value + piece * kValueBytes);
      reducer_.finish(to, value);
    }
  }

  void run_columns(const char *in, char *out) const {
    const Dimension &column = dims_[rank_ - 1];
    const bool large = rows_ * length_ >= kParallel;
    // Few columns are several pieces of work too, of lines that are still long enough to be read fast.
    const int64_t tile =
        large ? std::clamp<int64_t>(rows_ / kTiles / 64 * 64, kLeastTile, kColumnTile) : kColumnTile;
    const int64_t tiles = (column.size + tile - 1) / tile;
    const int64_t units = rows_ / column.size * tiles;
    const int64_t work = length_ * std::min(column.size, tile);
    const int64_t grain = large ? grain_of(kPiece / 2, work) : units;
    parallel_for(units, grain, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const char *from = in;
        char *to = out;
        locate(unit / tiles, rank_ - 1, from, to);
        const int64_t first = unit % tiles * tile;
        reducer_.columns(to + first * column.out_stride, column.out_stride, from + first * width_, length_,
                         stride_, std::min(tile, column.size - first));
      }
    });
  }

  Reducer reducer_;
  int64_t width_;
  int64_t length_ = 0, stride_ = 0, rows_ = 1;
  int rank_ = 0;
  bool by_columns_ = false;
  Dimension dims_[DA_MAX_RANK];
};

}  // namespace

std::unique_ptr<Plan> reduce_plan(const Request &request, const Reducer &reducer) {
  return std::make_unique<ReducePlan>(request, reducer);
}

}  // namespace reference_cpu
