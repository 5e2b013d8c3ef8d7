// Tensor descriptors: consistent, inside of their memory, and not on top of each other.
#include <algorithm>
#include <cstring>

#include "device_api/ops.h"

#include "validate.hpp"

namespace device_api::layers {

namespace {

struct DlFacts {
  uint8_t code;
  uint8_t bits;
};
// By enum da_dtype.
constexpr DlFacts kDlFacts[] = {{0, 0},  {6, 8},  {0, 8},  {0, 16},  {0, 32}, {0, 64},
                                {1, 8},  {1, 16}, {1, 32}, {1, 64},  {2, 16}, {4, 16},
                                {2, 32}, {2, 64}, {5, 64}, {5, 128}, {10, 8}, {12, 8}};
constexpr int32_t kDtypes = sizeof(kDlFacts) / sizeof(kDlFacts[0]);

bool same_tensor(const da_tensor &a, const da_tensor &b) {
  if (a.dtype != b.dtype || a.dl.ndim != b.dl.ndim || a.dl.byte_offset != b.dl.byte_offset) return false;
  for (int32_t i = 0; i < a.dl.ndim; ++i) {
    if (a.dl.shape[i] != b.dl.shape[i]) return false;
    if (a.dl.shape[i] > 1 && a.dl.strides[i] != b.dl.strides[i]) return false;
  }
  return true;
}

// Whether the op set lets a kernel have the output in the memory of the input. What a custom op pairs stands
// in its schema, which the host reads: for those any pair is taken.
bool is_paired(const char *op, uint32_t output, uint32_t input) {
  struct Pair {
    const char *op;
    uint32_t output, input;
  };
#define PAIR(op, output, input) {op, output, input},
  static constexpr Pair kPairs[] = {DA_OPS_IN_PLACE_PAIRS(PAIR)};
#undef PAIR
  if (std::strchr(op, '.') != nullptr) return true;
  for (const Pair &pair : kPairs)
    if (pair.output == output && pair.input == input && std::strcmp(pair.op, op) == 0) return true;
  return false;
}

// Whether a kernel takes an output and an input that are the very same tensor. None: its flags are not known.
bool works_in_place(const KernelEntry *entry, uint32_t output, uint32_t input) {
  if (entry == nullptr) return output == 0;
  const uint64_t flags = entry->below.flags;
  if (output == 0 && (flags & DA_KERNEL_IN_PLACE) != 0) return true;
  return (flags & DA_KERNEL_IN_PLACE_PAIRS) != 0 && is_paired(entry->below.op, output, input);
}

}  // namespace

Extent extent_of(const da_tensor &tensor) {
  Extent extent;
  const int64_t size = tensor.dl.dtype.bits / 8;
  int64_t elements = 1;
  for (int32_t i = 0; i < tensor.dl.ndim; ++i) {
    const int64_t count = tensor.dl.shape[i];
    if (count == 0) extent.empty = true;
    int64_t reach = 0;
    if (count < 0 || __builtin_mul_overflow(count - 1, tensor.dl.strides[i], &reach) ||
        __builtin_mul_overflow(reach, size, &reach) ||
        __builtin_add_overflow(reach < 0 ? extent.low : extent.high, reach,
                               reach < 0 ? &extent.low : &extent.high) ||
        __builtin_mul_overflow(elements, count, &elements)) {
      extent.high = INT64_MAX - size;  // beyond any allocation
    }
  }
  extent.high += size;
  extent.dense = elements * size == extent.high - extent.low;
  return extent;
}

bool is_contiguous(const da_tensor &tensor) {
  int64_t expected = 1;
  for (int32_t i = tensor.dl.ndim - 1; i >= 0; --i) {
    if (tensor.dl.shape[i] == 0) return true;
    if (tensor.dl.shape[i] != 1 && tensor.dl.strides[i] != expected) return false;
    expected *= tensor.dl.shape[i];
  }
  return true;
}

bool Validate::check_tensor(Call &call, const std::string &name, const da_tensor *tensor,
                            const void *device) {
  if (tensor->struct_size < DA_TENSOR_MIN_SIZE || tensor->struct_size % 8 != 0) {
    find(call, Rule::CALL_02, name + ".struct_size is " + std::to_string(tensor->struct_size));
    return false;
  }
  if (tensor->extension != nullptr) find(call, Rule::CALL_03, name + ".extension is not NULL");
  const da_dl_tensor &dl = tensor->dl;
  const int32_t dtype = tensor->dtype;
  if (dtype < DA_BOOL || dtype >= kDtypes || dl.dtype.code != kDlFacts[dtype].code ||
      dl.dtype.bits != kDlFacts[dtype].bits || dl.dtype.lanes != 1) {
    find(call, Rule::KERNEL_06,
         name + ".dtype is " + std::to_string(dtype) + ", dl.dtype is code " + std::to_string(dl.dtype.code) +
             ", " + std::to_string(dl.dtype.bits) + " bits, " + std::to_string(dl.dtype.lanes) + " lanes");
    return false;
  }
  auto facts = facts_.find(device);
  const bool known = facts != facts_.end() && facts->second.known;
  if (known && (facts->second.dtypes & DA_DTYPE_BIT(dtype)) == 0)
    find(call, Rule::KERNEL_18, name + ".dtype is " + std::to_string(dtype));
  const int32_t most = known ? static_cast<int32_t>(facts->second.max_rank) : DA_MAX_RANK;
  if (dl.ndim < 0 || dl.ndim > most) {
    find(call, Rule::KERNEL_07, name + ".ndim is " + std::to_string(dl.ndim) + " of " + std::to_string(most));
    return false;
  }
  if (dl.ndim > 0 && (dl.shape == nullptr || dl.strides == nullptr)) {
    find(call, Rule::KERNEL_08, name + (dl.shape == nullptr ? ".shape is NULL" : ".strides is NULL"));
    return false;
  }
  for (int32_t i = 0; i < dl.ndim; ++i) {
    if (dl.shape[i] >= 0) continue;
    find(call, Rule::KERNEL_08, name + ".shape[" + std::to_string(i) + "] is " + std::to_string(dl.shape[i]));
    return false;
  }
  return true;
}

void Validate::check_placed(Call &call, const std::string &name, const da_tensor &tensor,
                            const void *device) {
  const Extent extent = extent_of(tensor);
  if (extent.empty) return;
  const int64_t offset = static_cast<int64_t>(tensor.dl.byte_offset);
  if (offset < 0 || offset + extent.low < 0) {
    find(call, Rule::KERNEL_10, name + " begins before its memory");
    return;
  }
  check_range(call, name.c_str(), tensor.dl.data, static_cast<uint64_t>(offset + extent.low),
              static_cast<uint64_t>(extent.high - extent.low), device, Rule::KERNEL_09, Rule::KERNEL_10);
}

void Validate::check_tensors(Call &call, const KernelEntry *entry, const void *device,
                             const da_tensor *const *inputs, uint32_t input_count,
                             const da_tensor *const *outputs, uint32_t output_count, bool launched) {
  const uint64_t flags = entry == nullptr ? ~UINT64_C(0) : entry->below.flags;
  bool sound = true;
  bool all_empty = output_count != 0;
  for (const bool is_output : {false, true}) {
    const da_tensor *const *tensors = is_output ? outputs : inputs;
    const uint32_t count = is_output ? output_count : input_count;
    const uint64_t strided = is_output ? DA_KERNEL_STRIDED_OUTPUTS : DA_KERNEL_STRIDED_INPUTS;
    if (count != 0 && tensors == nullptr) {
      find(call, Rule::KERNEL_05, is_output ? "outputs is NULL" : "inputs is NULL");
      sound = false;
      continue;
    }
    for (uint32_t i = 0; i < count; ++i) {
      const std::string name = (is_output ? "outputs[" : "inputs[") + std::to_string(i) + "]";
      if (tensors[i] == nullptr) {
        if (is_output) find(call, Rule::KERNEL_05, name + " is NULL");
        sound = sound && !is_output;
        continue;
      }
      const da_tensor &tensor = *tensors[i];
      if (!check_tensor(call, name, &tensor, device)) {
        sound = false;
        continue;
      }
      const Extent extent = extent_of(tensor);
      if (is_output && !extent.empty) all_empty = false;
      if ((flags & strided) == 0 && !is_contiguous(tensor))
        find(call, Rule::KERNEL_11, name + " has strides, and the kernel takes none");
      for (int32_t k = 0; is_output && !extent.empty && k < tensor.dl.ndim; ++k) {
        if (tensor.dl.shape[k] < 2 || tensor.dl.strides[k] != 0) continue;
        find(call, Rule::KERNEL_12, name + " has stride 0 on axis " + std::to_string(k));
        break;
      }
      if (launched) check_placed(call, name, tensor, device);
    }
  }
  if (!launched || !sound) return;
  if (all_empty) find(call, Rule::KERNEL_14, "every output is empty");
  check_aliases(call, entry, inputs, input_count, outputs, output_count);
}

void Validate::check_aliases(Call &call, const KernelEntry *entry, const da_tensor *const *inputs,
                             uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count) {
  for (uint32_t o = 0; o < output_count; ++o) {
    const da_tensor &output = *outputs[o];
    const Extent written = extent_of(output);
    const int64_t start = static_cast<int64_t>(output.dl.byte_offset) + written.low;
    const int64_t end = static_cast<int64_t>(output.dl.byte_offset) + written.high;
    for (uint32_t i = 0; i < input_count + o; ++i) {
      const da_tensor *other = i < input_count ? inputs[i] : outputs[i - input_count];
      if (other == nullptr || other->dl.data != output.dl.data || written.empty) continue;
      const Extent read = extent_of(*other);
      const int64_t first = static_cast<int64_t>(other->dl.byte_offset) + read.low;
      const int64_t last = static_cast<int64_t>(other->dl.byte_offset) + read.high;
      if (read.empty || last <= start || end <= first) continue;
      const bool same = same_tensor(*other, output);
      if (same && i < input_count && works_in_place(entry, o, i)) continue;
      // Ranges with holes may interleave without an element in common: not decided here.
      if (!same && !(read.dense && written.dense)) continue;
      find(call, Rule::KERNEL_13,
           "outputs[" + std::to_string(o) + "] overlaps " +
               (i < input_count ? "inputs[" + std::to_string(i)
                                : "outputs[" + std::to_string(i - input_count)) +
               "]");
    }
  }
}

void Validate::use_tensors(const void *stream, uint64_t position, const da_tensor *const *tensors,
                           uint32_t count) {
  for (uint32_t i = 0; tensors != nullptr && i < count; ++i)
    if (tensors[i] != nullptr) use_memory(tensors[i]->dl.data, stream, position);
}

}  // namespace device_api::layers
