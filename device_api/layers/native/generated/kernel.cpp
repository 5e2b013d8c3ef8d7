// Written by `python -m device_api.layers.generate` from the headers; do not edit.
// clang-format off

#include "../interpose.hpp"

namespace device_api::layers {
namespace {

da_error *kernel_list(Instance &self, da_device *device, da_kernel_list *out_list) {
  KernelList arguments{{}, device, out_list};
  Call call(self, Slot::kernel_list, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.kernel.list(arguments.device, arguments.out_list);
  self.layer->after(call);
  if (arguments.result == nullptr) arguments.result = replace_kernels(self, arguments);
  return arguments.result;
}

template <size_t N>
struct Shims {
  static da_error *list(da_device *device, da_kernel_list *out_list) { return kernel_list(*instances[N], device, out_list); }
  static void fill(const da_kernel_interface &below, da_kernel_interface *above) {
    above->list = below.list == nullptr ? nullptr : list;
  }
};

}  // namespace

const void *interpose_kernel(Instance &self, const void *table) {
  return interpose_table<Shims>(self, static_cast<const da_kernel_interface *>(table), &self.below.kernel, &self.above.kernel);
}

}  // namespace device_api::layers
