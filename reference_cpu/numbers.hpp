// Single elements of floating tensors as float64, for parameters that a kernel reads or writes one by one.
#ifndef REFERENCE_CPU_NUMBERS_HPP
#define REFERENCE_CPU_NUMBERS_HPP

#include "plan.hpp"
#include "types.hpp"

namespace reference_cpu {

// Element i of a contiguous tensor; `absent` where there is no tensor.
inline double number_at(const da_tensor *tensor, int64_t i, double absent) {
  if (tensor == nullptr) return absent;
  const char *place = address(tensor) + i * item_size(tensor->dtype);
  switch (tensor->dtype) {
    case DA_FLOAT16:
      return static_cast<double>(widen(*reinterpret_cast<const float16 *>(place)));
    case DA_BFLOAT16:
      return static_cast<double>(widen(*reinterpret_cast<const bfloat16 *>(place)));
    case DA_FLOAT32:
      return static_cast<double>(*reinterpret_cast<const float *>(place));
    default:
      return *reinterpret_cast<const double *>(place);
  }
}

// Rounds once to the tensor's type.
inline void set_number(const da_tensor *tensor, int64_t i, double value) {
  char *place = address(tensor) + i * item_size(tensor->dtype);
  switch (tensor->dtype) {
    case DA_FLOAT16:
      *reinterpret_cast<float16 *>(place) = narrow<float16>(round_to_odd(value));
      return;
    case DA_BFLOAT16:
      *reinterpret_cast<bfloat16 *>(place) = narrow<bfloat16>(round_to_odd(value));
      return;
    case DA_FLOAT32:
      *reinterpret_cast<float *>(place) = static_cast<float>(value);
      return;
    default:
      *reinterpret_cast<double *>(place) = value;
  }
}

}  // namespace reference_cpu

#endif
