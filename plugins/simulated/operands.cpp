// Checks of tensors against the device's claims and the memory behind their handles.
#include "operands.hpp"

#include <cstring>

#include "device.hpp"
#include "device_api/layout.h"
#include "device_api/ops.h"
#include "error.hpp"
#include "reference_cpu/plan.hpp"
#include "runtime.hpp"

namespace simulated {
namespace {

std::string name_of(const char *role, uint32_t index) {
  return std::string(role) + " " + std::to_string(index);
}

[[noreturn]] void refuse(const std::string &why) { throw Failure(DA_STATUS_INVALID_ARGUMENT, why); }

struct Pair {
  const char *op;
  uint32_t output, input;
};
#define PAIR(op, output, input) {op, output, input},
constexpr Pair kPairs[] = {DA_OPS_IN_PLACE_PAIRS(PAIR)};
#undef PAIR

// Whether a kernel of the op with these flags takes an output that is exactly the input.
bool works_in_place(const char *op, uint64_t flags, size_t output, size_t input) {
  if (output == 0 && (flags & DA_KERNEL_IN_PLACE) != 0) return true;
  if ((flags & DA_KERNEL_IN_PLACE_PAIRS) == 0) return false;
  for (const Pair &pair : kPairs) {
    if (pair.output == output && pair.input == input && std::strcmp(pair.op, op) == 0) return true;
  }
  return false;
}

bool is_empty(const da_tensor &tensor) { return reference_cpu::element_count(tensor) == 0; }

void check_tensor(const da_tensor *tensor, const std::string &name, bool may_be_strided) {
  const Configuration &configuration = runtime().configuration;
  check_size("da_tensor", tensor->struct_size, DA_TENSOR_MIN_SIZE);
  if (tensor->dtype <= DA_DTYPE_INVALID || tensor->dtype > DA_FLOAT8_E5M2) {
    refuse(name + " has dtype code " + std::to_string(tensor->dtype) + ", which does not exist");
  }
  if ((DA_DTYPE_BIT(tensor->dtype) & configuration.dtypes) == 0) {
    refuse(name + " has dtype code " + std::to_string(tensor->dtype) + ", which this device does not have");
  }
  const int32_t rank = tensor->dl.ndim;
  if (rank < 0 || static_cast<uint32_t>(rank) > configuration.max_rank) {
    refuse(name + " has rank " + std::to_string(rank) + "; this device takes at most " +
           std::to_string(configuration.max_rank));
  }
  if (rank > 0 && (tensor->dl.shape == nullptr || tensor->dl.strides == nullptr)) {
    refuse(name + " has no shape or no strides");
  }
  if (!may_be_strided && !is_empty(*tensor) && !reference_cpu::is_contiguous(*tensor)) {
    refuse(name + " has strides, and the kernel claims contiguous tensors only");
  }
}

}  // namespace

void check_claims(const da_tensor *const *inputs, uint32_t input_count, const da_tensor *const *outputs,
                  uint32_t output_count, uint64_t flags) {
  for (uint32_t i = 0; i < input_count; ++i) {
    if (inputs[i] == nullptr) continue;
    check_tensor(inputs[i], name_of("input", i), (flags & DA_KERNEL_STRIDED_INPUTS) != 0);
  }
  for (uint32_t i = 0; i < output_count; ++i) {
    if (outputs[i] == nullptr) refuse(name_of("output", i) + " is absent");
    check_tensor(outputs[i], name_of("output", i), (flags & DA_KERNEL_STRIDED_OUTPUTS) != 0);
  }
}

Operands::Operands(const Device &device, const da_tensor *const *inputs, uint32_t input_count,
                   const da_tensor *const *outputs, uint32_t output_count)
    : input_count_(input_count) {
  for (uint32_t i = 0; i < input_count; ++i) add(device, inputs[i], name_of("input", i));
  for (uint32_t i = 0; i < output_count; ++i) add(device, outputs[i], name_of("output", i));
}

void Operands::add(const Device &device, const da_tensor *tensor, const std::string &role) {
  if (tensor == nullptr) {
    copies_.push_back(nullptr);
    pointers_.push_back(nullptr);
    return;
  }
  auto copy = std::make_unique<Copy>();
  const int32_t rank = tensor->dl.ndim;
  copy->tensor.struct_size = sizeof(da_tensor);
  copy->tensor.dl = tensor->dl;
  copy->tensor.dtype = tensor->dtype;
  copy->shape.assign(tensor->dl.shape, tensor->dl.shape + rank);
  copy->strides.assign(tensor->dl.strides, tensor->dl.strides + rank);
  copy->tensor.dl.shape = copy->shape.data();
  copy->tensor.dl.strides = copy->strides.data();
  copy->tensor.dl.data = nullptr;
  copy->tensor.dl.byte_offset = 0;
  copy->gapless = reference_cpu::is_contiguous(*tensor);
  if (!is_empty(*tensor)) {
    const int64_t width = reference_cpu::item_size(tensor->dtype);
    int64_t before = 0, after = 0;  // bytes around the first element
    for (int32_t d = 0; d < rank; ++d) {
      const int64_t reach = (copy->shape[d] - 1) * copy->strides[d] * width;
      (reach < 0 ? before : after) += reach;
    }
    const int64_t start = static_cast<int64_t>(tensor->dl.byte_offset) + before;
    if (start < 0) refuse(role + " begins " + std::to_string(-start) + " bytes before its memory");
    copy->span = static_cast<uint64_t>(after - before + width);
    const Piece piece = runtime().blocks.device_piece(&device, tensor->dl.data, static_cast<uint64_t>(start),
                                                      copy->span, role);
    copy->block = piece.block;
    copy->first = piece.address;
    copy->tensor.dl.data = piece.address - before;
  }
  pointers_.push_back(&copy->tensor);
  copies_.push_back(std::move(copy));
}

void Operands::check_sharing(const char *op, uint64_t flags) const {
  const auto same = [](const Copy &a, const Copy &b) {
    return a.tensor.dl.data == b.tensor.dl.data && a.tensor.dtype == b.tensor.dtype && a.shape == b.shape &&
           (a.strides == b.strides || (a.gapless && b.gapless));
  };
  for (size_t out = input_count_; out < copies_.size(); ++out) {
    for (size_t other = 0; other < copies_.size(); ++other) {
      if (other == out || copies_[other] == nullptr) continue;
      const Copy &a = *copies_[out], &b = *copies_[other];
      const bool overlap = a.first < b.first + b.span && b.first < a.first + a.span;
      if (!overlap) continue;
      const bool in_place = other < input_count_ && works_in_place(op, flags, out - input_count_, other);
      if (in_place && same(a, b)) continue;
      // Views with gaps may interleave without sharing a byte; only what is certain is refused.
      if (!(a.gapless && b.gapless) && !same(a, b)) continue;
      const uint32_t number = static_cast<uint32_t>(other < input_count_ ? other : other - input_count_);
      refuse(name_of("output", static_cast<uint32_t>(out - input_count_)) + " shares memory with " +
             name_of(other < input_count_ ? "input" : "output", number) +
             ", which the kernel does not claim to take");
    }
  }
}

std::vector<SharedBlock> Operands::blocks() const {
  std::vector<SharedBlock> found;
  for (const auto &copy : copies_) {
    if (copy != nullptr && copy->block != nullptr) found.push_back(copy->block);
  }
  return found;
}

uint64_t Operands::bytes() const {
  uint64_t total = 0;
  for (const auto &copy : copies_) {
    if (copy != nullptr) total += copy->span;
  }
  return total;
}

}  // namespace simulated
