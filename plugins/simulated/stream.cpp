// The stream interface over the scheduler. A NULL stream stands for the whole device: what is ordered on it
// comes after all work queued before, and is done on return.
#include "stream.hpp"

#include <string>

#include "device_api/layout.h"
#include "error.hpp"
#include "profiler.hpp"
#include "runtime.hpp"

namespace simulated {
namespace {

std::shared_ptr<Event> event_of(da_event *handle) { return runtime().events.get(handle); }

void require_device(const Device &wanted, const Device *found, const char *what) {
  if (found == &wanted) return;
  throw Failure(DA_STATUS_INVALID_ARGUMENT,
                std::string("the ") + what + " is one of " + found->name + ", not of " + wanted.name);
}

da_error *create(da_device *handle, int32_t priority, da_stream **out_stream) {
  return guarded("create", [&] {
    Device &device = device_of(handle);
    *out_stream =
        reinterpret_cast<da_stream *>(runtime().streams.add(runtime().scheduler.create(device, priority)));
  });
}

// The native streams of this vendor are what `create` gives: a wrapped one is a second handle of it, and its
// end leaves the stream alone.
da_error *wrap(da_device *handle, void *native, da_stream **out_stream) {
  return guarded("wrap", [&] {
    const SharedStream found = runtime().streams.get(native);
    require_device(device_of(handle), found->device, "stream");
    *out_stream = reinterpret_cast<da_stream *>(runtime().wrapped.add(found));
  });
}

void unwrap(da_device *handle, da_stream *stream) {
  const SharedStream found = runtime().wrapped.get(stream);
  require_device(*reinterpret_cast<Device *>(handle), found->device, "stream");
  runtime().scheduler.wait_for_stream(found);
  runtime().wrapped.remove(stream);
}

da_error *destroy(da_device *handle, da_stream *stream) {
  return guarded("destroy", [&] {
    if (stream == nullptr) return;
    if (runtime().wrapped.holds(stream)) return unwrap(handle, stream);
    const SharedStream ended = runtime().streams.get(stream);
    require_device(*reinterpret_cast<Device *>(handle), ended->device, "stream");
    runtime().scheduler.destroy(ended);
    runtime().streams.remove(stream);
  });
}

da_error *synchronize(da_device *handle, da_stream *stream) {
  return guarded("synchronize", [&] {
    Device &device = device_of(handle);
    if (const SharedStream found = stream_of(device, stream)) return runtime().scheduler.synchronize(found);
    runtime().scheduler.synchronize(device);
  });
}

da_error *query(da_device *handle, da_stream *stream, int32_t *out_done) {
  return guarded("query", [&] {
    Device &device = device_of(handle);
    if (const SharedStream found = stream_of(device, stream)) {
      *out_done = runtime().scheduler.is_done(found);
    } else {
      *out_done = runtime().scheduler.is_done(device);
    }
  });
}

da_error *wait_event(da_device *handle, da_stream *stream, da_event *event) {
  return guarded("wait_event", [&] {
    const SharedStream waiting = stream_of(device_of(handle), stream);
    const SharedMark mark = event_of(event)->last();
    if (!mark) return;
    if (waiting) return runtime().scheduler.push_wait(waiting, mark);
    runtime().scheduler.wait(mark, DA_WAIT_FOREVER);
  });
}

da_error *add_callback(da_device *handle, da_stream *stream, const da_callback *callback) {
  return guarded("add_callback", [&] {
    Device &device = device_of(handle);
    check_size("da_callback", callback->struct_size, DA_CALLBACK_MIN_SIZE);
    if (callback->function == nullptr) throw Failure(DA_STATUS_INVALID_ARGUMENT, "the function is NULL");
    da_callback kept{};
    kept.struct_size = sizeof(kept);
    kept.function = callback->function;
    kept.user_data = callback->user_data;
    kept.destroy = callback->destroy;
    if (const SharedStream found = stream_of(device, stream)) {
      return runtime().scheduler.push_callback(found, kept);
    }
    runtime().scheduler.synchronize(device);
    call(kept, DA_STATUS_INVALID);
  });
}

da_error *event_create(da_device *handle, uint64_t flags, da_event **out_event) {
  return guarded("event_create", [&] {
    auto event = std::make_shared<Event>();
    event->device = &device_of(handle);
    if ((flags & ~uint64_t{DA_EVENT_TIMING}) != 0) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT, "event flags " + std::to_string(flags) + " are not known");
    }
    event->timing = (flags & DA_EVENT_TIMING) != 0;
    *out_event = reinterpret_cast<da_event *>(runtime().events.add(std::move(event)));
  });
}

