// gather_rows, scatter_rows and index_add. All indices are checked before anything is written.
#include <algorithm>
#include <cstring>
#include <string>

#include "device_api/ops.h"
#include "elementwise.hpp"
#include "error.hpp"
#include "families.hpp"
#include "loops.hpp"
#include "pool.hpp"
#include "strided.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kPieceBytes = 1 << 17;  // bytes that one thread moves at a time

int64_t index_at(const char *index, int64_t stride, int64_t i) {
  int64_t value;
  std::memcpy(&value, index + i * stride, sizeof(value));
  return value;
}

// `least`: the smallest index that counts; a negative one counts from the end.
void check_indices(const char *index, int64_t stride, int64_t count, int64_t rows, int64_t least = 0) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t value = index_at(index, stride, i);
    if (value < least || value >= rows) {
      throw Failure(DA_STATUS_OUT_OF_RANGE, "index " + std::to_string(value) + " at position " +
                                                std::to_string(i) + " is outside the " +
                                                std::to_string(rows) + " rows; nothing was written");
    }
  }
}

// A matrix of rows, strides in bytes.
struct Table {
  explicit Table(const da_tensor &tensor)
      : width(item_size(tensor.dtype)),
        rows(tensor.dl.shape[0]),
        columns(tensor.dl.shape[1]),
        row(tensor.dl.strides[0] * width),
        column(tensor.dl.shape[1] == 1 ? width : tensor.dl.strides[1] * width) {}
  // Row-major.
  Table(int64_t bytes, int64_t height, int64_t count)
      : width(bytes), rows(height), columns(count), row(count * bytes), column(bytes) {}
  Table() = default;
  int64_t width = 0, rows = 0, columns = 0, row = 0, column = 0;
};

void move_row(char *to, const Table &target, const char *from, const Table &source) {
  if (target.column == target.width) {
    gather(source.width, to, from, 1, source.columns, 0, source.column);
  } else if (source.column == source.width) {
    scatter(source.width, to, from, 1, source.columns, 0, target.column);
  } else {
    for (int64_t c = 0; c < source.columns; ++c) {
      std::memcpy(to + c * target.column, from + c * source.column, static_cast<size_t>(source.width));
    }
  }
}

class GatherPlan final : public Plan {
 public:
  explicit GatherPlan(const Request &request)
      : source_(request.in(0)),
        target_(request.out()),
        count_(request.in(1).dl.shape[0]),
        index_stride_(request.in(1).dl.strides[0] * 8) {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const char *from = address(inputs[0]), *index = address(inputs[1]);
    char *to = address(outputs[0]);
    check_indices(index, index_stride_, count_, source_.rows);
    const int64_t row_bytes = std::max<int64_t>(1, source_.columns * source_.width);
    parallel_for(count_, std::max<int64_t>(1, kPieceBytes / row_bytes), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        move_row(to + i * target_.row, target_, from + index_at(index, index_stride_, i) * source_.row,
                 source_);
      }
    });
  }

 private:
  Table source_, target_;
  int64_t count_, index_stride_;
};

using AddRow = void (*)(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n);

// Rows without gaps.
template <class T>
REFERENCE_CPU_CLONES void add_dense_row(char *to, const char *from, int64_t n) {
  Cell<T> *sums = cells<T>(to);
  const Cell<T> *terms = reinterpret_cast<const Cell<T> *>(from);
  REFERENCE_CPU_INDEPENDENT
  for (int64_t c = 0; c < n; ++c) sums[c].set(static_cast<T>(sums[c].get() + terms[c].get()));
}

// to += from; 16-bit floats add in float32 and round each sum.
template <class T>
void add_row(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n) {
  if constexpr (std::is_arithmetic_v<T>) {
    if (to_stride == sizeof(T) && from_stride == sizeof(T)) return add_dense_row<T>(to, from, n);
  }
  for (int64_t c = 0; c < n; ++c) {
    T a, b;
    std::memcpy(static_cast<void *>(&a), to + c * to_stride, sizeof(T));
    std::memcpy(static_cast<void *>(&b), from + c * from_stride, sizeof(T));
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
      a = narrow<T>(widen(a) + widen(b));
    } else {
      a = static_cast<T>(a + b);
    }
    std::memcpy(to + c * to_stride, &a, sizeof(T));
  }
}

// NULL for types that do not add.
AddRow add_row_of(int32_t dtype) {
  switch (dtype) {
    case DA_INT8:
    case DA_UINT8:
      return add_row<uint8_t>;
    case DA_INT16:
    case DA_UINT16:
      return add_row<uint16_t>;
    case DA_INT32:
    case DA_UINT32:
      return add_row<uint32_t>;
    case DA_INT64:
    case DA_UINT64:
      return add_row<uint64_t>;
    case DA_FLOAT16:
      return add_row<float16>;
    case DA_BFLOAT16:
      return add_row<bfloat16>;
    case DA_FLOAT32:
      return add_row<float>;
    case DA_FLOAT64:
      return add_row<double>;
    case DA_COMPLEX64:
      return add_row<complex64>;
    case DA_COMPLEX128:
      return add_row<complex128>;
    default:
      return nullptr;
  }
}

