// Written by `python -m device_api.layers.generate` from the headers; do not edit.
// clang-format off

#include "../interpose.hpp"

namespace device_api::layers {
namespace {

da_error *stream_create(Instance &self, da_device *device, int32_t priority, da_stream **out_stream) {
  StreamCreate arguments{{}, device, priority, out_stream};
  Call call(self, Slot::stream_create, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.stream.create(arguments.device, arguments.priority, arguments.out_stream);
  self.layer->after(call);
  return arguments.result;
}

da_error *stream_destroy(Instance &self, da_device *device, da_stream *stream) {
  StreamDestroy arguments{{}, device, stream};
  Call call(self, Slot::stream_destroy, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.stream.destroy(arguments.device, arguments.stream);
  self.layer->after(call);
  return arguments.result;
}

da_error *stream_synchronize(Instance &self, da_device *device, da_stream *stream) {
  StreamSynchronize arguments{{}, device, stream};
  Call call(self, Slot::stream_synchronize, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.stream.synchronize(arguments.device, arguments.stream);
  self.layer->after(call);
  return arguments.result;
}

da_error *stream_query(Instance &self, da_device *device, da_stream *stream, int32_t *out_done) {
  StreamQuery arguments{{}, device, stream, out_done};
  Call call(self, Slot::stream_query, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.stream.query(arguments.device, arguments.stream, arguments.out_done);
  self.layer->after(call);
  return arguments.result;
}

da_error *stream_wait_event(Instance &self, da_device *device, da_stream *stream, da_event *event) {
  StreamWaitEvent arguments{{}, device, stream, event};
  Call call(self, Slot::stream_wait_event, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.stream.wait_event(arguments.device, arguments.stream, arguments.event);
  self.layer->after(call);
  return arguments.result;
}

da_error *stream_add_callback(Instance &self, da_device *device, da_stream *stream, const da_callback *callback) {
  StreamAddCallback arguments{{}, device, stream, callback};
  Call call(self, Slot::stream_add_callback, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.stream.add_callback(arguments.device, arguments.stream, arguments.callback);
  self.layer->after(call);
  return arguments.result;
}

da_error *stream_wrap(Instance &self, da_device *device, void *native, da_stream **out_stream) {
  StreamWrap arguments{{}, device, native, out_stream};
  Call call(self, Slot::stream_wrap, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.stream.wrap(arguments.device, arguments.native, arguments.out_stream);
  self.layer->after(call);
  return arguments.result;
}

da_error *stream_event_create(Instance &self, da_device *device, uint64_t flags, da_event **out_event) {
  StreamEventCreate arguments{{}, device, flags, out_event};
  Call call(self, Slot::stream_event_create, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.stream.event_create(arguments.device, arguments.flags, arguments.out_event);
  self.layer->after(call);
  return arguments.result;
}

da_error *stream_event_destroy(Instance &self, da_device *device, da_event *event) {
  StreamEventDestroy arguments{{}, device, event};
  Call call(self, Slot::stream_event_destroy, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.stream.event_destroy(arguments.device, arguments.event);
  self.layer->after(call);
  return arguments.result;
}

da_error *stream_event_record(Instance &self, da_device *device, da_event *event, da_stream *stream) {
  StreamEventRecord arguments{{}, device, event, stream};
  Call call(self, Slot::stream_event_record, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.stream.event_record(arguments.device, arguments.event, arguments.stream);
  self.layer->after(call);
  return arguments.result;
}

da_error *stream_event_query(Instance &self, da_device *device, da_event *event, int32_t *out_done) {
  StreamEventQuery arguments{{}, device, event, out_done};
  Call call(self, Slot::stream_event_query, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.stream.event_query(arguments.device, arguments.event, arguments.out_done);
  self.layer->after(call);
  return arguments.result;
}

da_error *stream_event_synchronize(Instance &self, da_device *device, da_event *event, uint64_t timeout_ns) {
  StreamEventSynchronize arguments{{}, device, event, timeout_ns};
  Call call(self, Slot::stream_event_synchronize, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.stream.event_synchronize(arguments.device, arguments.event, arguments.timeout_ns);
  self.layer->after(call);
  return arguments.result;
}

da_error *stream_event_elapsed(Instance &self, da_device *device, da_event *start, da_event *end, double *out_nanoseconds) {
  StreamEventElapsed arguments{{}, device, start, end, out_nanoseconds};
  Call call(self, Slot::stream_event_elapsed, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.stream.event_elapsed(arguments.device, arguments.start, arguments.end, arguments.out_nanoseconds);
  self.layer->after(call);
  return arguments.result;
}

template <size_t N>
struct Shims {
  static da_error *create(da_device *device, int32_t priority, da_stream **out_stream) { return stream_create(*instances[N], device, priority, out_stream); }
  static da_error *destroy(da_device *device, da_stream *stream) { return stream_destroy(*instances[N], device, stream); }
  static da_error *synchronize(da_device *device, da_stream *stream) { return stream_synchronize(*instances[N], device, stream); }
  static da_error *query(da_device *device, da_stream *stream, int32_t *out_done) { return stream_query(*instances[N], device, stream, out_done); }
  static da_error *wait_event(da_device *device, da_stream *stream, da_event *event) { return stream_wait_event(*instances[N], device, stream, event); }
  static da_error *add_callback(da_device *device, da_stream *stream, const da_callback *callback) { return stream_add_callback(*instances[N], device, stream, callback); }
  static da_error *wrap(da_device *device, void *native, da_stream **out_stream) { return stream_wrap(*instances[N], device, native, out_stream); }
  static da_error *event_create(da_device *device, uint64_t flags, da_event **out_event) { return stream_event_create(*instances[N], device, flags, out_event); }
  static da_error *event_destroy(da_device *device, da_event *event) { return stream_event_destroy(*instances[N], device, event); }
  static da_error *event_record(da_device *device, da_event *event, da_stream *stream) { return stream_event_record(*instances[N], device, event, stream); }
  static da_error *event_query(da_device *device, da_event *event, int32_t *out_done) { return stream_event_query(*instances[N], device, event, out_done); }
  static da_error *event_synchronize(da_device *device, da_event *event, uint64_t timeout_ns) { return stream_event_synchronize(*instances[N], device, event, timeout_ns); }
  static da_error *event_elapsed(da_device *device, da_event *start, da_event *end, double *out_nanoseconds) { return stream_event_elapsed(*instances[N], device, start, end, out_nanoseconds); }
  static void fill(const da_stream_interface &below, da_stream_interface *above) {
    above->create = below.create == nullptr ? nullptr : create;
    above->destroy = below.destroy == nullptr ? nullptr : destroy;
    above->synchronize = below.synchronize == nullptr ? nullptr : synchronize;
    above->query = below.query == nullptr ? nullptr : query;
    above->wait_event = below.wait_event == nullptr ? nullptr : wait_event;
    above->add_callback = below.add_callback == nullptr ? nullptr : add_callback;
    above->wrap = below.wrap == nullptr ? nullptr : wrap;
    above->event_create = below.event_create == nullptr ? nullptr : event_create;
    above->event_destroy = below.event_destroy == nullptr ? nullptr : event_destroy;
    above->event_record = below.event_record == nullptr ? nullptr : event_record;
    above->event_query = below.event_query == nullptr ? nullptr : event_query;
    above->event_synchronize = below.event_synchronize == nullptr ? nullptr : event_synchronize;
    above->event_elapsed = below.event_elapsed == nullptr ? nullptr : event_elapsed;
  }
};

}  // namespace

const void *interpose_stream(Instance &self, const void *table) {
  return interpose_table<Shims>(self, static_cast<const da_stream_interface *>(table), &self.below.stream, &self.above.stream);
}

}  // namespace device_api::layers