da_error *event_destroy(da_device *handle, da_event *event) {
  return guarded("event_destroy", [&] {
    if (event == nullptr) return;
    require_device(*reinterpret_cast<Device *>(handle), event_of(event)->device, "event");
    runtime().events.remove(event);
  });
}

da_error *event_record(da_device *handle, da_event *event, da_stream *stream) {
  return guarded("event_record", [&] {
    Device &device = device_of(handle);
    const std::shared_ptr<Event> found = event_of(event);
    require_device(device, found->device, "event");
    const SharedStream recorded = stream_of(device, stream);
    SharedMark mark;
    if (recorded) {
      mark = runtime().scheduler.push_mark(recorded);
    } else {
      runtime().scheduler.synchronize(device);
      mark = std::make_shared<Mark>();
      mark->reached = true;
      mark->time_ns = now_ns();
    }
    std::lock_guard<std::mutex> guard(found->lock);
    found->mark = mark;
  });
}

da_error *event_query(da_device *handle, da_event *event, int32_t *out_done) {
  return guarded("event_query", [&] {
    device_of(handle);
    const SharedMark mark = event_of(event)->last();
    *out_done = !mark || runtime().scheduler.is_reached(mark);
  });
}

da_error *event_synchronize(da_device *handle, da_event *event, uint64_t timeout_ns) {
  return guarded("event_synchronize", [&] {
    device_of(handle);
    const SharedMark mark = event_of(event)->last();
    if (!mark || runtime().scheduler.wait(mark, timeout_ns)) return;
    throw Failure(DA_STATUS_TIMEOUT,
                  "the event was not reached within " + std::to_string(timeout_ns) + " ns");
  });
}

da_error *event_elapsed(da_device *handle, da_event *start, da_event *end, double *out_nanoseconds) {
  return guarded("event_elapsed", [&] {
    device_of(handle);
    uint64_t times[2];
    da_event *const handles[2] = {start, end};
    for (int i = 0; i < 2; ++i) {
      const char *which = i == 0 ? "the start event " : "the end event ";
      const std::shared_ptr<Event> event = event_of(handles[i]);
      if (!event->timing) {
        throw Failure(DA_STATUS_FAILED_PRECONDITION, std::string(which) + "was made without DA_EVENT_TIMING");
      }
      const SharedMark mark = event->last();
      if (!mark) throw Failure(DA_STATUS_FAILED_PRECONDITION, std::string(which) + "was never recorded");
      times[i] = runtime().scheduler.reached_at(mark);
    }
    *out_nanoseconds = static_cast<double>(static_cast<int64_t>(times[1] - times[0]));
  });
}

}  // namespace

SharedStream stream_of(const Device &device, da_stream *handle) {
  if (handle == nullptr) return nullptr;
  Handles<Stream> &table = runtime().wrapped.holds(handle) ? runtime().wrapped : runtime().streams;
  SharedStream stream = table.get(handle);
  require_device(device, stream->device, "stream");
  if (&table == &runtime().wrapped && !runtime().scheduler.is_alive(stream)) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT, "the native stream behind the handle was destroyed");
  }
  return stream;
}

const da_stream_interface stream_interface = {sizeof(da_stream_interface),
                                              nullptr,
                                              DA_STREAM_INTERFACE_VERSION,
                                              0,
                                              create,
                                              destroy,
                                              synchronize,
                                              query,
                                              wait_event,
                                              add_callback,
                                              wrap,
                                              event_create,
                                              event_destroy,
                                              event_record,
                                              event_query,
                                              event_synchronize,
                                              event_elapsed};

}  // namespace simulated
