// Unary mathematical kernels of float32 in vector form; exp, square roots and reciprocals of both float
// types.
#include <cmath>

#include "families.hpp"
#include "vector_math.hpp"
#include "vector_math64.hpp"

namespace reference_cpu {
namespace {

#define CALL(Name, function)                                    \
  struct Name {                                                 \
    template <class T>                                          \
    static inline __attribute__((always_inline)) T apply(T a) { \
      return vector_math::function(a);                          \
    }                                                           \
  };
CALL(Exp, exp)
CALL(Exp2, exp2)
CALL(Expm1, expm1)
CALL(Log, log)
CALL(Log1p, log1p)
CALL(Log2, log2)
CALL(Log10, log10)
CALL(Sinh, sinh)
CALL(Cosh, cosh)
CALL(Tanh, tanh)
CALL(Erf, erf)
CALL(Erfc, erfc)
CALL(SinCore, sin)
CALL(CosCore, cos)
CALL(TanCore, tan)
#undef CALL

struct Sqrt {
  template <class T>
  static T apply(T a) {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <class T>
  static T apply(T a) {
    return T(1) / a;
  }
};

template <class Op>
constexpr Loop loop = unary_clones<Op, float, float>;

REFERENCE_CPU_CLONES bool any_great_angle(const float *x, int64_t n) {
  int32_t found = 0;
  for (int64_t i = 0; i < n; ++i) found |= !(std::fabs(x[i]) <= vector_math::kGreatestAngle);
  return found != 0;
}

// Angles too great for the vector form are done over by the C library, one by one. The input may be the
// output, so a block of it is kept.
template <class Core, float (*exact)(float)>
void trigonometric(char *const *operands, int64_t n) {
  constexpr int64_t kBlock = 512;
  float kept[kBlock];
  for (int64_t done = 0; done < n; done += kBlock) {
    const int64_t count = n - done < kBlock ? n - done : kBlock;
    std::memcpy(kept, operands[1] + done * 4, static_cast<size_t>(count) * 4);
    char *const block[] = {operands[0] + done * 4, reinterpret_cast<char *>(kept)};
    loop<Core>(block, count);
    if (!any_great_angle(kept, count)) continue;
    for (int64_t i = 0; i < count; ++i) {
      if (std::fabs(kept[i]) <= vector_math::kGreatestAngle) continue;
      const float value = exact(kept[i]);
      std::memcpy(block[0] + i * 4, &value, sizeof(value));
    }
  }
}

float exact_sin(float x) { return std::sin(x); }
float exact_cos(float x) { return std::cos(x); }
float exact_tan(float x) { return std::tan(x); }

const LoopEntry entries[] = {
    {"exp", DA_FLOAT32, 2, loop<Exp>},
    {"exp", DA_FLOAT64, 6, unary_clones<Exp, double, double>},
    {"exp2", DA_FLOAT32, 2, loop<Exp2>},
    {"expm1", DA_FLOAT32, 3, loop<Expm1>},
    {"log", DA_FLOAT32, 3, loop<Log>},
    {"log1p", DA_FLOAT32, 6, loop<Log1p>},
    {"log2", DA_FLOAT32, 6, loop<Log2>},
    {"log10", DA_FLOAT32, 6, loop<Log10>},
    {"sin", DA_FLOAT32, 5, trigonometric<SinCore, exact_sin>},
    {"cos", DA_FLOAT32, 5, trigonometric<CosCore, exact_cos>},
    {"tan", DA_FLOAT32, 6, trigonometric<TanCore, exact_tan>},
    {"sinh", DA_FLOAT32, 6, loop<Sinh>},
    {"cosh", DA_FLOAT32, 6, loop<Cosh>},
    {"tanh", DA_FLOAT32, 4, loop<Tanh>},
    {"erf", DA_FLOAT32, 4, loop<Erf>},
    {"erfc", DA_FLOAT32, 5, loop<Erfc>},
    {"sqrt", DA_FLOAT32, 1, loop<Sqrt>},
    {"reciprocal", DA_FLOAT32, 1, loop<Reciprocal>},
    {"sqrt", DA_FLOAT64, 2, unary_clones<Sqrt, double, double>},
    {"reciprocal", DA_FLOAT64, 2, unary_clones<Reciprocal, double, double>},
};

}  // namespace

const LoopTable unary_float32 = {entries, std::size(entries)};

}  // namespace reference_cpu
