// Weights and biases of the normalisations, which may be absent, as numbers that kernels compute with.
#ifndef REFERENCE_CPU_PARAMETER_HPP
#define REFERENCE_CPU_PARAMETER_HPP

#include <vector>

#include "halves.hpp"
#include "plan.hpp"

namespace reference_cpu {

// An optional parameter as `size` numbers, which change nothing when it is absent.
template <class C>
class Parameter {
 public:
  Parameter(const da_tensor *tensor, int64_t size, C neutral) {
    if (tensor == nullptr) {
      memory_.assign(static_cast<size_t>(size), neutral);
    } else if (is_half(tensor->dtype)) {
      memory_.resize(static_cast<size_t>(size));
      char *const pair[] = {reinterpret_cast<char *>(memory_.data()), address(tensor)};
      widen_loop(tensor->dtype)(pair, size);
    } else {
      numbers_ = reinterpret_cast<const C *>(address(tensor));
      return;
    }
    numbers_ = memory_.data();
  }
  const C *numbers() const { return numbers_; }

 private:
  const C *numbers_;
  std::vector<C> memory_;
};

}  // namespace reference_cpu

#endif
