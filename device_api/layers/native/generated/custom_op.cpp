// Written by `python -m device_api.layers.generate` from the headers; do not edit.
// clang-format off

#include "../interpose.hpp"

namespace device_api::layers {
namespace {

da_error *custom_op_list(Instance &self, da_custom_op_list *out_list) {
  CustomOpList arguments{{}, out_list};
  Call call(self, Slot::custom_op_list, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.custom_op.list(arguments.out_list);
  self.layer->after(call);
  if (arguments.result == nullptr) replace_custom_ops(self, arguments);
  return arguments.result;
}

template <size_t N>
struct Shims {
  static da_error *list(da_custom_op_list *out_list) { return custom_op_list(*instances[N], out_list); }
  static void fill(const da_custom_op_interface &below, da_custom_op_interface *above) {
    above->list = below.list == nullptr ? nullptr : list;
  }
};

}  // namespace

const void *interpose_custom_op(Instance &self, const void *table) {
  return interpose_table<Shims>(self, static_cast<const da_custom_op_interface *>(table), &self.below.custom_op, &self.above.custom_op);
}

}  // namespace device_api::layers
