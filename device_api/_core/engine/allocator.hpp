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
  uint64_t used;  // bytes in blocks that were given out
  uint64_t peak_used;
  uint64_t reserved;  // bytes held from the plugin
  uint64_t peak_reserved;
  uint64_t plugin_allocations;
  uint64_t plugin_frees;
  uint64_t retries;  // times memory ran out and cached blocks were released
};

// The bytes that allocators may hold from the plugin together. [thread-safe]
class Budget {
 public:
  // Counts `bytes` more, before they are asked of the plugin, so that threads cannot pass the limit together;
  // a failure, and nothing counted, when they would pass it.
  Failure *take(uint64_t bytes);
  void give_back(uint64_t bytes);
  uint64_t limit();
  void set_limit(uint64_t bytes);  // 0: none

 private:
  std::mutex mutex_;
  uint64_t limit_ = 0;
  uint64_t held_ = 0;
};

class Allocator {
 public:
  // `budget`: nullptr where the memory is none of the device's.
  Allocator(Device *device, int32_t kind, Budget *budget) : device_(device), kind_(kind), budget_(budget) {}

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
  // Handles of the chunks that are still held from the plugin.
  std::vector<const void *> held();
  // Lets `stream` have all blocks that were free at `idle`; a graph, which keeps what it gets, one of
  // `bytes`.
  void hand_over(uint64_t idle, Stream *stream, uint64_t bytes);
  // All blocks, neighbours side by side.
  std::vector<BlockView> blocks();

  AllocatorStatistics statistics();
  void reset_peak();
  void count_retry();

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
  void cut(Block *block, uint64_t bytes);
  Block *give_out(Block *block, uint64_t bytes);
  Failure *grow(uint64_t bytes, Stream *stream, Block **out_block);

  Device *device_;
  const int32_t kind_;  // enum da_memory_kind
  Budget *const budget_;
  bool direct_ = false;
  const uint32_t birth_ = fork_generation.load();
  uint64_t granularity_ = 64;
  std::mutex mutex_;
  std::set<Block *, ByFit> free_;
  std::set<Block *> firsts_;  // of all chunks
  uint64_t frees_ = 0;
  AllocatorStatistics statistics_{};
};

}  // namespace device_api

#endif
