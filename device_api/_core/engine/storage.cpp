#include "storage.hpp"

namespace device_api {

namespace {

constexpr uint64_t kBinnedBytes = UINT64_C(1) << 16;    // larger blocks go straight to the allocator
constexpr uint64_t kCacheCapacity = UINT64_C(4) << 20;  // of all bins together

}  // namespace

void StoragePool::prepare(uint64_t granularity, bool binned) {
  shift_ = static_cast<uint32_t>(__builtin_ctzll(granularity));
  bins_.assign(binned ? kBinnedBytes / granularity : 0, nullptr);
}

Storage *StoragePool::adopt(Block *block) {
  Storage *storage = new Storage{};
  storage->handle = block->chunk->handle;
  storage->offset = block->offset;
  storage->bytes = block->bytes;
  storage->pool = this;
  storage->block = block;
  begin(storage);
  return storage;
}

Storage *StoragePool::adopt_external(void *handle, uint64_t offset, uint64_t bytes,
                                     void (*release)(void *, std::vector<Stream *> *), void *owner) {
  Storage *storage = new Storage{};
  storage->references = 1;
  storage->handle = handle;
  storage->offset = offset;
  storage->bytes = bytes;
  storage->pool = this;
  storage->release_external = release;
  storage->owner = owner;
  return storage;
}

void StoragePool::give_back(Storage *storage) {
  if (storage->block == nullptr) {
    if (storage->release_external != nullptr) storage->release_external(storage->owner, storage->uses);
    delete storage->uses;
    delete storage;
    return;
  }
  ++frees_;
  storage_bytes_ -= storage->bytes;
  const uint64_t bin = (storage->bytes >> shift_) - 1;
  if (bin < bins_.size() && storage->bytes == (bin + 1) << shift_ && storage->uses == nullptr &&
      storage->block->stream == *stream_ && cached_ + storage->bytes <= kCacheCapacity) {
    cached_ += storage->bytes;
    storage->next = bins_[bin];
    bins_[bin] = storage;
    return;
  }
  // In a forked child the allocator's lock may be held for ever by a thread that does not exist there.
  if (fork_generation.load(std::memory_order_relaxed) == allocator_->birth())
    allocator_->free(storage->block, storage->uses);
  delete storage->uses;
  delete storage;
}

std::vector<const Block *> StoragePool::binned() const {
  std::vector<const Block *> blocks;
  for (const Storage *bin : bins_) {
    for (; bin != nullptr; bin = bin->next) blocks.push_back(bin->block);
  }
  return blocks;
}

void StoragePool::flush() {
  for (Storage *&bin : bins_) {
    while (bin != nullptr) {
      Storage *storage = bin;
      bin = storage->next;
      allocator_->free(storage->block, nullptr);
      delete storage;
    }
  }
  cached_ = 0;
}

void StoragePool::count_scratch(int64_t bytes) {
  const uint64_t change = static_cast<uint64_t>(bytes);  // wraps when negative, as intended
  const uint64_t now = storage_bytes_ + scratch_bytes_.fetch_add(change) + change;
  uint64_t peak = peak_.load();
  while (bytes > 0 && now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
}

PoolStatistics StoragePool::statistics() const {
  return PoolStatistics{live(), peak_.load(), allocations_, frees_, cached_};
}

}  // namespace device_api
