// Activations that are one pass over memory instead of several. float32 (and by widening 16-bit floats), and
// float64 where the functions needed exist for both.
#include "device_api/ops.h"
#include "elementwise.hpp"
#include "error.hpp"
#include "families.hpp"
#include "vector_math.hpp"
#include "vector_math64.hpp"

namespace reference_cpu {
namespace {

#define INLINE static inline __attribute__((always_inline))

struct Relu {
  template <class T>
  INLINE T apply(T x) {
    const T made = x > T(0) ? x : T(0);
    return x == x ? made : x;
  }
};

struct Relu6 {
  template <class T>
  INLINE T apply(T x) {
    const T made = x > T(0) ? (x < T(6) ? x : T(6)) : T(0);
    return x == x ? made : x;
  }
};

struct Hardswish {
  template <class T>
  INLINE T apply(T x) {
    const T raised = x + T(3);
    const T limited = raised > T(0) ? (raised < T(6) ? raised : T(6)) : T(0);
    return x * (limited * T(1.0 / 6));  // NaN by the first factor
  }
};

// factor * sigmoid(x), also where the sigmoid alone would be subnormal: of exp(x) and exp(-x) the one that
// cannot overflow.
template <class T>
INLINE T times_sigmoid(T factor, T x) {
  const vector_math::Factors<T> power = vector_math::exp_factors(x < T(0) ? x : -x);
  const T share = T(1) + power.product();
  return x < T(0) ? factor * power.first / share * power.second : factor / share;
}

struct Sigmoid {
  template <class T>
  INLINE T apply(T x) {
    return times_sigmoid(T(1), x);
  }
};

struct Silu {
  template <class T>
  INLINE T apply(T x) {
    return times_sigmoid(x, x);
  }
};

struct Softplus {
  INLINE float apply(float x) {
    const float rest = vector_math::log1p(vector_math::exp(x < 0 ? x : -x));
    return (x > 0 ? x : 0.0f) + rest;
  }
};

// With e = exp(-|x|), tanh(log(1 + exp(x))) is a quotient that cannot overflow.
struct Mish {
  template <class T>
  INLINE T apply(T x) {
    const vector_math::Factors<T> power = vector_math::exp_factors(x < T(0) ? x : -x);
    const T e = power.product();
    if (x < T(0)) return x * power.first * ((e + T(2)) / (e * (e + T(2)) + T(2))) * power.second;
    const T top = e * T(2) + T(1);
    return x * (top / (top + e * e * T(2)));
  }
};

// The normal distribution function of -|x| keeps its digits however small it is; from 14.5 on, nothing is
// left.
struct Gelu {
  INLINE float apply(float x) {
    const float size = std::fabs(x), t = size > 15.5f ? 15.5f : size;
    const vector_math::Factors<float> power = vector_math::exp_of_square(t, 0.5f);
    const float tail = 0.5f * vector_math::scaled_erfc(t * 0.70710678f) * power.first;
    const float beyond = size > 15.5f ? 0.0f : tail;
    return x < 0 ? x * beyond * power.second : x * (1.0f - beyond * power.second);
  }
};

// 1 + tanh(y) is twice the sigmoid of 2 y.
struct GeluByTanh {
  INLINE float apply(float x) {
    const float inner = x * (1.0f + 0.044715f * (x * x));
    return times_sigmoid(x, inner * 1.59576912f);
  }
};

// With the share E = exp(-x^2 / 2) of |x|, the slope at -|x| is E times a difference that stays of moderate
// size, and the slope at |x| is 1 less that. Infinities have no slope.
struct GeluGradient {
  INLINE float apply(float upstream, float x) {
    const float size = std::fabs(x), t = size > 15.5f ? 15.5f : size;
    const vector_math::Factors<float> power = vector_math::exp_of_square(t, 0.5f);
    const float tail = 0.5f * vector_math::scaled_erfc(t * 0.70710678f) - t * 0.398942280f;
    const float below = size > 15.5f ? x * 0.0f : tail * power.first;
    return x < 0 ? upstream * below * power.second : upstream * (1.0f - below * power.second);
  }
};

// With s the sigmoid of twice the argument of the hyperbolic tangent: s + x * s', where beyond 10 only s is
// left.
struct GeluGradientByTanh {
  INLINE float apply(float upstream, float x) {
    const float near = x < -10.0f ? -10.0f : (x > 10.0f ? 10.0f : x), square = near * near;
    const float inner = 1.59576912f * near * (1.0f + 0.044715f * square);
    const float steep = 1.59576912f * near * (1.0f + 0.134145f * square);
    const vector_math::Factors<float> power = vector_math::exp_factors(inner < 0 ? inner : -inner);
    const float e = power.product(), share = 1.0f / (1.0f + e);
    const float bend = 1.0f + steep * share * (inner < 0 ? 1.0f : e);
    const float slope = (inner < 0 ? upstream * power.first * share * power.second : upstream * share) * bend;
    return slope + x * 0.0f;
  }
};

#undef INLINE

template <class Op, class T>
constexpr Loop loop = unary_clones<Op, T, T>;

const LoopEntry entries[] = {
    {"relu", DA_FLOAT32, 1, loop<Relu, float>},
    {"relu", DA_FLOAT64, 1, loop<Relu, double>},
    {"relu6", DA_FLOAT32, 1, loop<Relu6, float>},
    {"relu6", DA_FLOAT64, 1, loop<Relu6, double>},
    {"hardswish", DA_FLOAT32, 1, loop<Hardswish, float>},
    {"hardswish", DA_FLOAT64, 1, loop<Hardswish, double>},
    {"sigmoid", DA_FLOAT32, 3, loop<Sigmoid, float>},
    {"sigmoid", DA_FLOAT64, 6, loop<Sigmoid, double>},
    {"silu", DA_FLOAT32, 3, loop<Silu, float>},
    {"silu", DA_FLOAT64, 6, loop<Silu, double>},
    {"mish", DA_FLOAT32, 4, loop<Mish, float>},
    {"mish", DA_FLOAT64, 8, loop<Mish, double>},
    {"softplus", DA_FLOAT32, 8, loop<Softplus, float>},
};

}  // namespace

const LoopTable activations = {entries, std::size(entries)};

std::unique_ptr<Plan> build_gelu(const Request &request) {
  const bool by_tanh = attributes_of<da_attributes_gelu>(request.attributes).approximate != 0;
  const LoopEntry entry{"gelu", DA_FLOAT32, 5, by_tanh ? loop<GeluByTanh, float> : loop<Gelu, float>};
  return elementwise_plan(request, widened_recipe(request, entry));
}

std::unique_ptr<Plan> build_gelu_gradient(const Request &request) {
  const bool by_tanh = attributes_of<da_attributes_gelu_gradient>(request.attributes).approximate != 0;
  const LoopEntry entry{
      "gelu_gradient", DA_FLOAT32, 6,
      by_tanh ? binary_clones<GeluGradientByTanh, float, float> : binary_clones<GeluGradient, float, float>};
  return elementwise_plan(request, widened_recipe(request, entry));
}

}  // namespace reference_cpu
