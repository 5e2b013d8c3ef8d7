// The binary kernels of binary_arithmetic.cpp for 16-bit floats: one pass that widens, computes in float32
// and rounds. float16 needs the processor's own conversions for that; without them the driver widens blocks.
#include "arithmetic.hpp"
#include "families.hpp"
#include "half_vectors.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

using namespace arithmetic;

template <class Op>
struct OnWidened {
  static bfloat16 apply(bfloat16 a, bfloat16 b) { return narrow<bfloat16>(Op::apply(widen(a), widen(b))); }
};

template <class Op>
constexpr Loop of_bfloat16 = binary_clones<OnWidened<Op>, bfloat16, bfloat16>;

const LoopEntry brain_entries[] = {
    {"add", DA_BFLOAT16, 1, of_bfloat16<Add>},           {"subtract", DA_BFLOAT16, 1, of_bfloat16<Subtract>},
    {"multiply", DA_BFLOAT16, 1, of_bfloat16<Multiply>}, {"divide", DA_BFLOAT16, 2, of_bfloat16<Divide>},
    {"maximum", DA_BFLOAT16, 1, of_bfloat16<Maximum>},   {"minimum", DA_BFLOAT16, 1, of_bfloat16<Minimum>},
};

#if defined(REFERENCE_CPU_HAS_CLONES)
template <class Op>
REFERENCE_CPU_CONVERTS void of_float16(char *const *operands, int64_t n) {
  float a[kHalves], b[kHalves];
  const auto compute = [&](char *out, const char *first, const char *second) REFERENCE_CPU_CONVERTS {
    widen_halves(a, first);
    widen_halves(b, second);
    for (int64_t k = 0; k < kHalves; ++k) a[k] = Op::apply(a[k], b[k]);
    narrow_halves(out, a);
  };
  const int64_t whole = n / kHalves * kHalves;
  for (int64_t i = 0; i < whole; i += kHalves) {
    compute(operands[0] + 2 * i, operands[1] + 2 * i, operands[2] + 2 * i);
  }
  if (whole == n) return;
  const size_t rest = static_cast<size_t>(2 * (n - whole));
  char made[2 * kHalves], first[2 * kHalves] = {}, second[2 * kHalves] = {};
  std::memcpy(first, operands[1] + 2 * whole, rest);
  std::memcpy(second, operands[2] + 2 * whole, rest);
  compute(made, first, second);
  std::memcpy(operands[0] + 2 * whole, made, rest);
}

const LoopEntry half_entries[] = {
    {"add", DA_FLOAT16, 1, of_float16<Add>},           {"subtract", DA_FLOAT16, 1, of_float16<Subtract>},
    {"multiply", DA_FLOAT16, 1, of_float16<Multiply>}, {"divide", DA_FLOAT16, 2, of_float16<Divide>},
    {"maximum", DA_FLOAT16, 1, of_float16<Maximum>},   {"minimum", DA_FLOAT16, 1, of_float16<Minimum>},
};
#endif

}  // namespace

const LoopTable binary_bfloat16 = {brain_entries, std::size(brain_entries)};

#if defined(REFERENCE_CPU_HAS_CLONES)
const LoopTable binary_float16 = {half_entries, converts_halves() ? std::size(half_entries) : 0};
#else
const LoopTable binary_float16 = {nullptr, 0};
#endif

}  // namespace reference_cpu
