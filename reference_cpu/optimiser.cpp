// sgd_step, momentum_step, adam_step and adamw_step: one pass over the parameter and what is kept with it. A
// learning rate or step number is one number for all elements as a rule, and each step is compiled for that
// too. 16-bit floats compute in float32.
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

// in[0] is the parameter and in[1] the gradient; the rest as the op has them, the learning rate last.
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

// kUniform: the learning rate, and the number of the step, have one element for all.
template <class C, bool kUniform>
REFERENCE_CPU_CLONES void sgd(const Rule &rule, const Block<C> &block) {
  const C decay = static_cast<C>(rule.decay);
  const C *const parameter = block.in[0], *const upstream = block.in[1], *const rate = block.in[2];
  C *const out = block.out[0];
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < block.n; ++i) {
    const C gradient = decay != C(0) ? upstream[i] + parameter[i] * decay : upstream[i];
    out[i] = parameter[i] - gradient * rate[kUniform ? 0 : i];
  }
}

template <class C, bool kUniform>
REFERENCE_CPU_CLONES void momentum(const Rule &rule, const Block<C> &block) {
  const C decay = static_cast<C>(rule.decay), kept = static_cast<C>(rule.beta1);
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < block.n; ++i) {
    const C gradient = decay != C(0) ? block.in[1][i] + block.in[0][i] * decay : block.in[1][i];
    const C moved = block.in[2][i] * kept + gradient;
    const C direction = rule.nesterov ? gradient + moved * kept : moved;
    block.out[0][i] = block.in[0][i] - direction * block.in[3][kUniform ? 0 : i];
    block.out[1][i] = moved;
  }
}

// 1 - beta ** step without the loss of digits that the difference would bring.
double correction(double beta, double step) { return beta == 0 ? 1.0 : -std::expm1(step * std::log(beta)); }

// kShrinks: AdamW, which makes the parameter smaller instead of adding it to the gradient. `pace` is the
// learning rate over the mean's correction, and `root` one over the root of the variance's.
template <class C, bool kShrinks, bool kUniform>
REFERENCE_CPU_CLONES void adam_block(const Rule &rule, const Block<C> &block, const C *pace, const C *root) {
  const C decay = static_cast<C>(rule.decay), epsilon = static_cast<C>(rule.epsilon);
  const C beta1 = static_cast<C>(rule.beta1), beta2 = static_cast<C>(rule.beta2);
  const C rest1 = static_cast<C>(1.0 - rule.beta1), rest2 = static_cast<C>(1.0 - rule.beta2);
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < block.n; ++i) {
    const int64_t place = kUniform ? 0 : i;
    C parameter = block.in[0][i], gradient = block.in[1][i];
    if (decay != C(0)) {
      if (kShrinks) {
        parameter *= C(1) - block.in[5][place] * decay;
      } else {
        gradient += parameter * decay;
      }
    }
    const C mean = block.in[2][i] * beta1 + gradient * rest1;
    const C variance = block.in[3][i] * beta2 + gradient * gradient * rest2;
    const C scale = std::sqrt(variance) * root[place] + epsilon;
    block.out[0][i] = parameter - pace[place] * mean / scale;
    block.out[1][i] = mean;
    block.out[2][i] = variance;
  }
}

template <class C, bool kShrinks, bool kUniform>
void adam(const Rule &rule, const Block<C> &block) {
  alignas(64) C pace[kBlock], root[kBlock];
  for (int64_t i = 0; i < (kUniform ? 1 : block.n); ++i) {
    const double step = static_cast<double>(block.in[4][i]), rate = static_cast<double>(block.in[5][i]);
    pace[i] = static_cast<C>(rate / correction(rule.beta1, step));
    root[i] = static_cast<C>(std::sqrt(1.0 / correction(rule.beta2, step)));
  }
  adam_block<C, kShrinks, kUniform>(rule, block, pace, root);
}

