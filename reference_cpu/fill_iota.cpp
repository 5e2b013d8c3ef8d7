// fill and iota: the kernels without inputs.
#include <cstring>

#include "device_api/ops.h"
#include "elementwise.hpp"
#include "error.hpp"
#include "families.hpp"
#include "pool.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kPiece = 1 << 16;  // elements that one thread writes at a time

template <class T>
REFERENCE_CPU_CLONES void fill_cells(char *to, const void *value, int64_t n) {
  Cell<T> item;
  std::memcpy(&item, value, sizeof(T));
  Cell<T> *out = cells<T>(to);
  for (int64_t i = 0; i < n; ++i) out[i] = item;
}

struct Wide {
  uint64_t low, high;
};

void fill_items(int64_t width, char *to, const void *value, int64_t n) {
  switch (width) {
    case 1:
      return fill_cells<uint8_t>(to, value, n);
    case 2:
      return fill_cells<uint16_t>(to, value, n);
    case 4:
      return fill_cells<uint32_t>(to, value, n);
    case 8:
      return fill_cells<uint64_t>(to, value, n);
    default:
      return fill_cells<Wide>(to, value, n);
  }
}

class ContiguousFill final : public Plan {
 public:
  explicit ContiguousFill(const Request &request)
      : width_(item_size(request.out().dtype)), count_(element_count(request.out())) {}

  void run(const da_tensor *const *, const da_tensor *const *outputs, const void *attributes) const override {
    char *to = address(outputs[0]);
    const void *value = attributes_of<da_attributes_fill>(attributes).value;
    if (count_ <= kPiece) return fill_items(width_, to, value, count_);
    parallel_for(count_, kPiece, [&](int64_t begin, int64_t end) {
      fill_items(width_, to + begin * width_, value, end - begin);
    });
  }

 private:
  int64_t width_, count_;
};

// A copy whose input is the value, with stride 0.
class StridedFill final : public Plan {
 public:
  explicit StridedFill(const Request &request) {
    int64_t zeros[DA_MAX_RANK] = {};
    da_tensor source = request.out();
    source.dl.strides = zeros;
    const da_tensor *inputs[] = {&source};
    copy_ = build_copy(Request{request.op, inputs, 1, request.outputs, 1, nullptr});
  }

  void run(const da_tensor *const *, const da_tensor *const *outputs, const void *attributes) const override {
    uint64_t value[2];
    std::memcpy(value, attributes_of<da_attributes_fill>(attributes).value, sizeof(value));
    da_tensor source{};
    source.dl.data = value;
    const da_tensor *inputs[] = {&source};
    copy_->run(inputs, outputs, nullptr);
  }

 private:
  std::unique_ptr<Plan> copy_;
};

template <class T>
void count_up(char *to, int64_t stride, int64_t begin, int64_t end, const da_attributes_iota &attributes) {
  for (int64_t i = begin; i < end; ++i) {
    Cell<T> item;
    if constexpr (std::is_integral_v<T>) {
      item.value = static_cast<T>(static_cast<uint64_t>(attributes.start) +
                                  static_cast<uint64_t>(i) * static_cast<uint64_t>(attributes.step));
    } else {
      const double exact = attributes.start_float + static_cast<double>(i) * attributes.step_float;
      if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
        item.value = narrow<T>(round_to_odd(exact));
      } else {
        item.value = static_cast<T>(exact);
      }
    }
    std::memcpy(to + i * stride, &item, sizeof(T));
  }
}

using CountUp = void (*)(char *, int64_t, int64_t, int64_t, const da_attributes_iota &);

CountUp count_up_loop(int32_t dtype) {
  switch (dtype) {
    case DA_INT8:
    case DA_UINT8:
      return count_up<uint8_t>;
    case DA_INT16:
    case DA_UINT16:
      return count_up<uint16_t>;
    case DA_INT32:
    case DA_UINT32:
      return count_up<uint32_t>;
    case DA_INT64:
    case DA_UINT64:
      return count_up<uint64_t>;
    case DA_FLOAT16:
      return count_up<float16>;
    case DA_BFLOAT16:
      return count_up<bfloat16>;
    case DA_FLOAT32:
      return count_up<float>;
    default:
      return count_up<double>;
  }
}

class IotaPlan final : public Plan {
 public:
  explicit IotaPlan(const Request &request)
      : loop_(count_up_loop(request.out().dtype)),
        count_(request.out().dl.shape[0]),
        stride_(request.out().dl.strides[0] * item_size(request.out().dtype)) {}

  void run(const da_tensor *const *, const da_tensor *const *outputs, const void *attributes) const override {
    const da_attributes_iota &start = attributes_of<da_attributes_iota>(attributes);
    parallel_for(count_, kPiece,
                 [&](int64_t begin, int64_t end) { loop_(address(outputs[0]), stride_, begin, end, start); });
  }

 private:
  CountUp loop_;
  int64_t count_, stride_;
};

}  // namespace

std::unique_ptr<Plan> build_fill(const Request &request) {
  if (is_contiguous(request.out())) return std::make_unique<ContiguousFill>(request);
  return std::make_unique<StridedFill>(request);
}

std::unique_ptr<Plan> build_iota(const Request &request) { return std::make_unique<IotaPlan>(request); }

}  // namespace reference_cpu
