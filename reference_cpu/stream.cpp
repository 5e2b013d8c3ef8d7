// Streams and events of a synchronous device: work is done when its call returns, so a stream is always done
// and an event is reached as soon as it is recorded. Callbacks run inside add_callback, once and in order.
// What remains to keep is the time of each recording, for those who measure.
#include "stream.hpp"

#include <atomic>
#include <chrono>
#include <string>

#include "device_api/layout.h"
#include "error.hpp"

struct da_stream {
  int32_t priority;
};

struct da_event {
  bool timing;
  std::atomic<int64_t> recorded_ns{-1};  // on the steady clock; negative: never
};

namespace reference_cpu {
namespace {

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

da_error *create(da_device *, int32_t priority, da_stream **out_stream) {
  return guarded("create", [&] { *out_stream = new da_stream{priority}; });
}

da_error *destroy(da_device *, da_stream *stream) {
  delete stream;
  return nullptr;
}

da_error *synchronize(da_device *, da_stream *) { return nullptr; }

da_error *query(da_device *, da_stream *, int32_t *out_done) {
  *out_done = 1;
  return nullptr;
}

// Whatever the event recorded is in the past.
da_error *wait_event(da_device *, da_stream *, da_event *) { return nullptr; }

da_error *add_callback(da_device *, da_stream *, const da_callback *callback) {
  return guarded("add_callback", [&] {
    if (callback->struct_size < DA_CALLBACK_MIN_SIZE) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT, "struct_size " + std::to_string(callback->struct_size) +
                                                    " is below the smallest da_callback, " +
                                                    std::to_string(DA_CALLBACK_MIN_SIZE));
    }
    if (callback->function == nullptr) throw Failure(DA_STATUS_INVALID_ARGUMENT, "the function is NULL");
    callback->function(callback->user_data, DA_STATUS_INVALID);
    if (callback->destroy != nullptr) callback->destroy(callback->user_data);
  });
}

da_error *event_create(da_device *, uint64_t flags, da_event **out_event) {
  return guarded("event_create", [&] {
    if ((flags & ~uint64_t{DA_EVENT_TIMING}) != 0) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT, "event flags " + std::to_string(flags) + " are not known");
    }
    *out_event = new da_event{(flags & DA_EVENT_TIMING) != 0};
  });
}

da_error *event_destroy(da_device *, da_event *event) {
  delete event;
  return nullptr;
}

da_error *event_record(da_device *, da_event *event, da_stream *) {
  event->recorded_ns.store(now_ns());
  return nullptr;
}

da_error *event_query(da_device *, da_event *, int32_t *out_done) {
  *out_done = 1;
  return nullptr;
}

// Nothing is ever awaited, so no timeout can pass.
da_error *event_synchronize(da_device *, da_event *, uint64_t) { return nullptr; }

da_error *event_elapsed(da_device *, da_event *start, da_event *end, double *out_nanoseconds) {
  return guarded("event_elapsed", [&] {
    int64_t times[2];
    const da_event *const events[2] = {start, end};
    for (int i = 0; i < 2; ++i) {
      const std::string which = i == 0 ? "the start event " : "the end event ";
      if (!events[i]->timing) {
        throw Failure(DA_STATUS_FAILED_PRECONDITION, which + "was made without DA_EVENT_TIMING");
      }
      times[i] = events[i]->recorded_ns.load();
      if (times[i] < 0) throw Failure(DA_STATUS_FAILED_PRECONDITION, which + "was never recorded");
    }
    *out_nanoseconds = static_cast<double>(times[1] - times[0]);
  });
}

}  // namespace

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
                                              nullptr,  // wrap: there is no native stream to wrap
                                              event_create,
                                              event_destroy,
                                              event_record,
                                              event_query,
                                              event_synchronize,
                                              event_elapsed};

}  // namespace reference_cpu
