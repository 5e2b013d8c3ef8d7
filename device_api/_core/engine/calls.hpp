// Single calls of the stream interface for the binding, with their errors translated. Without the host lock.
#ifndef DEVICE_API_CORE_CALLS_HPP
#define DEVICE_API_CORE_CALLS_HPP

#include "device.hpp"

namespace device_api {

inline Failure *query_stream(const Stream *stream, int32_t *out_done) {
  const Device *on = stream->device;
  return translate(on->errors(), on->tables().stream->query(on->handle(), stream->handle, out_done),
                   "stream.query");
}

inline bool has_callbacks(const Stream *stream) {
  return stream->device->tables().stream->add_callback != nullptr;
}

inline Failure *add_callback(const Stream *stream, void (*function)(void *, int32_t), void *user_data,
                             void (*destroy)(void *)) {
  const Device *on = stream->device;
  da_callback callback{};
  callback.struct_size = sizeof(callback);
  callback.function = function;
  callback.user_data = user_data;
  callback.destroy = destroy;
  return translate(on->errors(), on->tables().stream->add_callback(on->handle(), stream->handle, &callback),
                   "stream.add_callback");
}

inline Failure *create_event(const Device *on, bool timing, da_event **out_event) {
  return translate(on->errors(),
                   on->tables().stream->event_create(
                       on->handle(), timing ? DA_EVENT_TIMING : DA_EVENT_FLAG_NONE, out_event),
                   "stream.event_create");
}

inline Failure *destroy_event(const Device *on, da_event *event) {
  return translate(on->errors(), on->tables().stream->event_destroy(on->handle(), event),
                   "stream.event_destroy");
}

inline Failure *record_event(const Stream *stream, da_event *event) {
  const Device *on = stream->device;
  return translate(on->errors(), on->tables().stream->event_record(on->handle(), event, stream->handle),
                   "stream.event_record");
}

inline Failure *wait_event(const Stream *stream, da_event *event) {
  const Device *on = stream->device;
  return translate(on->errors(), on->tables().stream->wait_event(on->handle(), stream->handle, event),
                   "stream.wait_event");
}

inline Failure *query_event(const Device *on, da_event *event, int32_t *out_done) {
  return translate(on->errors(), on->tables().stream->event_query(on->handle(), event, out_done),
                   "stream.event_query");
}

inline Failure *synchronize_event(const Device *on, da_event *event, uint64_t timeout_ns) {
  return translate(on->errors(), on->tables().stream->event_synchronize(on->handle(), event, timeout_ns),
                   "stream.event_synchronize");
}

inline Failure *elapsed(const Device *on, da_event *start, da_event *end, double *out_nanoseconds) {
  if (on->tables().stream->event_elapsed == nullptr) {
    return fail(DA_STATUS_UNIMPLEMENTED, "stream.event_elapsed", "the plugin measures no times");
  }
  return translate(on->errors(),
                   on->tables().stream->event_elapsed(on->handle(), start, end, out_nanoseconds),
                   "stream.event_elapsed");
}

}  // namespace device_api

#endif
