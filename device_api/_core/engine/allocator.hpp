// The caching allocator of one device and one kind of memory: blocks cut from large chunks of the plugin's.
//
// Handles are opaque, so a block is a chunk and a byte offset. Freed blocks join their free neighbours and
// stay cached; they serve only the stream they were made for, whose later work runs after everything that
// used the block. Other streams that used a block are waited for before it is free. A direct allocator keeps
// nothing: every block is a chunk, and goes back when the work is done. The plugin is called with no lock
// held: a plugin written in Python needs the interpreter's. What a graph has free stays with it: its replays
// write there.
#ifndef DEVICE_API_CORE_ALLOCATOR_HPP
#define DEVICE_API_CORE_ALLOCATOR_HPP

#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include "device_api/memory.h"
#include "failure.hpp"
#include "process.hpp"

namespace device_api {

class Device;
class Stream;

struct Chunk {
  void *handle;
  uint64_t bytes;
  bool plain;  // ordinary memory of the host, where the plugin has no pinned one
};

struct Block {
  Chunk *chunk;
  uint64_t offset;
  uint64_t bytes;
  Stream *stream;
  Block *previous;  // neighbours in the chunk
  Block *next;
  bool free;
  uint64_t freed = 0;    // the count of frees when it became free
  bool exposed = false;  // somebody was told its address since it was taken
};

// One block as a snapshot shows it.
struct BlockView {
  const Block *block;
  const Chunk *chunk;
  uint64_t offset;
  uint64_t bytes;
  bool free;
  uint32_t stream;  // number
};

struct AllocatorStatistics {
  uint64_t reserved;  // bytes held from the plugin
  uint64_t peak_reserved;
  uint64_t plugin_allocations;
  uint64_t plugin_frees;
  uint64_t retries;  // times memory ran out and cached blocks were released
};

class Allocator {
 public:
  Allocator(Device *device, int32_t kind) : device_(device), kind_(kind) {}

  // The fork generation this allocator belongs to.
  uint32_t birth() const { return birth_; }
  void set_granularity(uint64_t bytes) { granularity_ = bytes; }
  void set_direct() { direct_ = true; }
  uint64_t round(uint64_t bytes) const {
    return bytes == 0 ? granularity_ : (bytes + granularity_ - 1) & ~(granularity_ - 1);
  }

  // `bytes` is already rounded. May call the plugin. [thread-safe]
  Failure *allocate(uint64_t bytes, Stream *stream, Block **out_block);
  // `uses` (may be nullptr): streams besides the block's own whose present work still needs it. Calls the
  // plugin only where a direct allocator may free at once. [thread-safe]
  void free(Block *block, const std::vector<Stream *> *uses);
  // How many blocks have become free so far: what is free by then is idle once all streams were waited for.
  uint64_t free_count();
  // Gives every chunk without a used block back to the plugin, if it was free at `idle` (a free_count).
  Failure *release_cached(uint64_t idle, uint64_t *out_bytes);
  // The same with the chunks that one stream, which has no work, has free.
  Failure *release_stream(const Stream *stream);
  // At the end of the device: gives all memory to the plugin, used or not, but for what somebody may look at
  // by its address. Used blocks may still be freed later; that does nothing then.
  void release_all();
  // Lets `stream` have all blocks that were free at `idle`; a graph, which keeps what it gets, one of
  // `bytes`.
  void hand_over(uint64_t idle, Stream *stream, uint64_t bytes);
  // All blocks, neighbours side by side.
  std::vector<BlockView> blocks();

  AllocatorStatistics statistics();
  void reset_peak();
  void count_retry();
  uint64_t limit();
  void set_limit(uint64_t bytes);

 private:
  struct ByFit {
    bool operator()(const Block *a, const Block *b) const;
  };

  Block *take_cached(uint64_t bytes, Stream *stream, bool any);
  bool is_direct(const Block *block) const;
  Failure *release_if(const std::function<bool(const Block &)> &chosen, uint64_t *out_bytes);
  void free_now(Block *block);
  void join(Block *block);
  Failure *free_chunk(Chunk *chunk);
  Failure *take_chunk(uint64_t bytes, Chunk **out_chunk);
  Block *cut(Block *block, uint64_t bytes);
  Failure *grow(uint64_t bytes, Stream *stream, Block **out_block);

  Device *device_;
  const int32_t kind_;  // enum da_memory_kind
  bool direct_ = false;
  const uint32_t birth_ = fork_generation.load();
  uint64_t granularity_ = 64;
  std::mutex mutex_;
  std::set<Block *, ByFit> free_;
  std::set<Block *> firsts_;  // of all chunks
  uint64_t frees_ = 0;
  AllocatorStatistics statistics_{};
  uint64_t limit_ = 0;
};

}  // namespace device_api

#endif
