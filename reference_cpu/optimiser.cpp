// sgd_step, momentum_step, adam_step and adamw_step: one pass over the parameter and what is kept with it, a
// block of elements at a time. A learning rate or step number that is the same for all elements is widened to
// one block, once. 16-bit floats compute in float32.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "device_api/ops.h"
#include "error.hpp"
#include "families.hpp"
#include "halves.hpp"
#include "pool.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

constexpr int64_t kBlock = 1024;     // elements
constexpr int64_t kPiece = 1 << 15;  // elements of one thread's piece
constexpr int kMostInputs = 6, kMostOutputs = 3;

// in[0] is the parameter and in[1] the gradient; the rest as the op has them.
template <class C>
struct Block {
  const C *in[kMostInputs];
  C *out[kMostOutputs];
  int64_t n;
};

struct Rule {
  double beta1 = 0, beta2 = 0;  // beta1: also the momentum
  double epsilon = 0, decay = 0;
  bool nesterov = false;
};

template <class C>
REFERENCE_CPU_CLONES void sgd(const Rule &rule, const Block<C> &block) {
  const C decay = static_cast<C>(rule.decay);
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < block.n; ++i) {
    const C gradient = decay != C(0) ? block.in[1][i] + block.in[0][i] * decay : block.in[1][i];
    block.out[0][i] = block.in[0][i] - gradient * block.in[2][i];
  }
}

template <class C>
REFERENCE_CPU_CLONES void momentum(const Rule &rule, const Block<C> &block) {
  const C decay = static_cast<C>(rule.decay), kept = static_cast<C>(rule.beta1);
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < block.n; ++i) {
    const C gradient = decay != C(0) ? block.in[1][i] + block.in[0][i] * decay : block.in[1][i];
    const C moved = block.in[2][i] * kept + gradient;
    const C direction = rule.nesterov ? gradient + moved * kept : moved;
    block.out[0][i] = block.in[0][i] - direction * block.in[3][i];
    block.out[1][i] = moved;
  }
}

template <class C>
REFERENCE_CPU_CLONES bool all_same(const C *x, int64_t n) {
  int32_t differ = 0;
  for (int64_t i = 1; i < n; ++i) differ |= x[i] != x[0];
  return differ == 0;
}

// 1 - beta ** step without the loss of digits that the difference would bring. As a rule the step number is
// the same all over, and its power is taken once.
template <class C>
void corrections(double beta, const C *step, C *made, int64_t n) {
  const auto correction = [beta](C number) {
    return beta == 0 ? C(1) : static_cast<C>(-std::expm1(static_cast<double>(number) * std::log(beta)));
  };
  if (all_same(step, n)) {
    std::fill(made, made + n, correction(step[0]));
  } else {
    std::transform(step, step + n, made, correction);
  }
}

// kShrinks: AdamW, which makes the parameter smaller instead of adding it to the gradient.
template <class C, bool kShrinks>
REFERENCE_CPU_CLONES void adam_block(const Rule &rule, const Block<C> &block, const C *first,
                                     const C *second) {
  const C decay = static_cast<C>(rule.decay), epsilon = static_cast<C>(rule.epsilon);
  const C beta1 = static_cast<C>(rule.beta1), beta2 = static_cast<C>(rule.beta2);
  const C rest1 = static_cast<C>(1.0 - rule.beta1), rest2 = static_cast<C>(1.0 - rule.beta2);
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < block.n; ++i) {
    C parameter = block.in[0][i], gradient = block.in[1][i];
    const C rate = block.in[5][i];
    if (decay != C(0)) {
      if (kShrinks) {
        parameter *= C(1) - rate * decay;
      } else {
        gradient += parameter * decay;
      }
    }
    const C mean = block.in[2][i] * beta1 + gradient * rest1;
    const C variance = block.in[3][i] * beta2 + gradient * gradient * rest2;
    const C scale = std::sqrt(variance / second[i]) + epsilon;
    block.out[0][i] = parameter - rate * mean / (first[i] * scale);
    block.out[1][i] = mean;
    block.out[2][i] = variance;
  }
}

template <class C, bool kShrinks>
void adam(const Rule &rule, const Block<C> &block) {
  alignas(64) C first[kBlock], second[kBlock];
  corrections(rule.beta1, block.in[4], first, block.n);
  corrections(rule.beta2, block.in[4], second, block.n);
  adam_block<C, kShrinks>(rule, block, first, second);
}

// Row-major outputs; inputs of any strides: what is not row-major is copied first, what is one number becomes
// a block of it.
template <class C>
class StepPlan final : public Plan {
 public:
  using Function = void (*)(const Rule &rule, const Block<C> &block);

