// The threads of the streams: which item may start, and what becomes of the stream when it ends.
#include "scheduler.hpp"

#include <algorithm>
#include <chrono>

#include "device.hpp"
#include "profiler.hpp"

namespace simulated {
namespace {

constexpr std::chrono::seconds kPatience{5};  // of shutdown, for a kernel that is running

uint64_t mix(uint64_t value) {  // splitmix64
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

bool precedes(const Stream &a, const Stream &b) {
  return a.priority != b.priority ? a.priority < b.priority : a.id < b.id;
}

}  // namespace

void call(const da_callback &callback, int32_t status) {
  callback.function(callback.user_data, status);
  if (callback.destroy != nullptr) callback.destroy(callback.user_data);
}

SharedCause attempt(const Work &work) {
  const auto freed = [&] {
    return std::any_of(work.blocks.begin(), work.blocks.end(),
                       [](const SharedBlock &block) { return block->gone.load(); });
  };
  const std::string lost = work.name + ": memory of this work was freed before the work was done";
  try {
    if (freed()) return make_cause(DA_STATUS_INVALID_ARGUMENT, lost);
    work.body();
    if (freed()) return make_cause(DA_STATUS_INVALID_ARGUMENT, lost);
    return nullptr;
  } catch (const Failure &failure) {
    return make_cause(failure.code(), work.name + ": " + failure.what());
  } catch (const std::exception &problem) {
    return make_cause(DA_STATUS_INTERNAL, work.name + ": " + problem.what());
  }
}

SharedStream Scheduler::create(Device &device, int32_t priority) {
  auto stream = std::make_shared<Stream>();
  stream->device = &device;
  stream->priority = priority;
  Lock lock(lock_);
  if (stopping_) throw Failure(DA_STATUS_FAILED_PRECONDITION, "the plugin is shutting down");
  stream->id = ++created_;
  stream->thread = std::thread([this, stream] { loop(*stream); });
  streams_[stream->id] = stream;
  return stream;
}

void Scheduler::destroy(const SharedStream &stream) {
  SharedCause untold;
  {
    Lock lock(lock_);
    if (stream->capture) stream->capture = nullptr;
    wait_finished(*stream, stream->pushed, lock);
    stream->ending = true;
    streams_.erase(stream->id);
    untold = stream->cause;
    changed_.notify_all();
  }
  stream->thread.join();
  if (untold && host_ != nullptr && host_->report_async_error != nullptr) {
    host_->report_async_error(host_->context, handle_of(stream->device), nullptr, untold->code,
                              untold->message.c_str());
  }
}

void Scheduler::loop(Stream &stream) {
  Lock lock(lock_);
  while (!(stream.ending && stream.queue.empty())) {
    time_front(stream);
    const uint64_t now = now_ns();
    if (may_run(stream, now)) {
      run_front(stream, lock);
    } else if (!configuration_.lazy && !stream.queue.empty() && now < stream.ready_ns) {
      changed_.wait_for(lock, std::chrono::nanoseconds(stream.ready_ns - now));
    } else {
      changed_.wait(lock);
    }
  }
  stream.exited = true;
  changed_.notify_all();
}

void Scheduler::run_front(Stream &stream, Lock &lock) {
  // Taken out while it runs, so that the queue may grow meanwhile; `finished` moves only when it has run.
  Item item = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (stopping_ && !stream.cause) {
    stream.cause = make_cause(DA_STATUS_ABORTED, "the plugin was shut down before this work ran");
  }
  const SharedCause before = stream.cause;
  if (item.await) {
    if (!before) stream.cause = item.await->cause;
  } else if (item.reach) {
    item.reach->cause = before;
    item.reach->time_ns = now_ns();
    item.reach->reached = true;
  } else {
    stream.running = true;
    changed_.notify_all();  // whoever gave way to this stream looks again
    lock.unlock();
    SharedCause cause;
    if (item.callback) {
      call(*item.callback, before ? before->code : DA_STATUS_INVALID);
    } else if (!before) {
      cause = attempt_on(stream, *item.work);
    }
    item = Item();  // what the work held is free before anybody hears that it is done
    lock.lock();
    stream.running = false;
    if (cause) stream.cause = cause;
  }
  ++stream.finished;
  changed_.notify_all();
}

SharedCause Scheduler::attempt_on(Stream &stream, const Work &work) {
  const uint64_t start = now_ns();
  const SharedCause cause = attempt(work);
  recorder_.record(*stream.device, work, stream.id, start, now_ns());
  return cause;
}

// Whether the front of the stream could start if no other stream existed.
bool Scheduler::is_ready(Stream &stream, uint64_t now) const {
  if (stream.queue.empty() || stream.running) return false;
  if (stopping_) return true;
  const Item &front = stream.queue.front();
  if (front.await && !front.await->reached) return false;
  if (configuration_.lazy) return stream.finished < stream.demanded;
  return stream.timed == stream.finished + 1 && now >= stream.ready_ns;
}

// The best of the ready streams goes first: by priority, then by age.
bool Scheduler::may_run(Stream &stream, uint64_t now) const {
  if (!is_ready(stream, now)) return false;
  if (stopping_) return true;
  uint32_t running = 0;
  for (const auto &[id, other] : streams_) {
    if (!configuration_.lazy && other->device != stream.device) continue;
    running += other->running;
    if (other.get() != &stream && precedes(*other, stream) && is_ready(*other, now)) return false;
  }
  return running < (configuration_.lazy ? 1 : kUnits);
}

void Scheduler::time_front(Stream &stream) {
  if (configuration_.lazy || stream.queue.empty() || stream.timed == stream.finished + 1) return;
  stream.timed = stream.finished + 1;
  stream.ready_ns = now_ns() + delay_of(stream, stream.timed);
}

uint64_t Scheduler::delay_of(const Stream &stream, uint64_t number) const {
  const uint64_t drawn = mix(mix(configuration_.seed ^ mix(stream.id)) ^ number);
  const bool none = (drawn & 1) != 0 || configuration_.max_delay_ns == 0;
  return none ? 0 : (drawn >> 1) % (configuration_.max_delay_ns + 1);
}

void Scheduler::shut_down() {
  std::map<uint64_t, SharedStream> ended;
  {
    Lock lock(lock_);
    stopping_ = true;
    for (const auto &[id, stream] : streams_) stream->ending = true;
    changed_.notify_all();
    changed_.wait_for(lock, kPatience, [&] {
      return std::all_of(streams_.begin(), streams_.end(),
                         [](const auto &entry) { return entry.second->exited; });
    });
    ended = streams_;
    streams_.clear();
  }
  for (const auto &[id, stream] : ended) {
    bool exited;
    {
      Lock lock(lock_);
      exited = stream->exited;
    }
    exited ? stream->thread.join() : stream->thread.detach();
  }
}

}  // namespace simulated
