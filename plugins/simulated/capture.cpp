// The capture interface. Replaying queues one item that runs all recorded work in order.
#include "capture.hpp"

#include "device_api/profiler.h"
#include "error.hpp"
#include "memory.hpp"
#include "runtime.hpp"
#include "stream.hpp"

namespace simulated {
namespace {

SharedStream required(da_device *handle, da_stream *stream) {
  SharedStream found = stream_of(device_of(handle), stream);
  if (!found) throw Failure(DA_STATUS_INVALID_ARGUMENT, "the NULL stream cannot be captured; create one");
  return found;
}

da_error *begin(da_device *handle, da_stream *stream) {
  return guarded("begin", [&] { runtime().scheduler.begin_capture(required(handle, stream)); });
}

da_error *end(da_device *handle, da_stream *stream, da_capture **out_capture) {
  return guarded("end", [&] {
    std::shared_ptr<Capture> ended = runtime().scheduler.end_capture(required(handle, stream));
    *out_capture = reinterpret_cast<da_capture *>(runtime().captures.add(std::move(ended)));
  });
}

da_error *is_capturing(da_device *handle, da_stream *stream, int32_t *out_capturing) {
  return guarded("is_capturing", [&] {
    const SharedStream found = stream_of(device_of(handle), stream);
    *out_capturing = found && runtime().scheduler.is_capturing(found);
  });
}

da_error *replay(da_capture *capture, da_stream *stream) {
  return guarded("replay", [&] {
    const std::shared_ptr<Capture> found = runtime().captures.get(capture);
    Device &device = device_of(handle_of(found->device));
    Work work;
    work.activity = DA_ACTIVITY_KERNEL;
    work.name = "replay of a capture";
    work.body = [found] {
      for (const SharedWork &recorded : found->work) {
        if (const SharedCause cause = attempt(*recorded)) throw Failure(cause->code, cause->message);
      }
    };
    enqueue(device, stream, std::move(work));
  });
}

da_error *destroy(da_capture *capture) {
  return guarded("destroy", [&] {
    if (capture != nullptr) runtime().captures.remove(capture);
  });
}

}  // namespace

const da_capture_interface capture_interface = {sizeof(da_capture_interface),
                                                nullptr,
                                                DA_CAPTURE_INTERFACE_VERSION,
                                                0,
                                                begin,
                                                end,
                                                is_capturing,
                                                replay,
                                                destroy};

}  // namespace simulated
