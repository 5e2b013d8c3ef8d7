// See halves.hpp.
#include "halves.hpp"

#include "types.hpp"

namespace reference_cpu {
namespace {

struct Widen {
  template <class A>
  static float apply(A a) {
    return widen(a);
  }
};

template <class To>
struct Narrow {
  static To apply(float a) { return narrow<To>(a); }
};

}  // namespace

Loop widen_loop(int32_t dtype) {
  return dtype == DA_FLOAT16 ? unary_clones<Widen, float, float16> : unary_clones<Widen, float, bfloat16>;
}

Loop narrow_loop(int32_t dtype) {
  return dtype == DA_FLOAT16 ? unary_clones<Narrow<float16>, float16, float>
                             : unary_clones<Narrow<bfloat16>, bfloat16, float>;
}

}  // namespace reference_cpu
