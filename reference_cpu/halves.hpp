// Loops that widen 16-bit floats to float32 and narrow them again.
#ifndef REFERENCE_CPU_HALVES_HPP
#define REFERENCE_CPU_HALVES_HPP

#include "loops.hpp"

namespace reference_cpu {

inline bool is_half(int32_t dtype) { return dtype == DA_FLOAT16 || dtype == DA_BFLOAT16; }

Loop widen_loop(int32_t dtype);   // float16 or bfloat16 -> float32
Loop narrow_loop(int32_t dtype);  // float32 -> float16 or bfloat16

}  // namespace reference_cpu

#endif
