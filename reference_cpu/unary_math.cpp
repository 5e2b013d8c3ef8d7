// Unary mathematical kernels of float64, and those of float32 that have no vector form: one call of the C
// library for each element.
#include <cmath>

#include "families.hpp"

namespace reference_cpu {
namespace {

#define CALL(Name, function)   \
  struct Name {                \
    template <class T>         \
    static T apply(T a) {      \
      return std::function(a); \
    }                          \
  };
CALL(Exp2, exp2)
CALL(Expm1, expm1)
CALL(Log, log)
CALL(Log1p, log1p)
CALL(Log2, log2)
CALL(Log10, log10)
CALL(Sin, sin)
CALL(Cos, cos)
CALL(Tan, tan)
CALL(Asin, asin)
CALL(Acos, acos)
CALL(Atan, atan)
CALL(Sinh, sinh)
CALL(Cosh, cosh)
CALL(Tanh, tanh)
CALL(Asinh, asinh)
CALL(Acosh, acosh)
CALL(Atanh, atanh)
CALL(Erf, erf)
CALL(Erfc, erfc)
#undef CALL

template <class Op, class T>
constexpr Loop loop = unary_plain<Op, T, T>;

const LoopEntry entries[] = {
    {"exp2", DA_FLOAT64, 8, loop<Exp2, double>},    {"expm1", DA_FLOAT64, 15, loop<Expm1, double>},
    {"log", DA_FLOAT64, 10, loop<Log, double>},     {"log1p", DA_FLOAT64, 15, loop<Log1p, double>},
    {"log2", DA_FLOAT64, 10, loop<Log2, double>},   {"log10", DA_FLOAT64, 15, loop<Log10, double>},
    {"sin", DA_FLOAT64, 15, loop<Sin, double>},     {"cos", DA_FLOAT64, 15, loop<Cos, double>},
    {"tan", DA_FLOAT64, 25, loop<Tan, double>},     {"asin", DA_FLOAT64, 15, loop<Asin, double>},
    {"acos", DA_FLOAT64, 15, loop<Acos, double>},   {"atan", DA_FLOAT64, 15, loop<Atan, double>},
    {"sinh", DA_FLOAT64, 20, loop<Sinh, double>},   {"cosh", DA_FLOAT64, 20, loop<Cosh, double>},
    {"tanh", DA_FLOAT64, 20, loop<Tanh, double>},   {"asinh", DA_FLOAT64, 25, loop<Asinh, double>},
    {"acosh", DA_FLOAT64, 25, loop<Acosh, double>}, {"atanh", DA_FLOAT64, 25, loop<Atanh, double>},
    {"erf", DA_FLOAT64, 20, loop<Erf, double>},     {"erfc", DA_FLOAT64, 25, loop<Erfc, double>},
    {"asin", DA_FLOAT32, 8, loop<Asin, float>},     {"acos", DA_FLOAT32, 8, loop<Acos, float>},
    {"atan", DA_FLOAT32, 8, loop<Atan, float>},     {"asinh", DA_FLOAT32, 20, loop<Asinh, float>},
    {"acosh", DA_FLOAT32, 20, loop<Acosh, float>},  {"atanh", DA_FLOAT32, 20, loop<Atanh, float>},
};

}  // namespace

const LoopTable unary_math = {entries, std::size(entries)};

}  // namespace reference_cpu
