// Streams and who may run when. Each stream is a thread with a queue. In lazy mode a thread runs nothing
// until somebody waits for it (or for an event in it), and then one item at a time in the whole plugin,
// always that of the best stream, so that a program of one host thread always runs in the same order. In
// eager mode items start by themselves, after a delay that the seed, the stream and the item's number decide.
// Knows no kernels.
#ifndef SIMULATED_SCHEDULER_HPP
#define SIMULATED_SCHEDULER_HPP

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "configuration.hpp"
#include "device_api/host.h"
#include "work.hpp"

namespace simulated {

struct Device;
class Recorder;

constexpr uint32_t kUnits = 4;  // items that one device runs at a time in eager mode

// What a capture recorded.
struct Capture {
  Device *device = nullptr;
  std::vector<SharedWork> work;
  std::string spoiled;  // why it can no longer end well; empty while it can
};

// All fields but the first three belong to the scheduler's lock.
struct Stream {
  Device *device = nullptr;
  int32_t priority = 0;
  uint64_t id = 0;
  std::deque<Item> queue;
  uint64_t pushed = 0, finished = 0;
  uint64_t demanded = 0;  // lazy: the items up to this number may run
  uint64_t timed = 0;     // eager: the number of the item that `ready_ns` is about
  uint64_t ready_ns = 0;
  uint32_t looks = 0;
  bool running = false, ending = false, exited = false;
  SharedCause cause;
  std::shared_ptr<Capture> capture;
  std::thread thread;
};
using SharedStream = std::shared_ptr<Stream>;

// Runs a callback, then ends it.
void call(const da_callback &callback, int32_t status);
// Runs the work unless its memory is gone; NULL when all went well.
SharedCause attempt(const Work &work);

class Scheduler {
 public:
  Scheduler(const Configuration &configuration, Recorder &recorder, const da_host *host)
      : configuration_(configuration), recorder_(recorder), host_(host) {}

  SharedStream create(Device &device, int32_t priority);
  // Waits for the stream's work and ends its thread. A failure nobody was told of goes to the host's report.
  void destroy(const SharedStream &stream);

  // Queue at the end of a stream; on a stream that is captured, record.
  void push(const SharedStream &stream, SharedWork work);
  void push_callback(const SharedStream &stream, const da_callback &callback);
  SharedMark push_mark(const SharedStream &stream);
  void push_wait(const SharedStream &stream, const SharedMark &mark);
  // Waits for all work of the device, then runs the work on this thread: what a NULL stream means.
  void run_now(Device &device, const Work &work);

  // Wait until all work is done, and throw the first failure that nobody was told of.
  void synchronize(const SharedStream &stream);
  void synchronize(Device &device);
  void wait_for_device(Device &device);              // leaves failures where they are
  void wait_for_stream(const SharedStream &stream);  // likewise
  bool is_alive(const SharedStream &stream);         // it was not destroyed
  // False when the time was over first. Throws the cause when the marked work failed.
  bool wait(const SharedMark &mark, uint64_t timeout_ns);
  // These look and start nothing, except that in lazy mode a program that looks again and again has waited.
  bool is_done(const SharedStream &stream);
  bool is_done(Device &device);
  bool is_reached(const SharedMark &mark);
  uint64_t reached_at(const SharedMark &mark);  // Throws FAILED_PRECONDITION when it is not reached.

  void begin_capture(const SharedStream &stream);
  std::shared_ptr<Capture> end_capture(const SharedStream &stream);
  bool is_capturing(const SharedStream &stream);

  // Ends all streams: what runs ends, what only stands in a queue ends with ABORTED.
  void shut_down();

 private:
  using Lock = std::unique_lock<std::mutex>;

  void loop(Stream &stream);
  void run_front(Stream &stream, Lock &lock);
  SharedCause attempt_on(Stream &stream, const Work &work);
  bool is_ready(Stream &stream, uint64_t now) const;
  bool may_run(Stream &stream, uint64_t now) const;
  void time_front(Stream &stream);
  uint64_t delay_of(const Stream &stream, uint64_t number) const;
  void append(Stream &stream, Item item);
  bool look(Stream &stream);
  void demand(Stream &stream, uint64_t number);
  void wait_all(Device &device, Lock &lock);
  void wait_finished(Stream &stream, uint64_t number, Lock &lock);
  void refuse_capture(Device &device, const char *what);
  void refuse_capture(Stream &stream, const char *what);

  const Configuration &configuration_;
  Recorder &recorder_;
  const da_host *const host_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::map<uint64_t, SharedStream> streams_;  // by id
  uint64_t created_ = 0;
  bool stopping_ = false;
};

}  // namespace simulated

#endif
