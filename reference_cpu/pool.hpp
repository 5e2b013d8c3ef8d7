// The plugin's own threads. Work is cut into pieces whose borders depend on the work alone, never on how many
// threads there are, so results are the same bits for any number of threads. Knows nothing of tensors.
#ifndef REFERENCE_CPU_POOL_HPP
#define REFERENCE_CPU_POOL_HPP

#include <algorithm>
#include <cstdint>

namespace reference_cpu {

// Threads that a large launch uses, the caller's among them. From DEVICE_API_CPU_THREADS, else one for each
// processor this process may run on. Throws Failure when the variable holds no number from 1 to 1024.
int thread_count();

// Ends the pool's threads; they start again at the next large launch.
void stop_threads();

// How many items of `weight` each are a piece of about `work`: at least one, whatever the weight.
inline int64_t grain_of(int64_t work, int64_t weight) {
  return std::max<int64_t>(1, work / std::max<int64_t>(1, weight));
}

using Piece = void (*)(void *context, int64_t begin, int64_t end);

// Calls piece(context, begin, end) for pieces of `grain` that cover [0, count), on several threads, and
// returns when all are done. The first exception of a piece is thrown to the caller. A call from inside a
// piece, and a call while another host thread uses the pool, runs all pieces on the calling thread.
void run_pieces(int64_t count, int64_t grain, Piece piece, void *context);

template <class Body>
void parallel_for(int64_t count, int64_t grain, const Body &body) {
  run_pieces(
      count, grain,
      [](void *context, int64_t begin, int64_t end) { (*static_cast<const Body *>(context))(begin, end); },
      const_cast<void *>(static_cast<const void *>(&body)));
}

}  // namespace reference_cpu

#endif
