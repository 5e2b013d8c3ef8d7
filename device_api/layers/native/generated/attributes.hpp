// Written by `python -m device_api.layers.generate` from the headers; do not edit.
// clang-format off
#ifndef DEVICE_API_LAYERS_ATTRIBUTES_HPP
#define DEVICE_API_LAYERS_ATTRIBUTES_HPP

#include <cstddef>
#include <cstdint>

#include "device_api/ops.h"

namespace device_api::layers {

// A pointer in an attribute struct: to `count` 8-byte numbers, or to text where count is -1.
struct AttributePointer {
  const char *op;
  uint64_t offset;
  int64_t count_offset;
};
constexpr AttributePointer kAttributePointers[] = {
    {"sum", offsetof(da_attributes_sum, axis), offsetof(da_attributes_sum, axis_count)},
    {"prod", offsetof(da_attributes_prod, axis), offsetof(da_attributes_prod, axis_count)},
    {"max", offsetof(da_attributes_max, axis), offsetof(da_attributes_max, axis_count)},
    {"min", offsetof(da_attributes_min, axis), offsetof(da_attributes_min, axis_count)},
    {"share_among_equals", offsetof(da_attributes_share_among_equals, axis), offsetof(da_attributes_share_among_equals, axis_count)},
    {"any", offsetof(da_attributes_any, axis), offsetof(da_attributes_any, axis_count)},
    {"all", offsetof(da_attributes_all, axis), offsetof(da_attributes_all, axis_count)},
    {"slice_scatter", offsetof(da_attributes_slice_scatter, start), offsetof(da_attributes_slice_scatter, start_count)},
    {"slice_scatter", offsetof(da_attributes_slice_scatter, stop), offsetof(da_attributes_slice_scatter, stop_count)},
    {"slice_scatter", offsetof(da_attributes_slice_scatter, step), offsetof(da_attributes_slice_scatter, step_count)},
    {"pad", offsetof(da_attributes_pad, before), offsetof(da_attributes_pad, before_count)},
    {"pad", offsetof(da_attributes_pad, after), offsetof(da_attributes_pad, after_count)},
    {"logsumexp", offsetof(da_attributes_logsumexp, axis), offsetof(da_attributes_logsumexp, axis_count)},
    {"nll_loss", offsetof(da_attributes_nll_loss, reduction), -1},
    {"cross_entropy", offsetof(da_attributes_cross_entropy, reduction), -1},
    {"mse_loss", offsetof(da_attributes_mse_loss, reduction), -1},
    {"binary_cross_entropy_with_logits", offsetof(da_attributes_binary_cross_entropy_with_logits, reduction), -1},
    {"mean", offsetof(da_attributes_mean, axis), offsetof(da_attributes_mean, axis_count)},
    {"var", offsetof(da_attributes_var, axis), offsetof(da_attributes_var, axis_count)},
    {"std", offsetof(da_attributes_std, axis), offsetof(da_attributes_std, axis_count)},
};

}  // namespace device_api::layers

#endif
