#include "stream.hpp"

#include <algorithm>

#include "device.hpp"
#include "host.hpp"

namespace device_api {

Failure *Stream::failure_of(uint64_t work) const {
  const auto found = failed_.lower_bound(work);
  return found != failed_.end() && work > found->second.after ? new Failure(found->second.cause) : nullptr;
}

Failure *Stream::wait() {
  const Tables &tables = device->tables();
  Failure *failure =
      translate(device->errors(), tables.stream->synchronize(device->handle(), handle), "stream.synchronize");
  Failure *reported = take_async_error(device->handle(), handle);
  if (reported == nullptr) return failure;
  // What the plugin reported while the work ran is the cause; the wait only repeats it.
  delete failure;
  return reported;
}

Failure *Stream::wait_for(uint64_t timeout_ns) {
  const Tables &tables = device->tables();
  da_event *event = nullptr;
  Failure *failure = device->events.take(&event);
  if (failure != nullptr) return failure;
  failure = translate(device->errors(), tables.stream->event_record(device->handle(), event, handle),
                      "stream.event_record");
  if (failure == nullptr) {
    failure =
        translate(device->errors(), tables.stream->event_synchronize(device->handle(), event, timeout_ns),
                  "stream.event_synchronize");
  }
  device->events.give_back(event);
  if (failure != nullptr && failure->code == DA_STATUS_TIMEOUT) return failure;
  // The work is over; the stream itself says whether it was good, and forgets.
  delete failure;
  return wait();
}

void Stream::settle(uint64_t target, const Failure *failure) {
  if (failure == nullptr) {
    settled_ = std::max(settled_, target);
    return;
  }
  // What was queued while the wait went on may have been skipped as well.
  if (sequence_ > settled_) failed_[sequence_] = Range{settled_, *failure};
  settled_ = sequence_;
}

uint64_t Stream::note_capture() {
  if (sequence_ > settled_) {
    recorded_[sequence_] = Recording{settled_, 0};
    const Failure cause{kNotReplayed, "graph",
                        "the work that writes it was captured and has not been replayed"};
    settle(sequence_, &cause);
  }
  return sequence_;
}

void Stream::note_replay(uint64_t recording, uint64_t work) {
  const auto found = recorded_.find(recording);
  if (found == recorded_.end()) return;
  found->second.replay = std::max(found->second.replay, work);
  failed_.erase(recording);
}

uint64_t Stream::latest(uint64_t work) const {
  const auto found = recorded_.lower_bound(work);
  const bool replayed = found != recorded_.end() && work > found->second.after && found->second.replay != 0;
  return replayed ? found->second.replay : work;
}

void Stream::note_reader(Stream *stream) {
  if (std::find(readers_.begin(), readers_.end(), stream) == readers_.end()) readers_.push_back(stream);
}

std::vector<Stream *> Stream::pending() const {
  std::vector<Stream *> streams;
  for (const auto &[other, work] : followed_) {
    if (!other->settled(work)) streams.push_back(other);
  }
  return streams;
}

bool Stream::follows(Stream *other, uint64_t work) const {
  const auto found = followed_.find(other);
  return found != followed_.end() && found->second >= work;
}

Failure *Stream::follow(const Stream *other) {
  const Tables &tables = device->tables();
  da_event *event = nullptr;
  Failure *failure = device->events.take(&event);
  if (failure != nullptr) return failure;
  failure = translate(device->errors(), tables.stream->event_record(device->handle(), event, other->handle),
                      "stream.event_record");
  if (failure == nullptr) {
    failure = translate(device->errors(), tables.stream->wait_event(device->handle(), handle, event),
                        "stream.wait_event");
  }
  device->events.give_back(event);
  return failure;
}

}  // namespace device_api
