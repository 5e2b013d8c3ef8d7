// Streams, events and callbacks: whose they are, what is known to be done, and that a callback runs once.
#include <cmath>

#include "validate.hpp"

namespace device_api::layers {

// A callback under watch: the plugin sees `shown`, which stands in front of the host's own.
struct Watched {
  Validate *layer;
  da_callback original;
  da_callback shown;
  const void *stream;
  uint64_t position;
  bool accepted = false;
  uint64_t ran = 0;
  uint64_t ended = 0;
};

namespace {

// Finished callbacks are kept, to notice a second call; not for ever.
constexpr size_t kMostCallbacks = 4096;

void run_watched(void *user_data, int32_t status) {
  Watched *watched = static_cast<Watched *>(user_data);
  watched->layer->callback_runs(watched, status);
}

void end_watched(void *user_data) {
  Watched *watched = static_cast<Watched *>(user_data);
  watched->layer->callback_ends(watched);
}

}  // namespace

Validate::~Validate() {
  for (Watched *watched : callbacks_) delete watched;
}

uint64_t Validate::submit(const void *stream) {
  Object *object = look(Kind::stream, stream);
  return object == nullptr ? 0 : ++object->submitted;
}

void Validate::finish(const void *stream, uint64_t position) {
  Object *object = look(Kind::stream, stream);
  if (object == nullptr || position <= object->finished) return;
  object->finished = position;
  std::vector<Object::Wait> waits;
  waits.swap(object->waits);
  for (const Object::Wait &wait : waits) {
    if (wait.position <= position) {
      finish(wait.stream, wait.mark);
    } else {
      look(Kind::stream, stream)->waits.push_back(wait);
    }
  }
}

void Validate::finish_device(const void *device) {
  for (auto &[handle, object] : objects_[static_cast<uint32_t>(Kind::stream)])
    if (object.device == device) object.finished = object.submitted;
}

void Validate::done(Call &call, StreamCreate &arguments) {
  if (call.failed() || arguments.out_stream == nullptr || *arguments.out_stream == nullptr) return;
  add_object(call, Kind::stream, *arguments.out_stream, arguments.device);
}

void Validate::done(Call &call, StreamWrap &arguments) {
  if (call.failed() || arguments.out_stream == nullptr || *arguments.out_stream == nullptr) return;
  add_object(call, Kind::stream, *arguments.out_stream, arguments.device);
}

void Validate::check(Call &call, StreamDestroy &arguments) {
  check_same_device(call, Kind::stream, arguments.stream, arguments.device);
}

void Validate::done(Call &call, StreamDestroy &arguments) {
  if (call.failed()) return;
  if (Object *stream = look(Kind::stream, arguments.stream)) finish(arguments.stream, stream->submitted);
  end_object(Kind::stream, arguments.stream);
}

void Validate::check(Call &call, StreamSynchronize &arguments) {
  check_same_device(call, Kind::stream, arguments.stream, arguments.device);
  const Object *stream = look(Kind::stream, arguments.stream);
  call.note[0] = stream == nullptr ? 0 : stream->submitted;
}

void Validate::done(Call &call, StreamSynchronize &arguments) {
  // A stream that has failed has nothing left to do either.
  finish(arguments.stream, call.note[0]);
  for (Watched *watched : callbacks_) {
    if (watched->stream != arguments.stream || !watched->accepted || watched->ran != 0 ||
        watched->ended != 0 || watched->position > call.note[0])
      continue;
    watched->accepted = false;
    find(call, Rule::STREAM_12,
         "a callback that was work " + std::to_string(watched->position) + " of stream " +
             address_text(arguments.stream) + " has not run");
  }
}

void Validate::check(Call &call, StreamQuery &arguments) {
  check_same_device(call, Kind::stream, arguments.stream, arguments.device);
  const Object *stream = look(Kind::stream, arguments.stream);
  call.note[0] = stream == nullptr ? 0 : stream->submitted;
}

void Validate::done(Call &call, StreamQuery &arguments) {
  if (call.failed() || arguments.out_done == nullptr) return;
  if (*arguments.out_done != 0 && *arguments.out_done != 1)
    find(call, Rule::STREAM_09, "out_done is " + std::to_string(*arguments.out_done));
  if (*arguments.out_done == 1) finish(arguments.stream, call.note[0]);
}

void Validate::check(Call &call, StreamWaitEvent &arguments) {
  check_same_device(call, Kind::stream, arguments.stream, arguments.device);
  Object *stream = look(Kind::stream, arguments.stream);
  const Object *event = look(Kind::event, arguments.event);
  if (stream == nullptr || event == nullptr || event->mark_stream == nullptr) return;
  stream->waits.push_back({++stream->submitted, event->mark_stream, event->mark});
}

void Validate::check(Call &call, StreamAddCallback &arguments) {
  check_same_device(call, Kind::stream, arguments.stream, arguments.device);
  const da_callback *callback = arguments.callback;
  if (callback == nullptr || callback->struct_size < DA_CALLBACK_MIN_SIZE) return;
  if (callback->function == nullptr) {
    find(call, Rule::STREAM_17, "function is NULL");
    return;
  }
  if (callbacks_.size() > kMostCallbacks && callbacks_.front()->ended != 0) {
    delete callbacks_.front();
    callbacks_.pop_front();
  }
  Watched *watched = new Watched{this, {}, {}, arguments.stream, submit(arguments.stream)};
  std::memcpy(&watched->original, callback, std::min<uint64_t>(callback->struct_size, sizeof(da_callback)));
  watched->shown = watched->original;
  watched->shown.struct_size = sizeof(da_callback);
  watched->shown.function = run_watched;
  watched->shown.user_data = watched;
  watched->shown.destroy = end_watched;
  watched->accepted = true;
  callbacks_.push_back(watched);
  arguments.callback = &watched->shown;
  call.extra = watched;
}

void Validate::done(Call &call, StreamAddCallback &) {
  if (call.failed() && call.extra != nullptr) static_cast<Watched *>(call.extra)->accepted = false;
}

void Validate::callback_runs(Watched *watched, int32_t status) {
  bool pass = true;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    ++watched->ran;
    if (watched->ended != 0)
      find(Slot::stream_add_callback, Rule::STREAM_13, "function runs after destroy");
    else if (watched->ran > 1)
      find(Slot::stream_add_callback, Rule::STREAM_11,
           "function runs for the " + std::to_string(watched->ran) + ". time");
    pass = watched->ran == 1 && watched->ended == 0;
  }
  flush();
  if (pass) watched->original.function(watched->original.user_data, status);
}

