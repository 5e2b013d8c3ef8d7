// clip: one pass with both limits; with one of them it is maximum or minimum. The result is the upper limit
// where the lower one is above it, and NaN where any operand is.
#include "elementwise.hpp"
#include "families.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

template <class T>
REFERENCE_CPU_CLONES void clip(char *const *operands, int64_t n) {
  Cell<T> *out = cells<T>(operands[0]);
  const Cell<T> *x = cells<T>(operands[1]), *low = cells<T>(operands[2]), *high = cells<T>(operands[3]);
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const T a = x[i].get(), least = low[i].get(), most = high[i].get();
    T made = a < least ? least : a;
    made = least != least ? least : made;
    made = made > most ? most : made;
    out[i].set(most != most ? most : made);
  }
}

const LoopEntry entries[] = {
    {"clip", DA_INT8, 1, clip<int8_t>},     {"clip", DA_INT16, 1, clip<int16_t>},
    {"clip", DA_INT32, 1, clip<int32_t>},   {"clip", DA_INT64, 1, clip<int64_t>},
    {"clip", DA_UINT8, 1, clip<uint8_t>},   {"clip", DA_UINT16, 1, clip<uint16_t>},
    {"clip", DA_UINT32, 1, clip<uint32_t>}, {"clip", DA_UINT64, 1, clip<uint64_t>},
    {"clip", DA_FLOAT32, 1, clip<float>},   {"clip", DA_FLOAT64, 1, clip<double>},
};

// A plan of another op on x and the one limit that is given; without any limit, a copy.
class OneLimitPlan final : public Plan {
 public:
  explicit OneLimitPlan(const Request &request) : limit_(request.has(1) ? 1 : 2) {
    const da_tensor *const given[] = {request.inputs[0], request.inputs[limit_]};
    if (given[1] == nullptr) {
      plan_ = build_copy({request.op, given, 1, request.outputs, 1, nullptr});
    } else {
      const char *op = limit_ == 1 ? "maximum" : "minimum";
      plan_ = build_elementwise({op, given, 2, request.outputs, 1, nullptr});
    }
  }

  void run(const da_tensor *const *inputs, const da_tensor *const *outputs, const void *) const override {
    const da_tensor *const given[] = {inputs[0], inputs[limit_]};
    plan_->run(given, outputs, nullptr);
  }

 private:
  int limit_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace

const LoopTable clips = {entries, std::size(entries)};

std::unique_ptr<Plan> build_clip(const Request &request) {
  if (request.has(1) && request.has(2)) return build_elementwise(request);
  return std::make_unique<OneLimitPlan>(request);
}

}  // namespace reference_cpu
