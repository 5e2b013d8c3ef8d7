// The thread pool. Threads start at the first large launch. After a fork the child makes a new pool: the old
// one's threads do not exist there and its locks may be held for ever, so it is left alone.
//
// Launches often follow each other within microseconds, and going to sleep and waking up cost more than that:
// whoever waits looks for a moment first, and sleeps then. The caller waits for those threads only that have
// begun with its job: one that wakes up too late finds the job closed.
#include "pool.hpp"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "error.hpp"

namespace reference_cpu {
namespace {

constexpr int kMostThreads = 1024;
constexpr int kLooks = 1000;  // before sleep: some 50 microseconds
thread_local bool inside_piece = false;

// The processor that this thread runs on, or -1 where the system does not tell.
int this_processor() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

// Moves this thread to another processor when it runs on this one. Systems wake a thread where it ran last,
// or beside whoever wakes it, and take milliseconds to see that another processor is idle: until then two
// threads would share one.
void leave(int processor) {
#if defined(__linux__)
  if (processor < 0 || this_processor() != processor) return;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<size_t>(processor), &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof(others), &others) != 0) return;
  sched_setaffinity(0, sizeof(allowed), &allowed);
#else
  (void)processor;
#endif
}

// A thread's own part of a job's pieces, in memory order. Each is on a cache line of its own.
struct alignas(64) Share {
  std::atomic<int64_t> next{0};
  int64_t end = 0;
};

// Each thread begins with its own share, the same part of an array in one launch as in the next, so that what
// it wrote is found in its processor's caches; then it helps with the shares of the others.
struct Job {
  Job(Piece work, void *argument, int64_t size, int64_t step, std::vector<Share> &parts)
      : piece(work), context(argument), count(size), grain(step), shares(parts) {
    const int64_t pieces = (size + step - 1) / step, threads = static_cast<int64_t>(parts.size());
    for (int64_t i = 0; i < threads; ++i) {
      Share &share = parts[static_cast<size_t>(i)];
      share.next.store(pieces * i / threads, std::memory_order_relaxed);
      share.end = pieces * (i + 1) / threads;
    }
  }

  Piece piece;
  void *context;
  int64_t count;
  int64_t grain;
  std::vector<Share> &shares;
  const int caller = this_processor();  // where the thread runs that waits for the others
  std::atomic<bool> failed{false};
  std::exception_ptr failure;

  void work(size_t own) {
    inside_piece = true;
    for (size_t i = 0; i < shares.size(); ++i) {
      Share &share = shares[(own + i) % shares.size()];
      while (share.next.load(std::memory_order_relaxed) < share.end &&
             !failed.load(std::memory_order_relaxed)) {
        const int64_t taken = share.next.fetch_add(1, std::memory_order_relaxed);
        if (taken >= share.end) break;
        const int64_t begin = taken * grain;
        try {
          piece(context, begin, begin + grain < count ? begin + grain : count);
        } catch (...) {
          if (!failed.exchange(true)) failure = std::current_exception();
        }
      }
    }
    inside_piece = false;
  }
};

// Lets the other thread of a processor core go first for a moment.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Where threads wait for a change of atomic variables. Whoever makes the change rings afterwards.
class Bell {
 public:
  template <class Ready>
  void wait(const Ready &ready) {
    for (int look = 0; look < kLooks; ++look) {
      if (ready()) return;
      pause();
    }
    std::unique_lock<std::mutex> lock(mutex_);
    ++sleepers_;  // from here on a ring waits for the lock, so that none is missed
    rung_.wait(lock, ready);
    --sleepers_;
  }

  void ring() {
    if (sleepers_ == 0) return;
    std::lock_guard<std::mutex> lock(mutex_);
    rung_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable rung_;
  std::atomic<int> sleepers_{0};
};

class Pool {
 public:
  explicit Pool(int threads) : owner_(getpid()), threads_(threads), shares_(static_cast<size_t>(threads)) {}
  pid_t owner() const { return owner_; }
  int threads() const { return threads_; }

