// Streams, events and callbacks that lose, hurry or forget. All of them stand before the simulated
// accelerator in its lazy mode, where nothing runs before somebody waits for it: what is not waited for shows
// every time.
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>

#include "faults.hpp"

namespace faulty {
namespace {

#define STREAM [](da_device *device, da_stream *stream)->da_error *
#define ON_EVENT [](da_device *device, da_event *event, da_stream *stream)->da_error *
#define QUERY(Handle) [](da_device *, Handle *, int32_t *out)->da_error *
#define NOTHING return (void)device, (void)stream, nullptr

// A stream of the plugin's own, which the host does not know and nobody waits for.
da_stream *hidden_stream(da_device *device) {
  static std::mutex lock;
  static std::map<da_device *, da_stream *> hidden;
  std::lock_guard<std::mutex> guard(lock);
  da_stream *&stream = hidden[device];
  if (stream == nullptr && good.stream.create(device, 0, &stream) != nullptr) return nullptr;
  return stream;
}

// ---- what runs where

FAULT(simulated, copies_ignore_their_stream) {
  given.memory.copy = [](da_device *device, da_stream *stream, const da_copy *order) -> da_error * {
    return good.memory.copy(device, stream == nullptr ? nullptr : hidden_stream(device), order);
  };
}
FAULT(simulated, copies_to_the_device_overtake) {
  given.memory.copy = [](da_device *device, da_stream *stream, const da_copy *order) -> da_error * {
    const bool overtakes = stream != nullptr && order->kind == DA_COPY_HOST_TO_DEVICE;
    da_stream *const used = overtakes ? hidden_stream(device) : stream;
    da_error *error = good.memory.copy(device, used, order);
    return error == nullptr && overtakes ? good.stream.synchronize(device, used) : error;
  };
}
FAULT(simulated, copies_without_a_stream_do_not_wait) {
  given.memory.copy = [](da_device *device, da_stream *stream, const da_copy *order) -> da_error * {
    da_stream *const used = stream == nullptr ? hidden_stream(device) : stream;
    da_error *error = good.memory.copy(device, used, order);
    return error == nullptr && stream == nullptr ? good.stream.synchronize(device, used) : error;
  };
}
FAULT(simulated, copies_without_a_stream_are_not_done) {
  given.memory.copy = [](da_device *device, da_stream *stream, const da_copy *order) -> da_error * {
    const bool reads = order->kind == DA_COPY_DEVICE_TO_HOST;
    return good.memory.copy(device, stream == nullptr && reads ? hidden_stream(device) : stream, order);
  };
}
da_kernel_launch good_launch;

FAULT(simulated, launches_ignore_their_stream) {
  given.kernel.list = [](da_device *device, da_kernel_list *out) -> da_error * {
    static std::vector<da_kernel> changed;
    da_error *error = good.kernel.list(device, out);
    if (error != nullptr) return error;
    if (changed.empty()) changed.assign(out->first, out->first + out->count);
    for (da_kernel &kernel : changed) {
      if (std::strcmp(kernel.op, "add") != 0 || good_launch != nullptr) continue;
      good_launch = kernel.launch;
      kernel.launch = [](void *state, const da_kernel_context *context, Tensors inputs, uint32_t input_count,
                         Tensors outputs, uint32_t output_count, const void *attributes) -> da_error * {
        da_kernel_context other = *context;
        if (context->stream != nullptr) other.stream = hidden_stream(context->device);
        return good_launch(state, &other, inputs, input_count, outputs, output_count, attributes);
      };
    }
    out->first = changed.data();
    return nullptr;
  };
}

// ---- streams

FAULT(simulated, synchronize_does_nothing) {
  given.stream.synchronize = STREAM { NOTHING; };
}
FAULT(simulated, device_synchronize_does_nothing) {
  given.device.synchronize = [](da_device *) -> da_error * { return nullptr; };
}
FAULT(simulated, destroy_drops_queued_work) {
  given.stream.destroy = STREAM { NOTHING; };
}
FAULT(simulated, destroying_null_is_an_error) {
  given.stream.destroy = STREAM {
    if (stream == nullptr) return make_error(DA_STATUS_INVALID_ARGUMENT, "no stream");
    return good.stream.destroy(device, stream);
  };
}
FAULT(simulated, query_always_says_done) {
  given.stream.query = QUERY(da_stream) { return *out = 1, nullptr; };
}
FAULT(simulated, query_never_says_done) {
  given.stream.query = QUERY(da_stream) { return *out = 0, nullptr; };
}
FAULT(simulated, query_answers_with_a_status) {
  given.stream.query = QUERY(da_stream) { return *out = 600, nullptr; };
}
FAULT(simulated, create_gives_the_default_stream) {
  given.stream.create = [](da_device *, int32_t, da_stream **out) -> da_error * {
    return *out = nullptr, nullptr;
  };
}
FAULT(simulated, create_gives_one_stream_to_all) {
  given.stream.create = [](da_device *device, int32_t, da_stream **out) -> da_error * {
    return *out = hidden_stream(device), nullptr;
  };
  given.stream.destroy = STREAM { NOTHING; };
}
FAULT(simulated, create_knows_three_priorities) {
  given.stream.create = [](da_device *device, int32_t priority, da_stream **out) -> da_error * {
    if (priority < -1 || priority > 1) return make_error(DA_STATUS_INVALID_ARGUMENT, "no such priority");
    return good.stream.create(device, priority, out);
  };
}
FAULT(simulated, synchronize_swallows_failures) {
  given.stream.synchronize = STREAM {
    da_error *error = good.stream.synchronize(device, stream);
    if (error != nullptr) good.errors.destroy(error);
    return nullptr;
  };
}
FAULT(simulated, synchronize_hangs_after_a_failure) {
  given.stream.synchronize = STREAM {
    da_error *error = good.stream.synchronize(device, stream);
    while (error != nullptr) usleep(1000);
    return nullptr;
  };
}
FAULT(simulated, synchronize_forgets_the_cause) {
  given.stream.synchronize = STREAM {
    da_error *error = good.stream.synchronize(device, stream);
    if (error == nullptr) return nullptr;
    good.errors.destroy(error);
    return make_error(DA_STATUS_INTERNAL, "an illegal instruction was encountered");
  };
}

// ---- events

FAULT(simulated, record_does_nothing) {
  given.stream.event_record = ON_EVENT { return (void)event, (void)device, (void)stream, nullptr; };
}
FAULT(simulated, record_marks_the_first_time_only) {
  given.stream.event_record = ON_EVENT {
    static std::map<da_event *, bool> recorded;
    bool &known = recorded[event];
    if (known) return nullptr;
    known = true;
    return good.stream.event_record(device, event, stream);
  };
}
FAULT(simulated, record_marks_a_hidden_stream) {
  given.stream.event_record = ON_EVENT {
    return (void)stream, good.stream.event_record(device, event, hidden_stream(device));
  };
}
FAULT(simulated, wait_event_does_nothing) {
  given.stream.wait_event = [](da_device *, da_stream *, da_event *) -> da_error * { return nullptr; };
}
FAULT(simulated, wait_event_waits_on_the_wrong_stream) {
  given.stream.wait_event = [](da_device *device, da_stream *, da_event *event) -> da_error * {
    return good.stream.wait_event(device, hidden_stream(device), event);
  };
}
FAULT(simulated, event_query_always_says_reached) {
  given.stream.event_query = QUERY(da_event) { return *out = 1, nullptr; };
}
FAULT(simulated, event_query_never_says_reached) {
  given.stream.event_query = QUERY(da_event) { return *out = 0, nullptr; };
}
FAULT(simulated, event_synchronize_returns_at_once) {
  given.stream.event_synchronize = [](da_device *, da_event *, uint64_t) -> da_error * { return nullptr; };
}
FAULT(simulated, event_synchronize_ignores_its_timeout) {
  given.stream.event_synchronize = [](da_device *device, da_event *event, uint64_t) -> da_error * {
    int32_t done = 0;
    while (good.stream.event_query(device, event, &done) == nullptr && done == 0) usleep(200'000);
    return nullptr;
  };
}
FAULT(simulated, timeout_counts_as_success) {
  given.stream.event_synchronize = [](da_device *device, da_event *event, uint64_t timeout) -> da_error * {
    if (timeout != DA_WAIT_FOREVER) return nullptr;
    return good.stream.event_synchronize(device, event, timeout);
  };
}
FAULT(simulated, unrecorded_events_are_waited_for) {
  given.stream.event_synchronize = [](da_device *device, da_event *event, uint64_t timeout) -> da_error * {
    int32_t done = 0;
    da_error *error = good.stream.event_query(device, event, &done);
    if (error != nullptr) return error;
    if (done != 0 && timeout == 0) return make_error(DA_STATUS_TIMEOUT, "not yet");
    return good.stream.event_synchronize(device, event, timeout);
  };
}
FAULT(simulated, elapsed_counts_backwards) {
  given.stream.event_elapsed = [](da_device *device, da_event *start, da_event *end,
                                  double *out) -> da_error * {
    da_error *error = good.stream.event_elapsed(device, start, end, out);
    *out = -*out - 1;
    return error;
  };
}
FAULT(simulated, elapsed_of_events_without_timing_is_zero) {
  given.stream.event_elapsed = [](da_device *device, da_event *start, da_event *end,
                                  double *out) -> da_error * {
    da_error *error = good.stream.event_elapsed(device, start, end, out);
    if (error != nullptr) good.errors.destroy(error);
    return nullptr;
  };
}
// ---- callbacks

#define CALLBACK [](da_device *device, da_stream *stream, const da_callback *callback)->da_error *

FAULT(simulated, callback_runs_at_once) {
  given.stream.add_callback = CALLBACK {
    (void)device, (void)stream;
    callback->function(callback->user_data, 0);
    if (callback->destroy != nullptr) callback->destroy(callback->user_data);
    return nullptr;
  };
}
FAULT(simulated, callback_never_runs) {
  given.stream.add_callback = CALLBACK { return (void)callback, (void)device, (void)stream, nullptr; };
}
FAULT(simulated, callback_runs_twice) {
  given.stream.add_callback = CALLBACK {
    da_callback plain = *callback;
    plain.destroy = nullptr;
    da_error *error = good.stream.add_callback(device, stream, &plain);
    return error == nullptr ? good.stream.add_callback(device, stream, callback) : error;
  };
}
FAULT(simulated, callback_gets_a_status_of_its_own) {
  given.stream.add_callback = CALLBACK {
    // The host's function is called with the status that a driver's own function was given.
    auto *kept = new da_callback(*callback);
    da_callback other = *callback;
    other.user_data = kept;
    other.function = [](void *data, int32_t) {
      const auto *host = static_cast<da_callback *>(data);
      host->function(host->user_data, 1);
    };
    other.destroy = [](void *data) {
      auto *host = static_cast<da_callback *>(data);
      if (host->destroy != nullptr) host->destroy(host->user_data);
      delete host;
    };
    return good.stream.add_callback(device, stream, &other);
  };
}
FAULT(simulated, callback_is_destroyed_before_it_runs) {
  given.stream.add_callback = CALLBACK {
    if (callback->destroy != nullptr) callback->destroy(callback->user_data);
    da_callback other = *callback;
    other.destroy = nullptr;
    return good.stream.add_callback(device, stream, &other);
  };
}
FAULT(simulated, callback_is_never_destroyed) {
  given.stream.add_callback = CALLBACK {
    da_callback other = *callback;
    other.destroy = nullptr;
    return good.stream.add_callback(device, stream, &other);
  };
}
FAULT(simulated, callback_runs_on_another_stream) {
  given.stream.add_callback = CALLBACK {
    return (void)stream, good.stream.add_callback(device, hidden_stream(device), callback);
  };
}

}  // namespace
}  // namespace faulty
