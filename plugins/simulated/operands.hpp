// Tensors of a launch: the checks of what the host passed, and copies that outlive the call, with handles
// replaced by the addresses behind them.
#ifndef SIMULATED_OPERANDS_HPP
#define SIMULATED_OPERANDS_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "blocks.hpp"
#include "device_api/kernel.h"

namespace simulated {

struct Device;

// Throws Failure when the tensors ask for more than the device or the kernel's flags allow.
void check_claims(const da_tensor *const *inputs, uint32_t input_count, const da_tensor *const *outputs,
                  uint32_t output_count, uint64_t flags);

class Operands {
 public:
  Operands(const Device &device, const da_tensor *const *inputs, uint32_t input_count,
           const da_tensor *const *outputs, uint32_t output_count);

  // Throws Failure when an output shares memory with an input (or another output) in a way that a kernel of
  // the op with these flags does not claim to take.
  void check_sharing(const char *op, uint64_t flags) const;

  const da_tensor *const *inputs() const { return pointers_.data(); }
  uint32_t input_count() const { return input_count_; }
  const da_tensor *const *outputs() const { return pointers_.data() + input_count_; }
  uint32_t output_count() const { return static_cast<uint32_t>(pointers_.size()) - input_count_; }
  std::vector<SharedBlock> blocks() const;
  uint64_t bytes() const;  // that the kernel reads and writes at least

 private:
  struct Copy {
    da_tensor tensor{};
    std::vector<int64_t> shape, strides;
    SharedBlock block;
    char *first = nullptr;  // the bytes that the elements span
    uint64_t span = 0;
    bool gapless = false;
  };
  void add(const Device &device, const da_tensor *tensor, const std::string &role);

  uint32_t input_count_;
  std::vector<std::unique_ptr<Copy>> copies_;  // NULL for an absent input
  std::vector<const da_tensor *> pointers_;
};

}  // namespace simulated

#endif
