// The driver of elementwise kernels: turns a contiguous loop into a plan for operands of any strides.
#ifndef REFERENCE_CPU_ELEMENTWISE_HPP
#define REFERENCE_CPU_ELEMENTWISE_HPP

#include <memory>

#include "loops.hpp"
#include "plan.hpp"

namespace reference_cpu {

constexpr int kMostOperands = 4;  // the output and up to three inputs

// A loop and how its operands come to it. `convert[0]` makes output elements from what the loop wrote, and
// `convert[k]` makes what the loop reads from elements of input k; NULL where they are the same. Without a
// loop, the elements of the one input are moved to the output as they are.
struct Recipe {
  Loop loop = nullptr;
  int32_t weight = 1;
  Loop convert[kMostOperands] = {};
};

// All tensors of the request have the output's shape.
std::unique_ptr<Plan> elementwise_plan(const Request &request, const Recipe &recipe);

// A recipe around a loop of one type for operands that may be 16-bit floats, which it runs on widened blocks.
Recipe widened_recipe(const Request &request, const LoopEntry &entry);

// Finds the loop for the request's op and dtype in the tables of all families; 16-bit floats without a loop
// of their own run the float32 loop on widened blocks.
std::unique_ptr<Plan> build_elementwise(const Request &request);

}  // namespace reference_cpu

#endif