void Validate::callback_ends(Watched *watched) {
  bool pass = true;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    ++watched->ended;
    if (watched->ended > 1)
      find(Slot::stream_add_callback, Rule::STREAM_13, "destroy is called again");
    else if (watched->ran == 0 && watched->accepted)
      find(Slot::stream_add_callback, Rule::STREAM_13, "destroy is called, and function has not run");
    pass = watched->ended == 1;
  }
  flush();
  if (pass && watched->original.destroy != nullptr) watched->original.destroy(watched->original.user_data);
}

// --- events -----------------------------------------------------------------------------------------------

void Validate::check(Call &call, StreamEventCreate &arguments) {
  if ((arguments.flags & ~static_cast<uint64_t>(DA_EVENT_TIMING)) != 0)
    find(call, Rule::STREAM_14, "flags is " + std::to_string(arguments.flags));
}

void Validate::done(Call &call, StreamEventCreate &arguments) {
  if (call.failed() || arguments.out_event == nullptr || *arguments.out_event == nullptr) return;
  add_object(call, Kind::event, *arguments.out_event, arguments.device).flags = arguments.flags;
}

void Validate::check(Call &call, StreamEventDestroy &arguments) {
  check_same_device(call, Kind::event, arguments.event, arguments.device);
}

void Validate::done(Call &call, StreamEventDestroy &arguments) {
  if (!call.failed()) end_object(Kind::event, arguments.event);
}

void Validate::check(Call &call, StreamEventRecord &arguments) {
  check_same_device(call, Kind::event, arguments.event, arguments.device);
  check_same_device(call, Kind::stream, arguments.stream, arguments.device);
  call.note[0] = submit(arguments.stream);
}

void Validate::done(Call &call, StreamEventRecord &arguments) {
  Object *event = look(Kind::event, arguments.event);
  if (call.failed() || event == nullptr) return;
  event->mark_stream = arguments.stream;
  event->mark = call.note[0];
}

void Validate::check(Call &call, StreamEventQuery &arguments) {
  check_same_device(call, Kind::event, arguments.event, arguments.device);
}

void Validate::done(Call &call, StreamEventQuery &arguments) {
  if (call.failed() || arguments.out_done == nullptr) return;
  if (*arguments.out_done != 0 && *arguments.out_done != 1)
    find(call, Rule::STREAM_09, "out_done is " + std::to_string(*arguments.out_done));
  const Object *event = look(Kind::event, arguments.event);
  if (*arguments.out_done == 1 && event != nullptr) finish(event->mark_stream, event->mark);
}

void Validate::check(Call &call, StreamEventSynchronize &arguments) {
  check_same_device(call, Kind::event, arguments.event, arguments.device);
  const Object *event = look(Kind::event, arguments.event);
  if (event == nullptr) return;
  call.extra = const_cast<void *>(event->mark_stream);
  call.note[0] = event->mark;
}

void Validate::done(Call &call, StreamEventSynchronize &) {
  if (!call.failed()) finish(call.extra, call.note[0]);
}

void Validate::check(Call &call, StreamEventElapsed &arguments) {
  for (const da_event *handle : {arguments.start, arguments.end}) {
    check_same_device(call, Kind::event, handle, arguments.device);
    const Object *event = look(Kind::event, handle);
    if (event != nullptr && event->alive && (event->flags & DA_EVENT_TIMING) == 0)
      find(call, Rule::STREAM_15, "event " + address_text(handle) + " was made without TIMING");
  }
}

void Validate::done(Call &call, StreamEventElapsed &arguments) {
  if (call.failed() || arguments.out_nanoseconds == nullptr) return;
  if (!std::isfinite(*arguments.out_nanoseconds))
    find(call, Rule::STREAM_16, "out_nanoseconds is not finite");
}

}  // namespace device_api::layers