  // False when another thread uses the pool now. The first exception of a piece is thrown.
  bool run(int64_t count, int64_t grain, Piece piece, void *context) {
    std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
    if (!turn.owns_lock()) return false;
    start_workers();
    Job job(piece, context, count, grain, shares_);
    job_ = &job;
    state_ += kNextJob | kOpen;
    call_.ring();
    job.work(0);
    state_ -= kOpen;
    done_.wait([this] { return (state_ & kInside) == 0; });
    if (job.failed) std::rethrow_exception(job.failure);
    return true;
  }

  void stop() {
    std::lock_guard<std::mutex> turn(turn_);
    state_ |= kStopping;
    call_.ring();
    for (std::thread &worker : workers_) worker.join();
    workers_.clear();
    state_ &= ~kStopping;
  }

 private:
  // What `state_` holds: how many workers are inside the job, whether others may still join them, whether the
  // workers are to end, and above these the number of the job.
  static constexpr uint64_t kInside = 0xffff, kOpen = 0x10000, kStopping = 0x20000, kNextJob = 0x40000;

  void start_workers() {
    while (static_cast<int>(workers_.size()) < threads_ - 1) {
      try {
        workers_.emplace_back([this, own = workers_.size() + 1] { loop(own); });
      } catch (const std::system_error &) {
        break;  // the system gives no more threads: those that run do the work
      }
    }
  }

  void loop(size_t own) {
    uint64_t last = 0;  // number of the job that this worker was inside last
    for (;;) {
      uint64_t state = 0;
      call_.wait([&] {
        state = state_;
        return (state & kStopping) != 0 || ((state & kOpen) != 0 && state / kNextJob != last);
      });
      if ((state & kStopping) != 0) return;
      if (!state_.compare_exchange_strong(state, state + 1)) continue;  // others came or went: look again
      last = state / kNextJob;
      leave(job_->caller);
      job_->work(own);
      --state_;
      done_.ring();
    }
  }

  const pid_t owner_;
  const int threads_;
  std::mutex turn_;  // held by the one caller that uses the workers
  std::vector<std::thread> workers_;
  std::vector<Share> shares_;  // of the job, one for each thread
  Job *job_ = nullptr;         // while the state is open or workers are inside
  std::atomic<uint64_t> state_{0};
  Bell call_, done_;
};

std::atomic<Pool *> current{nullptr};  // never destroyed: threads may outlive static destructors

int processors() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
#endif
  const unsigned found = std::thread::hardware_concurrency();
  return found == 0 ? 1 : static_cast<int>(found);
}

Pool *pool() {
  Pool *found = current.load(std::memory_order_acquire);
  if (found != nullptr && found->owner() == getpid()) return found;
  Pool *made = new Pool(thread_count());
  if (current.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return made;
  delete made;
  return found;
}

}  // namespace

int thread_count() {
  const char *text = std::getenv("DEVICE_API_CPU_THREADS");
  if (text == nullptr || *text == '\0') return processors() < kMostThreads ? processors() : kMostThreads;
  char *end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (*end != '\0' || number < 1 || number > kMostThreads) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT,
                  std::string("DEVICE_API_CPU_THREADS is '") + text +
                      "', which is no number from 1 to 1024; correct or unset it");
  }
  return static_cast<int>(number);
}

void stop_threads() {
  Pool *found = current.load(std::memory_order_acquire);
  if (found != nullptr && found->owner() == getpid()) found->stop();
}

void run_pieces(int64_t count, int64_t grain, Piece piece, void *context) {
  if (count > grain && !inside_piece) {
    Pool *threads = pool();
    if (threads->threads() > 1 && threads->run(count, grain, piece, context)) return;
  }
  for (int64_t begin = 0; begin < count; begin += grain) {
    piece(context, begin, begin + grain < count ? begin + grain : count);
  }
}

}  // namespace reference_cpu
