// Written by `python -m device_api.layers.generate` from the headers; do not edit.
// clang-format off

#include "../interpose.hpp"

namespace device_api::layers {
namespace {

da_error *device_count(Instance &self, uint32_t *out_count) {
  DeviceCount arguments{{}, out_count};
  Call call(self, Slot::device_count, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.device.count(arguments.out_count);
  self.layer->after(call);
  return arguments.result;
}

da_error *device_open(Instance &self, uint32_t index, da_device **out_device) {
  DeviceOpen arguments{{}, index, out_device};
  Call call(self, Slot::device_open, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.device.open(arguments.index, arguments.out_device);
  self.layer->after(call);
  return arguments.result;
}

da_error *device_close(Instance &self, da_device *device) {
  DeviceClose arguments{{}, device};
  Call call(self, Slot::device_close, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.device.close(arguments.device);
  self.layer->after(call);
  return arguments.result;
}

da_error *device_properties(Instance &self, da_device *device, da_device_properties *out_properties) {
  DeviceProperties arguments{{}, device, out_properties};
  Call call(self, Slot::device_properties, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.device.properties(arguments.device, arguments.out_properties);
  self.layer->after(call);
  return arguments.result;
}

da_error *device_synchronize(Instance &self, da_device *device) {
  DeviceSynchronize arguments{{}, device};
  Call call(self, Slot::device_synchronize, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.device.synchronize(arguments.device);
  self.layer->after(call);
  return arguments.result;
}

template <size_t N>
struct Shims {
  static da_error *count(uint32_t *out_count) { return device_count(*instances[N], out_count); }
  static da_error *open(uint32_t index, da_device **out_device) { return device_open(*instances[N], index, out_device); }
  static da_error *close(da_device *device) { return device_close(*instances[N], device); }
  static da_error *properties(da_device *device, da_device_properties *out_properties) { return device_properties(*instances[N], device, out_properties); }
  static da_error *synchronize(da_device *device) { return device_synchronize(*instances[N], device); }
  static void fill(const da_device_interface &below, da_device_interface *above) {
    above->count = below.count == nullptr ? nullptr : count;
    above->open = below.open == nullptr ? nullptr : open;
    above->close = below.close == nullptr ? nullptr : close;
    above->properties = below.properties == nullptr ? nullptr : properties;
    above->synchronize = below.synchronize == nullptr ? nullptr : synchronize;
  }
};

}  // namespace

const void *interpose_device(Instance &self, const void *table) {
  return interpose_table<Shims>(self, static_cast<const da_device_interface *>(table), &self.below.device, &self.above.device);
}

}  // namespace device_api::layers
