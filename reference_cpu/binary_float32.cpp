// Binary mathematical kernels of float32 in vector form.
#include "families.hpp"
#include "vector_math.hpp"

namespace reference_cpu {
namespace {

struct Power {
  static inline __attribute__((always_inline)) float apply(float a, float b) {
    return vector_math::pow(a, b);
  }
};

const LoopEntry entries[] = {
    {"pow", DA_FLOAT32, 10, binary_clones<Power, float, float>},
};

}  // namespace

const LoopTable binary_float32 = {entries, std::size(entries)};

}  // namespace reference_cpu
