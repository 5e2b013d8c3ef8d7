// The driver of kernels that treat each line of elements along an axis on its own, such as softmax. A loop
// sees contiguous numbers only; 16-bit floats are widened for it, and lines that are not contiguous are
// brought together a few at a time.
#ifndef REFERENCE_CPU_AXIS_PLAN_HPP
#define REFERENCE_CPU_AXIS_PLAN_HPP

#include "loops.hpp"
#include "plan.hpp"

namespace reference_cpu {

// Loops over one line of float32 and of float64; `operands` as in loops.hpp.
struct LineLoops {
  Loop of_float32, of_float64;
};

// All tensors of the request are row-major and have one shape and dtype (float16, bfloat16, float32 or
// float64). `weight` is the cost of an element; an addition is 1.
std::unique_ptr<Plan> axis_plan(const Request &request, int64_t axis, const LineLoops &loops, int64_t weight);

}  // namespace reference_cpu

#endif
