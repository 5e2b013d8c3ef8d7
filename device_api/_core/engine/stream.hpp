// Streams of a device as the host sees them: what was queued, what is known to be done, and what failed.
//
// The work of a stream is numbered in the order of its calls. A wait settles numbers: up to there the work is
// done. Where it met a failure, everything queued since the last wait may be missing: those numbers are
// remembered with the cause, and tensors they wrote refuse to be used. Host lock, except where noted.
#ifndef DEVICE_API_CORE_STREAM_HPP
#define DEVICE_API_CORE_STREAM_HPP

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "device_api/stream.h"
#include "failure.hpp"

namespace device_api {

class Device;

class Stream {
 public:
  Stream(Device *of, da_stream *given, int32_t wanted, uint32_t position, void *wrapped = nullptr)
      : device(of), handle(given), native(wrapped), priority(wanted), number(position) {}

  Device *const device;
  da_stream *const handle;
  void *const native;  // the vendor's stream that it wraps; nullptr: none
  const int32_t priority;
  const uint32_t number;          // 0: the device's default stream
  std::atomic<bool> idle{false};  // nobody holds it: it may be given out again

  // A graph owns it: no other work may be queued on it, and the free blocks that belong to it are the
  // graph's.
  std::atomic<bool> reserved{false};
  // Its work is recorded, and does not run.
  std::atomic<bool> capturing{false};
  // The plugin's stream is gone, and all its work was done before.
  std::atomic<bool> ended{false};
  uint32_t entered = 0;  // how often it is the current stream of some thread

  // Around every call that queues work: the number of that work, and its end, however the call ended.
  uint64_t begin() {
    if (submitting_++ == 0) submitted_ = sequence_;
    return ++sequence_;
  }
  void end() { --submitting_; }

  uint64_t sequence() const { return sequence_; }
  bool settled(uint64_t work) const { return work <= settled_; }
  // Some work has failed at some time.
  bool suspicious() const { return !failed_.empty(); }
  // What was queued since the last wait was recorded instead: it is missing until it is replayed. The number
  // to give to `note_replay`.
  uint64_t note_capture();
  void note_replay(uint64_t recording, uint64_t work);
  // The work that last did what `work` says: of recorded work, its last replay.
  uint64_t latest(uint64_t work) const;
  // Streams that used memory of this stream while a graph owned it.
  void note_reader(Stream *stream);
  std::vector<Stream *> take_readers() { return std::exchange(readers_, {}); }

  // Why that work may be missing; nullptr where it is not. A copy.
  Failure *failure_of(uint64_t work) const;

  // One thread at a time waits and settles: a plugin tells a failure to one wait only, and nobody may think
  // the work good before that one has said so. Taken without the host lock.
  void lock() { waiting_.lock(); }
  bool lock_for(uint64_t timeout_ns) { return waiting_.try_lock_for(std::chrono::nanoseconds(timeout_ns)); }
  void unlock() { waiting_.unlock(); }

  // What a wait that begins now will settle: work that another thread is still queueing is not in it.
  uint64_t wait_target() const { return submitting_ == 0 ? sequence_ : submitted_; }
  // Waits for all work and gives what failed, also what the plugin reported by itself. Without the host lock.
  Failure *wait();
  // The same, at most `timeout_ns`; TIMEOUT when work is left. Without the host lock.
  Failure *wait_for(uint64_t timeout_ns);
  // After a wait for `target`.
  void settle(uint64_t target, const Failure *failure);

  // Later work of this stream runs after the present work of another one of the device.
  bool follows(Stream *other, uint64_t work) const;
  // Streams that it follows whose work is not known to be done.
  std::vector<Stream *> pending() const;
  void note_follow(Stream *other, uint64_t work) { followed_[other] = work; }
  Failure *follow(const Stream *other);  // Without the host lock.

 private:
  struct Range {
    uint64_t after;
    Failure cause;
  };
  struct Recording {
    uint64_t after;
    uint64_t replay;  // the last one; 0: none
  };

  uint64_t sequence_ = 0;
  uint64_t submitted_ = 0;  // while calls are in progress: the last number before the first of them
  uint32_t submitting_ = 0;
  uint64_t settled_ = 0;
  std::timed_mutex waiting_;
  std::map<uint64_t, Range> failed_;        // by the last number of each range
  std::map<uint64_t, Recording> recorded_;  // likewise
  std::vector<Stream *> readers_;
  std::unordered_map<Stream *, uint64_t> followed_;
};

}  // namespace device_api

#endif
