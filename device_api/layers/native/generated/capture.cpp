// Written by `python -m device_api.layers.generate` from the headers; do not edit.
// clang-format off

#include "../interpose.hpp"

namespace device_api::layers {
namespace {

da_error *capture_begin(Instance &self, da_device *device, da_stream *stream) {
  CaptureBegin arguments{{}, device, stream};
  Call call(self, Slot::capture_begin, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.capture.begin(arguments.device, arguments.stream);
  self.layer->after(call);
  return arguments.result;
}

da_error *capture_end(Instance &self, da_device *device, da_stream *stream, da_capture **out_capture) {
  CaptureEnd arguments{{}, device, stream, out_capture};
  Call call(self, Slot::capture_end, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.capture.end(arguments.device, arguments.stream, arguments.out_capture);
  self.layer->after(call);
  return arguments.result;
}

da_error *capture_is_capturing(Instance &self, da_device *device, da_stream *stream, int32_t *out_capturing) {
  CaptureIsCapturing arguments{{}, device, stream, out_capturing};
  Call call(self, Slot::capture_is_capturing, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.capture.is_capturing(arguments.device, arguments.stream, arguments.out_capturing);
  self.layer->after(call);
  return arguments.result;
}

da_error *capture_replay(Instance &self, da_capture *capture, da_stream *stream) {
  CaptureReplay arguments{{}, capture, stream};
  Call call(self, Slot::capture_replay, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.capture.replay(arguments.capture, arguments.stream);
  self.layer->after(call);
  return arguments.result;
}

da_error *capture_destroy(Instance &self, da_capture *capture) {
  CaptureDestroy arguments{{}, capture};
  Call call(self, Slot::capture_destroy, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.capture.destroy(arguments.capture);
  self.layer->after(call);
  return arguments.result;
}

template <size_t N>
struct Shims {
  static da_error *begin(da_device *device, da_stream *stream) { return capture_begin(*instances[N], device, stream); }
  static da_error *end(da_device *device, da_stream *stream, da_capture **out_capture) { return capture_end(*instances[N], device, stream, out_capture); }
  static da_error *is_capturing(da_device *device, da_stream *stream, int32_t *out_capturing) { return capture_is_capturing(*instances[N], device, stream, out_capturing); }
  static da_error *replay(da_capture *capture, da_stream *stream) { return capture_replay(*instances[N], capture, stream); }
  static da_error *destroy(da_capture *capture) { return capture_destroy(*instances[N], capture); }
  static void fill(const da_capture_interface &below, da_capture_interface *above) {
    above->begin = below.begin == nullptr ? nullptr : begin;
    above->end = below.end == nullptr ? nullptr : end;
    above->is_capturing = below.is_capturing == nullptr ? nullptr : is_capturing;
    above->replay = below.replay == nullptr ? nullptr : replay;
    above->destroy = below.destroy == nullptr ? nullptr : destroy;
  }
};

}  // namespace

const void *interpose_capture(Instance &self, const void *table) {
  return interpose_table<Shims>(self, static_cast<const da_capture_interface *>(table), &self.below.capture, &self.above.capture);
}

}  // namespace device_api::layers
