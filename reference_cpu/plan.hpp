// What `prepare` makes: a plan holds everything about a launch that depends on shapes, strides and dtypes
// only, so that a launch is one indirect call. Also the plain facts about tensors that plans are made from.
#ifndef REFERENCE_CPU_PLAN_HPP
#define REFERENCE_CPU_PLAN_HPP

#include <cstdint>
#include <memory>

#include "device_api/kernel.h"

namespace reference_cpu {

class Plan {
 public:
  Plan() = default;
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;
  virtual ~Plan() = default;
  // Called by any number of threads at once: it changes nothing in the plan.
  virtual void run(const da_tensor *const *inputs, const da_tensor *const *outputs,
                   const void *attributes) const = 0;
};

// What `prepare` was called with; the data pointers of its tensors mean nothing. An absent optional input is
// NULL.
struct Request {
  const char *op;
  const da_tensor *const *inputs;
  uint32_t input_count;
  const da_tensor *const *outputs;
  uint32_t output_count;
  const void *attributes;

  const da_tensor &in(int i) const { return *inputs[i]; }
  bool has(int i) const { return inputs[i] != nullptr; }
  const da_tensor &out(int i = 0) const { return *outputs[i]; }
};

using Builder = std::unique_ptr<Plan> (*)(const Request &);

inline char *address(const da_tensor *tensor) {
  return static_cast<char *>(tensor->dl.data) + tensor->dl.byte_offset;
}

inline int64_t item_size(int32_t dtype) {
  constexpr int8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16, 1, 1};
  return sizes[dtype];
}

inline int64_t element_count(const da_tensor &tensor) {
  int64_t count = 1;
  for (int32_t d = 0; d < tensor.dl.ndim; ++d) count *= tensor.dl.shape[d];
  return count;
}

// Row-major, without gaps; dimensions of size 1 may have any stride.
inline bool is_contiguous(const da_tensor &tensor) {
  int64_t expected = 1;
  for (int32_t d = tensor.dl.ndim - 1; d >= 0; --d) {
    if (tensor.dl.shape[d] == 1) continue;
    if (tensor.dl.strides[d] != expected) return false;
    expected *= tensor.dl.shape[d];
  }
  return true;
}

}  // namespace reference_cpu

#endif
