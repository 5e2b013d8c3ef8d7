// The thread pool. Threads start at the first large launch. After a fork the child makes a new pool: the old
// one's threads do not exist there and its locks may be held for ever, so it is left alone.
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
thread_local bool inside_piece = false;

struct Job {
  Job(Piece work, void *argument, int64_t size, int64_t step)
      : piece(work), context(argument), count(size), grain(step) {}

  Piece piece;
  void *context;
  int64_t count;
  int64_t grain;
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;

  void work() {
    inside_piece = true;
    for (;;) {
      const int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= count || failed.load(std::memory_order_relaxed)) break;
      try {
        piece(context, begin, begin + grain < count ? begin + grain : count);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
    }
    inside_piece = false;
  }
};

class Pool {
 public:
  explicit Pool(int threads) : owner_(getpid()), threads_(threads) {}
  pid_t owner() const { return owner_; }
  int threads() const { return threads_; }

  // False when another thread uses the pool now.
  bool run(Job &job) {
    std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
    if (!turn.owns_lock()) return false;
    start_workers();
    {
      std::lock_guard<std::mutex> lock(state_);
      job_ = &job;
      ++generation_;
      active_ = static_cast<int>(workers_.size());
    }
    wake_.notify_all();
    job.work();
    std::unique_lock<std::mutex> lock(state_);
    done_.wait(lock, [this] { return active_ == 0; });
    job_ = nullptr;
    return true;
  }

  void stop() {
    std::lock_guard<std::mutex> turn(turn_);
    {
      std::lock_guard<std::mutex> lock(state_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread &worker : workers_) worker.join();
    workers_.clear();
    stopping_ = false;
  }

 private:
  void start_workers() {
    while (static_cast<int>(workers_.size()) < threads_ - 1) {
      const uint64_t seen = generation_;
      try {
        workers_.emplace_back([this, seen] { loop(seen); });
      } catch (const std::system_error &) {
        break;  // the system gives no more threads: those that run do the work
      }
    }
  }

  void loop(uint64_t seen) {
    for (;;) {
      Job *job;
      {
        std::unique_lock<std::mutex> lock(state_);
        wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
        if (stopping_) return;
        seen = generation_;
        job = job_;
      }
      job->work();
      std::lock_guard<std::mutex> lock(state_);
      if (--active_ == 0) done_.notify_one();
    }
  }

  const pid_t owner_;
  const int threads_;
  std::mutex turn_;   // held by the one caller that uses the workers
  std::mutex state_;  // guards what follows
  std::condition_variable wake_, done_;
  std::vector<std::thread> workers_;
  Job *job_ = nullptr;
  uint64_t generation_ = 0;
  int active_ = 0;
  bool stopping_ = false;
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
    if (threads->threads() > 1) {
      Job job(piece, context, count, grain);
      if (threads->run(job)) {
        if (job.failed) std::rethrow_exception(job.failure);
        return;
      }
    }
  }
  for (int64_t begin = 0; begin < count; begin += grain) {
    piece(context, begin, begin + grain < count ? begin + grain : count);
  }
}

}  // namespace reference_cpu
