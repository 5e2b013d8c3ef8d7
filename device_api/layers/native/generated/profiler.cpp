// Written by `python -m device_api.layers.generate` from the headers; do not edit.
// clang-format off

#include "../interpose.hpp"

namespace device_api::layers {
namespace {

da_error *profiler_start(Instance &self, da_device *device) {
  ProfilerStart arguments{{}, device};
  Call call(self, Slot::profiler_start, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.profiler.start(arguments.device);
  self.layer->after(call);
  return arguments.result;
}

da_error *profiler_stop(Instance &self, da_device *device) {
  ProfilerStop arguments{{}, device};
  Call call(self, Slot::profiler_stop, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.profiler.stop(arguments.device);
  self.layer->after(call);
  return arguments.result;
}

da_error *profiler_collect(Instance &self, da_device *device, void (*sink)(void *user_data, const da_activity *activity), void *user_data) {
  ProfilerCollect arguments{{}, device, sink, user_data};
  Call call(self, Slot::profiler_collect, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.profiler.collect(arguments.device, arguments.sink, arguments.user_data);
  self.layer->after(call);
  return arguments.result;
}

template <size_t N>
struct Shims {
  static da_error *start(da_device *device) { return profiler_start(*instances[N], device); }
  static da_error *stop(da_device *device) { return profiler_stop(*instances[N], device); }
  static da_error *collect(da_device *device, void (*sink)(void *user_data, const da_activity *activity), void *user_data) { return profiler_collect(*instances[N], device, sink, user_data); }
  static void fill(const da_profiler_interface &below, da_profiler_interface *above) {
    above->start = below.start == nullptr ? nullptr : start;
    above->stop = below.stop == nullptr ? nullptr : stop;
    above->collect = below.collect == nullptr ? nullptr : collect;
  }
};

}  // namespace

const void *interpose_profiler(Instance &self, const void *table) {
  return interpose_table<Shims>(self, static_cast<const da_profiler_interface *>(table), &self.below.profiler, &self.above.profiler);
}

}  // namespace device_api::layers
