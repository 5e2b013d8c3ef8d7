// Custom ops: their list, and what their shape functions give.
#include <vector>

#include "json.hpp"
#include "validate.hpp"

namespace device_api::layers {

namespace {

constexpr uint64_t kMostOps = UINT64_C(1) << 16;

// The dtypes that the outputs of the call on this thread had before it.
thread_local std::vector<int32_t> dtypes_before;

}  // namespace

void Validate::check_custom_op(Call &call, uint64_t number, const da_custom_op *op) {
  const char *wrong = op->struct_size < DA_CUSTOM_OP_MIN_SIZE ? "struct_size is too small"
                      : op->schema == nullptr                 ? "schema is NULL"
                      : !is_utf8(op->schema)                  ? "schema is not UTF-8"
                                                              : nullptr;
  if (wrong != nullptr) find(call, Rule::CUSTOM_02, "custom op " + std::to_string(number) + ": " + wrong);
}

void Validate::done(Call &call, CustomOpList &arguments) {
  if (call.failed() || arguments.out_list == nullptr) return;
  const da_custom_op_list &list = *arguments.out_list;
  if (custom_ops_.listed && (custom_ops_.first != list.first || custom_ops_.count != list.count ||
                             custom_ops_.stride != list.stride))
    find(call, Rule::CUSTOM_03,
         std::to_string(custom_ops_.count) + " custom ops at " + address_text(custom_ops_.first) +
             " are now " + std::to_string(list.count) + " at " + address_text(list.first));
  custom_ops_ = {true, list.first, list.count, list.stride};
  if (list.count == 0) return;
  if (list.first == nullptr || list.stride < DA_CUSTOM_OP_MIN_SIZE || list.count > kMostOps) {
    find(call, Rule::CUSTOM_01,
         std::to_string(list.count) + " custom ops, first " + address_text(list.first) + ", stride " +
             std::to_string(list.stride));
    return;
  }
  for (uint64_t i = 0; i < list.count; ++i) {
    const char *place = reinterpret_cast<const char *>(list.first) + i * list.stride;
    check_custom_op(call, i, reinterpret_cast<const da_custom_op *>(place));
  }
}

void Validate::check(Call &call, CustomInfer &arguments) {
  check_attributes(call, arguments.attributes);
  check_tensors(call, nullptr, nullptr, arguments.inputs, arguments.input_count, nullptr, 0, false);
  dtypes_before.clear();
  for (uint32_t i = 0; arguments.out_shapes != nullptr && i < arguments.output_count; ++i)
    dtypes_before.push_back(arguments.out_shapes[i].dtype);
}

void Validate::done(Call &call, CustomInfer &arguments) {
  if (call.failed()) return;
  for (uint32_t i = 0; i < dtypes_before.size(); ++i) {
    const da_output_shape &shape = arguments.out_shapes[i];
    const std::string name = "out_shapes[" + std::to_string(i) + "]";
    if (shape.dtype != dtypes_before[i])
      find(call, Rule::CUSTOM_05,
           name + " was of dtype " + std::to_string(dtypes_before[i]) + " and is now of " +
               std::to_string(shape.dtype));
    if (shape.rank < 0 || shape.rank > DA_MAX_RANK) {
      find(call, Rule::CUSTOM_04, name + " has rank " + std::to_string(shape.rank));
      continue;
    }
    for (int32_t axis = 0; axis < shape.rank; ++axis)
      if (shape.sizes[axis] < 0)
        find(call, Rule::CUSTOM_04,
             name + " has size " + std::to_string(shape.sizes[axis]) + " in dimension " +
                 std::to_string(axis));
  }
}

}  // namespace device_api::layers
