// Unary mathematical kernels of complex numbers.
#include <complex>

#include "complex_math.hpp"
#include "families.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

#define CALL(Name, expression)                        \
  struct Name {                                       \
    template <class T>                                \
    static std::complex<T> apply(std::complex<T> z) { \
      return expression;                              \
    }                                                 \
  };
CALL(Sqrt, std::sqrt(z))
CALL(Reciprocal, std::complex<T>(T(1)) / z)
CALL(Exp, std::exp(z))
CALL(Expm1, complex_expm1(z))
CALL(Log, std::log(z))
CALL(Log1p, complex_log1p(z))
CALL(Log2, complex_scaled(std::log(z), T(1.44269504088896340735992468100)))
CALL(Log10, complex_scaled(std::log(z), T(0.434294481903251827651128918917)))
CALL(Sin, std::sin(z))
CALL(Cos, std::cos(z))
CALL(Tan, complex_tan(z))
CALL(Asin, std::asin(z))
CALL(Acos, std::acos(z))
CALL(Atan, std::atan(z))
CALL(Sinh, std::sinh(z))
CALL(Cosh, std::cosh(z))
CALL(Tanh, complex_tanh(z))
CALL(Asinh, std::asinh(z))
CALL(Acosh, std::acosh(z))
CALL(Atanh, std::atanh(z))
#undef CALL

#define BOTH(name, Op)                                               \
  {name, DA_COMPLEX64, 40, unary_plain<Op, complex64, complex64>}, { \
    name, DA_COMPLEX128, 60, unary_plain<Op, complex128, complex128> \
  }

const LoopEntry entries[] = {
    BOTH("sqrt", Sqrt),   BOTH("reciprocal", Reciprocal),
    BOTH("exp", Exp),     BOTH("expm1", Expm1),
    BOTH("log", Log),     BOTH("log1p", Log1p),
    BOTH("log2", Log2),   BOTH("log10", Log10),
    BOTH("sin", Sin),     BOTH("cos", Cos),
    BOTH("tan", Tan),     BOTH("asin", Asin),
    BOTH("acos", Acos),   BOTH("atan", Atan),
    BOTH("sinh", Sinh),   BOTH("cosh", Cosh),
    BOTH("tanh", Tanh),   BOTH("asinh", Asinh),
    BOTH("acosh", Acosh), BOTH("atanh", Atanh),
};

}  // namespace

const LoopTable unary_complex = {entries, std::size(entries)};

}  // namespace reference_cpu
