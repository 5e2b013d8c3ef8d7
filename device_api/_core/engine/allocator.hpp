// The caching allocator of one device: blocks cut from large chunks of the plugin's memory.
//
// Handles are opaque, so a block is a chunk and a byte offset. Freed blocks join their free neighbours and
// stay cached; they serve only the stream that freed them, whose later work runs after everything that used
// the block. The plugin is called with no lock held: a plugin written in Python needs the interpreter's.
#ifndef DEVICE_API_CORE_ALLOCATOR_HPP
#define DEVICE_API_CORE_ALLOCATOR_HPP

#include <cstdint>
#include <mutex>
#include <set>

#include "device_api/memory.h"
#include "failure.hpp"
#include "process.hpp"

namespace device_api {

class Device;

struct Chunk {
  void *handle;
  uint64_t bytes;
};

struct Block {
  Chunk *chunk;
  uint64_t offset;
  uint64_t bytes;
  da_stream *stream;
  Block *previous;  // neighbours in the chunk
  Block *next;
  bool free;
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
  explicit Allocator(Device *device) : device_(device) {}

  // The fork generation this allocator belongs to.
  uint32_t birth() const { return birth_; }
  void set_granularity(uint64_t bytes) { granularity_ = bytes; }
  uint64_t round(uint64_t bytes) const {
    return bytes == 0 ? granularity_ : (bytes + granularity_ - 1) & ~(granularity_ - 1);
  }

  // `bytes` is already rounded. May call the plugin. [thread-safe]
  Failure *allocate(uint64_t bytes, da_stream *stream, Block **out_block);
  // Never calls the plugin. [thread-safe]
  void free(Block *block);
  // Gives every chunk without a used block back to the plugin. The device must be idle. [thread-safe]
  Failure *release_cached(uint64_t *out_bytes);

  AllocatorStatistics statistics();
  void reset_peak();
  void count_retry();
  uint64_t limit();
  void set_limit(uint64_t bytes);

 private:
  struct ByFit {
    bool operator()(const Block *a, const Block *b) const;
  };

  Block *take_cached(uint64_t bytes, da_stream *stream, bool any);
  Block *cut(Block *block, uint64_t bytes);
  Failure *grow(uint64_t bytes, da_stream *stream, Block **out_block);

  Device *device_;
  const uint32_t birth_ = fork_generation.load();
  uint64_t granularity_ = 64;
  std::mutex mutex_;
  std::set<Block *, ByFit> free_;
  AllocatorStatistics statistics_{};
  uint64_t limit_ = 0;
};

}  // namespace device_api

#endif