// Rows of a target and the updates that go there, one after the other. The order of updates to one row
// decides the result, so each thread goes over all indices and takes those of its own rows. Whose a row is
// changes nothing, so there are no more shares than threads.
struct Scatter {
  Table target, updates;
  int64_t count = 0, index_stride = 0;  // of the updates; bytes

  // `add` NULL: the updates replace.
  void run(char *to, const char *index, const char *from, AddRow add) const {
    const int64_t shares = count * target.columns >= kParallel ? thread_count() : 1;
    const int64_t grain = (target.rows + shares - 1) / shares;
    parallel_for(target.rows, grain, [&](int64_t begin, int64_t end) {
      const char *update = from;
      for (int64_t i = 0; i < count; ++i, update += updates.row) {
        const int64_t given = index_at(index, index_stride, i);
        const int64_t row = given < 0 ? given + target.rows : given;
        if (row < begin || row >= end) continue;
        if (add != nullptr) {
          add(to + row * target.row, target.column, update, updates.column, target.columns);
        } else {
          move_row(to + row * target.row, target, update, updates);
        }
      }
    });
  }

 private:
  static constexpr int64_t kParallel = 1 << 16;  // elements from which threads pay
};

class ScatterPlan final : public Plan {
 public:
  explicit ScatterPlan(const Request &request)
      : base_(build_copy(Request{request.op, request.inputs, 1, request.outputs, 1, nullptr})),
        add_row_(add_row_of(request.out().dtype)),
        scatter_{Table(request.out()), Table(request.in(2)), request.in(1).dl.shape[0],
                 request.in(1).dl.strides[0] * 8} {}

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs,
           const void *attributes) const override {
    const int64_t reduction = attributes_of<da_attributes_scatter_rows>(attributes).reduction;
    const bool adds = reduction == kAdd;
    if (!adds && reduction != kReplace) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT,
                    "reduction " + std::to_string(reduction) + " does not exist; 1 replaces and 2 adds");
    }
    if (adds && add_row_ == nullptr) {
      throw Failure(DA_STATUS_UNIMPLEMENTED,
                    "adds no elements of dtype code " + std::to_string(outputs[0]->dtype));
    }
    const char *index = address(inputs[1]);
    check_indices(index, scatter_.index_stride, scatter_.count, scatter_.target.rows);
    base_->run(inputs, outputs, nullptr);
    scatter_.run(address(outputs[0]), index, address(inputs[2]), adds ? add_row_ : nullptr);
  }

 private:
  static constexpr int64_t kReplace = 1, kAdd = 2;

  std::unique_ptr<Plan> base_;
  AddRow add_row_;
  Scatter scatter_;
};

// Row-major tensors, whose axes before the one of the indices are places with a matrix of rows each.
class IndexAddPlan final : public Plan {
 public:
  explicit IndexAddPlan(const Request &request)
      : base_(build_copy(Request{request.op, request.inputs, 1, request.outputs, 1, nullptr})),
        add_row_(add_row_of(request.out().dtype)) {
    const int64_t axis = attributes_of<da_attributes_index_add>(request.attributes).axis;
    const da_dl_tensor &x = request.in(0).dl;
    const int64_t rows = x.shape[axis], count = element_count(request.in(1));
    int64_t columns = 1;
    for (int64_t d = 0; d < axis; ++d) outer_ *= x.shape[d];
    for (int64_t d = axis + 1; d < x.ndim; ++d) columns *= x.shape[d];
    const int64_t width = item_size(request.out().dtype);
    scatter_ = {Table(width, rows, columns), Table(width, count, columns), count, 8};
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const char *index = address(inputs[1]), *from = address(inputs[2]);
    char *to = address(outputs[0]);
    check_indices(index, scatter_.index_stride, scatter_.count, scatter_.target.rows, -scatter_.target.rows);
    base_->run(inputs, outputs, nullptr);
    for (int64_t place = 0; place < outer_; ++place) {
      scatter_.run(to, index, from, add_row_);
      to += scatter_.target.rows * scatter_.target.row;
      from += scatter_.count * scatter_.updates.row;
    }
  }

 private:
  std::unique_ptr<Plan> base_;
  AddRow add_row_;
  int64_t outer_ = 1;
  Scatter scatter_;
};

}  // namespace

std::unique_ptr<Plan> build_gather_rows(const Request &request) {
  return std::make_unique<GatherPlan>(request);
}

std::unique_ptr<Plan> build_scatter_rows(const Request &request) {
  return std::make_unique<ScatterPlan>(request);
}

std::unique_ptr<Plan> build_index_add(const Request &request) {
  return std::make_unique<IndexAddPlan>(request);
}

}  // namespace reference_cpu