  StepPlan(const Request &request, const Rule &rule, Function function)
      : rule_(rule),
        function_(function),
        inputs_(request.input_count),
        outputs_(request.output_count),
        count_(element_count(request.out())),
        dtype_(request.out().dtype) {
    for (uint32_t k = 0; k < inputs_; ++k) {
      const da_dl_tensor &in = request.in(static_cast<int>(k)).dl;
      bool one = count_ > 1;
      for (int32_t d = 0; d < in.ndim; ++d) one = one && (in.shape[d] == 1 || in.strides[d] == 0);
      same_[k] = one;
      if (one || is_contiguous(*request.inputs[k])) continue;
      const da_tensor *const given[] = {request.inputs[k]};
      copy_[k] = build_copy({"copy", given, 1, request.outputs, 1, nullptr});
    }
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const int64_t width = item_size(dtype_);
    const char *from[kMostInputs];
    std::vector<char> copies[kMostInputs];
    for (uint32_t k = 0; k < inputs_; ++k) {
      from[k] = address(inputs[k]);
      if (copy_[k] == nullptr) continue;
      copies[k].resize(static_cast<size_t>(count_ * width));
      da_tensor target = *outputs[0];
      target.dl.data = copies[k].data();
      target.dl.byte_offset = 0;
      const da_tensor *const given[] = {inputs[k]}, *const made[] = {&target};
      copy_[k]->run(given, made, nullptr);
      from[k] = copies[k].data();
    }
    char *to[kMostOutputs];
    for (uint32_t k = 0; k < outputs_; ++k) to[k] = address(outputs[k]);
    parallel_for(count_, kPiece, [&](int64_t begin, int64_t end) { run_piece(from, to, begin, end); });
  }

 private:
  void run_piece(const char *const *from, char *const *to, int64_t begin, int64_t end) const {
    const int64_t width = item_size(dtype_);
    alignas(64) C numbers[kMostInputs + kMostOutputs][kBlock];
    for (uint32_t k = 0; k < inputs_; ++k) {
      if (same_[k]) std::fill(numbers[k], numbers[k] + kBlock, first_of(from[k]));
    }
    for (int64_t i = begin; i < end; i += kBlock) {
      Block<C> block{{}, {}, std::min(kBlock, end - i)};
      for (uint32_t k = 0; k < inputs_; ++k) {
        const char *place = from[k] + i * width;
        block.in[k] = same_[k] || is_half(dtype_) ? numbers[k] : reinterpret_cast<const C *>(place);
        if (same_[k] || !is_half(dtype_)) continue;
        char *const pair[] = {reinterpret_cast<char *>(numbers[k]), const_cast<char *>(place)};
        widen_loop(dtype_)(pair, block.n);
      }
      for (uint32_t k = 0; k < outputs_; ++k) {
        block.out[k] = is_half(dtype_) ? numbers[kMostInputs + k] : reinterpret_cast<C *>(to[k] + i * width);
      }
      function_(rule_, block);
      for (uint32_t k = 0; k < outputs_ && is_half(dtype_); ++k) {
        char *const pair[] = {to[k] + i * width, reinterpret_cast<char *>(block.out[k])};
        narrow_loop(dtype_)(pair, block.n);
      }
    }
  }

  C first_of(const char *from) const {
    if (dtype_ == DA_FLOAT16) return static_cast<C>(widen(*reinterpret_cast<const float16 *>(from)));
    if (dtype_ == DA_BFLOAT16) return static_cast<C>(widen(*reinterpret_cast<const bfloat16 *>(from)));
    return *reinterpret_cast<const C *>(from);
  }

  Rule rule_;
  Function function_;
  uint32_t inputs_, outputs_;
  int64_t count_;
  int32_t dtype_;
  bool same_[kMostInputs] = {};
  std::unique_ptr<Plan> copy_[kMostInputs];
};

std::unique_ptr<Plan> step_plan(const Request &request, const Rule &rule,
                                StepPlan<float>::Function of_float32, StepPlan<double>::Function of_float64) {
  if (request.out().dtype == DA_FLOAT64) return std::make_unique<StepPlan<double>>(request, rule, of_float64);
  return std::make_unique<StepPlan<float>>(request, rule, of_float32);
}

template <class Attributes>
Rule adam_rule(const Attributes &a) {
  return {a.beta1, a.beta2, a.epsilon, a.weight_decay};
}

}  // namespace

std::unique_ptr<Plan> build_sgd_step(const Request &request) {
  Rule rule;
  rule.decay = attributes_of<da_attributes_sgd_step>(request.attributes).weight_decay;
  return step_plan(request, rule, sgd<float>, sgd<double>);
}

std::unique_ptr<Plan> build_momentum_step(const Request &request) {
  const auto &a = attributes_of<da_attributes_momentum_step>(request.attributes);
  const Rule rule{a.momentum, 0, 0, a.weight_decay, a.nesterov != 0};
  return step_plan(request, rule, momentum<float>, momentum<double>);
}

std::unique_ptr<Plan> build_adam_step(const Request &request) {
  const auto &a = attributes_of<da_attributes_adam_step>(request.attributes);
  return step_plan(request, adam_rule(a), adam<float, false>, nullptr);
}

std::unique_ptr<Plan> build_adamw_step(const Request &request) {
  const auto &a = attributes_of<da_attributes_adamw_step>(request.attributes);
  return step_plan(request, adam_rule(a), adam<float, true>, nullptr);
}

}  // namespace reference_cpu
