// The scheduler as the host's threads see it: queueing, waiting, looking, and capturing.
#include <algorithm>
#include <chrono>

#include "device.hpp"
#include "profiler.hpp"
#include "scheduler.hpp"

namespace simulated {
namespace {

// In lazy mode, how often a program may look at one thing before looking counts as waiting: a loop that polls
// must end, while a host that looks now and then must not set anything going.
constexpr uint32_t kPatientLooks = 1000;

[[noreturn]] void raise(const SharedCause &cause) { throw Failure(cause->code, cause->message); }

void refuse_callbacks(bool on_stream_thread) {
  if (!on_stream_thread) return;
  throw Failure(DA_STATUS_FAILED_PRECONDITION,
                "called from a callback, which must not wait: the stream that runs it would stand still");
}

}  // namespace

void Scheduler::append(Stream &stream, Item item) {
  if (stream.ending) throw Failure(DA_STATUS_FAILED_PRECONDITION, "the stream has ended");
  stream.queue.push_back(std::move(item));
  ++stream.pushed;
  changed_.notify_all();
}

void Scheduler::push(const SharedStream &stream, SharedWork work) {
  Lock lock(lock_);
  if (stream->capture) {
    stream->capture->work.push_back(std::move(work));
    return;
  }
  Item item;
  item.work = std::move(work);
  append(*stream, std::move(item));
}

void Scheduler::push_callback(const SharedStream &stream, const da_callback &callback) {
  Lock lock(lock_);
  refuse_capture(*stream, "a callback, which runs exactly once, cannot be captured");
  Item item;
  item.callback = std::make_unique<da_callback>(callback);
  append(*stream, std::move(item));
}

SharedMark Scheduler::push_mark(const SharedStream &stream) {
  auto mark = std::make_shared<Mark>();
  mark->stream = stream;
  Lock lock(lock_);
  if (stream->capture) {
    mark->capture = stream->capture.get();
    return mark;
  }
  mark->number = stream->pushed + 1;
  Item item;
  item.reach = mark;
  append(*stream, std::move(item));
  return mark;
}

void Scheduler::push_wait(const SharedStream &stream, const SharedMark &mark) {
  Lock lock(lock_);
  if (stream->capture && mark->capture == stream->capture.get()) return;  // earlier work of the same capture
  refuse_capture(*stream, "a wait for work outside of the capture");
  if (mark->capture != nullptr) {
    throw Failure(DA_STATUS_FAILED_PRECONDITION,
                  "the event was recorded in a capture, whose work has not run");
  }
  Item item;
  item.await = mark;
  append(*stream, std::move(item));
}

void Scheduler::run_now(Device &device, const Work &work) {
  synchronize(device);
  const uint64_t start = now_ns();
  const SharedCause cause = attempt(work);
  recorder_.record(device, work, 0, start, now_ns());
  if (cause) raise(cause);
}

// Lets the items of a stream up to `number` run, and all that they wait for.
void Scheduler::demand(Stream &stream, uint64_t number) {
  if (number <= stream.demanded) return;
  stream.demanded = number;
  changed_.notify_all();
  if (!configuration_.lazy) return;
  uint64_t place = stream.pushed - stream.queue.size();
  for (const Item &item : stream.queue) {
    if (++place > number) break;
    if (item.await && !item.await->reached) demand(*item.await->stream, item.await->number);
  }
}

void Scheduler::wait_finished(Stream &stream, uint64_t number, Lock &lock) {
  refuse_callbacks(std::any_of(streams_.begin(), streams_.end(), [](const auto &entry) {
    return entry.second->thread.get_id() == std::this_thread::get_id();
  }));
  demand(stream, number);
  changed_.wait(lock, [&] { return stream.finished >= number; });
}

void Scheduler::synchronize(const SharedStream &stream) {
  Lock lock(lock_);
  refuse_capture(*stream, "synchronise");
  wait_finished(*stream, stream->pushed, lock);
  if (SharedCause cause = std::exchange(stream->cause, nullptr)) raise(cause);
}

void Scheduler::wait_all(Device &device, Lock &lock) {
  std::vector<std::pair<SharedStream, uint64_t>> places;
  for (const auto &[id, stream] : streams_) {
    if (stream->device == &device) places.emplace_back(stream, stream->pushed);
  }
  for (const auto &[stream, number] : places) demand(*stream, number);
  for (const auto &[stream, number] : places) wait_finished(*stream, number, lock);
}

void Scheduler::synchronize(Device &device) {
  Lock lock(lock_);
  refuse_capture(device, "a wait for the whole device (a synchronise, or work without a stream)");
  wait_all(device, lock);
  SharedCause first;
  for (const auto &[id, stream] : streams_) {
    if (stream->device != &device || !stream->cause) continue;
    if (!first || stream->cause->order < first->order) first = stream->cause;
  }
  if (!first) return;
  // Streams that failed for another reason keep it, for those who wait for them.
  for (const auto &[id, stream] : streams_) {
    if (stream->device == &device && stream->cause == first) stream->cause = nullptr;
  }
  raise(first);
}

void Scheduler::wait_for_device(Device &device) {
  Lock lock(lock_);
  refuse_capture(device, "a wait for the whole device");
  wait_all(device, lock);
}

void Scheduler::wait_for_stream(const SharedStream &stream) {
  Lock lock(lock_);
  if (!stream->ending) wait_finished(*stream, stream->pushed, lock);
}

bool Scheduler::is_alive(const SharedStream &stream) {
  Lock lock(lock_);
  return !stream->ending;
}

bool Scheduler::wait(const SharedMark &mark, uint64_t timeout_ns) {
  Lock lock(lock_);
  if (mark->capture != nullptr) {
    throw Failure(DA_STATUS_FAILED_PRECONDITION,
                  "the event was recorded in a capture, whose work has not run");
  }
  const auto reached = [&] { return mark->reached; };
  if (!reached()) {
    if (timeout_ns == 0) return false;
    refuse_callbacks(mark->stream->thread.get_id() == std::this_thread::get_id());
    demand(*mark->stream, mark->number);
    constexpr uint64_t kCentury = uint64_t{100} * 365 * 86400 * 1'000'000'000;
    if (timeout_ns >= kCentury) {
      changed_.wait(lock, reached);
    } else if (!changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), reached)) {
      return false;
    }
  }
  if (mark->cause) raise(mark->cause);
  return true;
}

