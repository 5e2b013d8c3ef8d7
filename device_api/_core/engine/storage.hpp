// Storages: the reference-counted memory behind tensors, and the pool that recycles small ones.
//
// Most tensors of eager code are small and die soon. The pool keeps their blocks, storage object included, in
// bins of one exact size each, so that making the next one is a list pop. Everything here belongs to the host
// lock; the allocator below has its own.
#ifndef DEVICE_API_CORE_STORAGE_HPP
#define DEVICE_API_CORE_STORAGE_HPP

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "allocator.hpp"
#include "stream.hpp"

namespace device_api {

class StoragePool;

struct Storage {
  uint64_t references;
  void *handle;
  uint64_t offset;   // of the block in its handle
  uint64_t bytes;    // rounded: what the block holds
  uint64_t version;  // raised by every write that a user can see
  StoragePool *pool;
  Block *block;   // nullptr: somebody else owns the memory
  Storage *next;  // in a bin
  void (*release_external)(void *owner, std::vector<Stream *> *uses);
  void *owner;
  Stream *writer;    // whose work wrote last; nullptr: nobody's, or work that was done at once
  uint64_t written;  // the number of that work
  // Streams that used it, other than the one that its memory belongs to; nullptr: none.
  std::vector<Stream *> *uses;

  Stream *home() const { return block != nullptr ? block->stream : nullptr; }
  void add_use(Stream *stream) {
    if (stream == nullptr || stream == home()) return;
    if (home() != nullptr && home()->reserved) home()->note_reader(stream);
    if (uses == nullptr) uses = new std::vector<Stream *>;
    for (Stream *known : *uses) {
      if (known == stream) return;
    }
    uses->push_back(stream);
  }
};

class StorageRef {
 public:
  StorageRef() = default;
  // Takes over one reference.
  explicit StorageRef(Storage *storage) : storage_(storage) {}
  StorageRef(const StorageRef &other) : storage_(other.storage_) {
    if (storage_ != nullptr) ++storage_->references;
  }
  StorageRef(StorageRef &&other) noexcept : storage_(std::exchange(other.storage_, nullptr)) {}
  StorageRef &operator=(StorageRef other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  inline ~StorageRef();
  Storage *get() const { return storage_; }
  Storage *operator->() const { return storage_; }

 private:
  Storage *storage_ = nullptr;
};

struct PoolStatistics {
  uint64_t allocated;  // bytes in live storages and in scratch memory of running kernels
  uint64_t peak_allocated;
  uint64_t allocations;
  uint64_t frees;
  uint64_t cached;  // bytes waiting in bins
};

class StoragePool {
 public:
  StoragePool(Allocator *allocator, Stream *const *stream) : allocator_(allocator), stream_(stream) {}

  // `granularity` is a power of two: bins are that far apart. Not `binned`: every block goes back at once.
  void prepare(uint64_t granularity, bool binned);

  // One reference to a new storage for work of `stream`, or nullptr when no bin serves it: then a block of
  // the allocator and `adopt`. Bins hold memory of the default stream.
  Storage *take(uint64_t bytes, const Stream *stream) {
    if (stream != *stream_) return nullptr;
    const uint64_t bin = bytes == 0 ? 0 : (bytes - 1) >> shift_;
    if (bin >= bins_.size()) return nullptr;
    Storage *storage = bins_[bin];
    if (storage == nullptr) return nullptr;
    bins_[bin] = storage->next;
    cached_ -= storage->bytes;
    begin(storage);
    return storage;
  }
  // Wraps a block of this pool's allocator.
  Storage *adopt(Block *block);
  // Wraps memory that somebody else owns; `release` is called once, when the last tensor has gone.
  Storage *adopt_external(void *handle, uint64_t offset, uint64_t bytes,
                          void (*release)(void *, std::vector<Stream *> *), void *owner);
  // Blocks that wait in bins.
  std::vector<const Block *> binned() const;
  // The last reference has gone.
  void give_back(Storage *storage);
  // Returns all cached blocks to the allocator.
  void flush();

  // Scratch of a running kernel counts as allocated too. [thread-safe]
  void count_scratch(int64_t bytes);

  PoolStatistics statistics() const;
  void reset_peak() { peak_.store(live()); }

 private:
  void begin(Storage *storage) {
    storage->references = 1;
    storage->version = 0;
    storage->writer = nullptr;
    ++allocations_;
    storage_bytes_ += storage->bytes;
    const uint64_t now = live();
    if (now > peak_.load(std::memory_order_relaxed)) peak_.store(now, std::memory_order_relaxed);
  }
  uint64_t live() const { return storage_bytes_ + scratch_bytes_.load(std::memory_order_relaxed); }

  Allocator *allocator_;
  Stream *const *stream_;
  uint32_t shift_ = 6;  // log2 of the granularity
  std::vector<Storage *> bins_;
  uint64_t cached_ = 0;
  uint64_t storage_bytes_ = 0;
  uint64_t allocations_ = 0;
  uint64_t frees_ = 0;
  std::atomic<uint64_t> scratch_bytes_{0};
  std::atomic<uint64_t> peak_{0};
};

inline StorageRef::~StorageRef() {
  if (storage_ != nullptr && --storage_->references == 0) storage_->pool->give_back(storage_);
}

}  // namespace device_api

#endif