// Row-major outputs; inputs of any strides: what is not row-major is copied first, and what is one number
// becomes a block of it unless the step is compiled for that.
template <class C>
class StepPlan final : public Plan {
 public:
  using Function = void (*)(const Rule &rule, const Block<C> &block);

  // The last `numbers` inputs are one number each as a rule.
  StepPlan(const Request &request, const Rule &rule, uint32_t numbers, Function uniform, Function general)
      : rule_(rule),
        inputs_(request.input_count),
        outputs_(request.output_count),
        count_(element_count(request.out())),
        dtype_(request.out().dtype) {
    for (uint32_t k = 0; k < inputs_; ++k) {
      const da_dl_tensor &in = request.in(static_cast<int>(k)).dl;
      bool one = true;
      for (int32_t d = 0; d < in.ndim; ++d) one = one && (in.shape[d] == 1 || in.strides[d] == 0);
      same_[k] = one;
      if (one || is_contiguous(*request.inputs[k])) continue;
      const da_tensor *const given[] = {request.inputs[k]};
      copy_[k] = build_copy({"copy", given, 1, request.outputs, 1, nullptr});
    }
    const bool *const first_number = same_ + inputs_ - numbers, *const end = same_ + inputs_;
    const bool are_numbers = std::count(first_number, end, true) == static_cast<int64_t>(numbers);
    function_ = are_numbers ? uniform : general;
    const bool in_place = !is_half(dtype_) && std::count<const bool *>(same_, first_number, true) == 0;
    length_ = are_numbers && in_place ? kPiece : kBlock;
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
    for (int64_t i = begin; i < end; i += length_) {
      Block<C> block{{}, {}, std::min(length_, end - i)};
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
  int64_t length_;  // of a block: a whole piece where nothing is brought into the plan's own memory
  int32_t dtype_;
  bool same_[kMostInputs] = {};
  std::unique_ptr<Plan> copy_[kMostInputs];
};

template <class C>
struct Functions {
  typename StepPlan<C>::Function uniform, general;
};

std::unique_ptr<Plan> step_plan(const Request &request, const Rule &rule, uint32_t numbers,
                                const Functions<float> &of_float32, const Functions<double> &of_float64) {
  if (request.out().dtype == DA_FLOAT64) {
    return std::make_unique<StepPlan<double>>(request, rule, numbers, of_float64.uniform, of_float64.general);
  }
  return std::make_unique<StepPlan<float>>(request, rule, numbers, of_float32.uniform, of_float32.general);
}

template <class Attributes, bool kShrinks>
std::unique_ptr<Plan> adam_plan(const Request &request) {
  const auto &a = attributes_of<Attributes>(request.attributes);
  return step_plan(request, {a.beta1, a.beta2, a.epsilon, a.weight_decay}, 2,
                   {adam<float, kShrinks, true>, adam<float, kShrinks, false>},
                   {adam<double, kShrinks, true>, adam<double, kShrinks, false>});
}

}  // namespace

std::unique_ptr<Plan> build_sgd_step(const Request &request) {
  Rule rule;
  rule.decay = attributes_of<da_attributes_sgd_step>(request.attributes).weight_decay;
  return step_plan(request, rule, 1, {sgd<float, true>, sgd<float, false>},
                   {sgd<double, true>, sgd<double, false>});
}

std::unique_ptr<Plan> build_momentum_step(const Request &request) {
  const auto &a = attributes_of<da_attributes_momentum_step>(request.attributes);
  return step_plan(request, {a.momentum, 0, 0, a.weight_decay, a.nesterov != 0}, 1,
                   {momentum<float, true>, momentum<float, false>},
                   {momentum<double, true>, momentum<double, false>});
}

std::unique_ptr<Plan> build_adam_step(const Request &request) {
  return adam_plan<da_attributes_adam_step, false>(request);
}

std::unique_ptr<Plan> build_adamw_step(const Request &request) {
  return adam_plan<da_attributes_adamw_step, true>(request);
}

}  // namespace reference_cpu