bool Scheduler::look(Stream &stream) {
  if (stream.capture) {
    throw Failure(DA_STATUS_FAILED_PRECONDITION, "the stream is captured: its work does not run");
  }
  if (stream.finished == stream.pushed) {
    stream.looks = 0;
    return true;
  }
  if (++stream.looks >= kPatientLooks) demand(stream, stream.pushed);
  return false;
}

bool Scheduler::is_done(const SharedStream &stream) {
  Lock lock(lock_);
  return look(*stream);
}

bool Scheduler::is_done(Device &device) {
  Lock lock(lock_);
  bool done = true;
  for (const auto &[id, stream] : streams_) {
    if (stream->device == &device) done = look(*stream) && done;
  }
  return done;
}

bool Scheduler::is_reached(const SharedMark &mark) {
  Lock lock(lock_);
  if (mark->reached) return true;
  if (mark->capture == nullptr && ++mark->looks >= kPatientLooks) demand(*mark->stream, mark->number);
  return false;
}

uint64_t Scheduler::reached_at(const SharedMark &mark) {
  Lock lock(lock_);
  if (!mark->reached)
    throw Failure(DA_STATUS_FAILED_PRECONDITION, "the event is recorded but not reached yet");
  return mark->time_ns;
}

// Work that a capture cannot hold spoils it: the recording would miss something that the program relies on.
void Scheduler::refuse_capture(Stream &stream, const char *what) {
  if (!stream.capture) return;
  if (stream.capture->spoiled.empty()) stream.capture->spoiled = what;
  throw Failure(DA_STATUS_FAILED_PRECONDITION, std::string("not while the stream is captured: ") + what);
}

void Scheduler::refuse_capture(Device &device, const char *what) {
  for (const auto &[id, stream] : streams_) {
    if (stream->device == &device) refuse_capture(*stream, what);
  }
}

void Scheduler::begin_capture(const SharedStream &stream) {
  Lock lock(lock_);
  if (stream->capture) throw Failure(DA_STATUS_FAILED_PRECONDITION, "the stream is captured already");
  stream->capture = std::make_shared<Capture>();
  stream->capture->device = stream->device;
}

std::shared_ptr<Capture> Scheduler::end_capture(const SharedStream &stream) {
  Lock lock(lock_);
  if (!stream->capture) throw Failure(DA_STATUS_FAILED_PRECONDITION, "the stream is not captured");
  const std::shared_ptr<Capture> ended = std::exchange(stream->capture, nullptr);
  if (!ended->spoiled.empty()) {
    throw Failure(DA_STATUS_FAILED_PRECONDITION, "the capture was spoiled by " + ended->spoiled);
  }
  return ended;
}

bool Scheduler::is_capturing(const SharedStream &stream) {
  Lock lock(lock_);
  return stream->capture != nullptr;
}

}  // namespace simulated
