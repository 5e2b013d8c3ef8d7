#include "allocator.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "device.hpp"

namespace device_api {

namespace {

constexpr uint64_t kMiB = UINT64_C(1) << 20;
constexpr uint64_t kSmallRequest = kMiB;  // and smaller come from chunks of kSmallChunk
constexpr uint64_t kSmallChunk = 2 * kMiB;
constexpr uint64_t kLargeRequest = 10 * kMiB;  // and larger get chunks of their own
constexpr uint64_t kLargeChunk = 20 * kMiB;
constexpr uint64_t kChunkRounding = 2 * kMiB;

bool is_small(const Chunk *chunk) { return chunk->bytes <= kSmallChunk; }

uint64_t chunk_size(uint64_t bytes) {
  if (bytes <= kSmallRequest) return kSmallChunk;
  if (bytes < kLargeRequest) return kLargeChunk;
  return bytes > UINT64_MAX - kChunkRounding ? bytes
                                             : (bytes + kChunkRounding - 1) / kChunkRounding * kChunkRounding;
}

// A remainder worth keeping as a block of its own. Large chunks are not crumbled by small tails.
bool worth_cutting(const Chunk *chunk, uint64_t remainder, uint64_t granularity) {
  return is_small(chunk) ? remainder >= granularity : remainder > kSmallRequest;
}

}  // namespace

bool Allocator::ByFit::operator()(const Block *a, const Block *b) const {
  return std::make_tuple(a->stream, a->bytes, a->chunk, a->offset) <
         std::make_tuple(b->stream, b->bytes, b->chunk, b->offset);
}

Failure *Allocator::allocate(uint64_t bytes, da_stream *stream, Block **out_block) {
  {
    std::lock_guard<std::mutex> guard(mutex_);
    *out_block = take_cached(bytes, stream, false);
  }
  if (*out_block != nullptr) return nullptr;
  Failure *failure = grow(bytes, stream, out_block);
  if (failure == nullptr || failure->code != DA_STATUS_OUT_OF_MEMORY) return failure;
  // Thrift is over: any block that is large enough will do.
  std::lock_guard<std::mutex> guard(mutex_);
  *out_block = take_cached(bytes, stream, true);
  if (*out_block == nullptr) return failure;
  delete failure;
  return nullptr;
}

Block *Allocator::take_cached(uint64_t bytes, da_stream *stream, bool any) {
  Block probe{nullptr, 0, bytes, stream, nullptr, nullptr, true};
  for (auto it = free_.lower_bound(&probe); it != free_.end() && (*it)->stream == stream; ++it) {
    // A small request must not pin a large chunk, nor a medium one a huge chunk that it barely fills.
    if (!any && bytes <= kSmallRequest && !is_small((*it)->chunk)) continue;
    if (!any && bytes > kSmallRequest && (*it)->chunk->bytes > kLargeChunk && (*it)->bytes / 4 > bytes) break;
    Block *block = *it;
    free_.erase(it);
    return cut(block, bytes);
  }
  return nullptr;
}

Block *Allocator::cut(Block *block, uint64_t bytes) {
  block->free = false;
  const uint64_t remainder = block->bytes - bytes;
  if (!worth_cutting(block->chunk, remainder, granularity_)) return block;
  Block *rest =
      new Block{block->chunk, block->offset + bytes, remainder, block->stream, block, block->next, true};
  if (block->next != nullptr) block->next->previous = rest;
  block->next = rest;
  block->bytes = bytes;
  free_.insert(rest);
  return block;
}

Failure *Allocator::grow(uint64_t bytes, da_stream *stream, Block **out_block) {
  Failure *failure = nullptr;
  // A chunk with room to spare first; when that does not fit, exactly what is needed.
  for (uint64_t size : {chunk_size(bytes), bytes}) {
    delete failure;
    {
      std::lock_guard<std::mutex> guard(mutex_);
      if (limit_ != 0 && (size > limit_ || statistics_.reserved > limit_ - size)) {
        failure = fail(DA_STATUS_OUT_OF_MEMORY, "memory.allocate",
                       "the memory limit of " + std::to_string(limit_) + " bytes would be passed");
        continue;
      }
      statistics_.reserved += size;  // before the call, so that threads cannot pass the limit together
    }
    void *handle = nullptr;
    const Tables &tables = device_->tables();
    failure = translate(device_->errors(),
                        tables.memory->allocate(device_->handle(), DA_MEMORY_DEVICE, size, &handle),
                        "memory.allocate");
    std::lock_guard<std::mutex> guard(mutex_);
    if (failure == nullptr && handle == nullptr) {
      failure = fail(kMalformed, "memory.allocate", "the plugin reported success and gave no handle");
    }
    if (failure != nullptr) {
      statistics_.reserved -= size;
      if (failure->code != DA_STATUS_OUT_OF_MEMORY) return failure;
      continue;
    }
    ++statistics_.plugin_allocations;
    statistics_.peak_reserved = std::max(statistics_.peak_reserved, statistics_.reserved);
    Chunk *chunk = new Chunk{handle, size};
    *out_block = cut(new Block{chunk, 0, size, stream, nullptr, nullptr, false}, bytes);
    return nullptr;
  }
  return failure;
}

void Allocator::free(Block *block) {
  std::lock_guard<std::mutex> guard(mutex_);
  block->free = true;
  for (Block *other : {block->previous, block->next}) {
    if (other == nullptr || !other->free || other->stream != block->stream) continue;
    free_.erase(other);
    block->bytes += other->bytes;
    if (other == block->previous) {
      block->offset = other->offset;
      block->previous = other->previous;
      if (block->previous != nullptr) block->previous->next = block;
    } else {
      block->next = other->next;
      if (block->next != nullptr) block->next->previous = block;
    }
    delete other;
  }
  free_.insert(block);
}

Failure *Allocator::release_cached(uint64_t *out_bytes) {
  std::vector<Chunk *> chunks;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    for (auto it = free_.begin(); it != free_.end();) {
      Block *block = *it;
      if (block->previous == nullptr && block->next == nullptr) {
        chunks.push_back(block->chunk);
        it = free_.erase(it);
        delete block;
      } else {
        ++it;
      }
    }
  }
  *out_bytes = 0;
  Failure *first = nullptr;
  for (Chunk *chunk : chunks) {
    Failure *failure = translate(
        device_->errors(), device_->tables().memory->free(device_->handle(), DA_MEMORY_DEVICE, chunk->handle),
        "memory.free");
    *out_bytes += chunk->bytes;
    std::lock_guard<std::mutex> guard(mutex_);
    statistics_.reserved -= chunk->bytes;
    ++statistics_.plugin_frees;
    delete chunk;
    if (first == nullptr) {
      first = failure;
    } else {
      delete failure;
    }
  }
  return first;
}

AllocatorStatistics Allocator::statistics() {
  std::lock_guard<std::mutex> guard(mutex_);
  return statistics_;
}

void Allocator::reset_peak() {
  std::lock_guard<std::mutex> guard(mutex_);
  statistics_.peak_reserved = statistics_.reserved;
}

void Allocator::count_retry() {
  std::lock_guard<std::mutex> guard(mutex_);
  ++statistics_.retries;
}

uint64_t Allocator::limit() {
  std::lock_guard<std::mutex> guard(mutex_);
  return limit_;
}

void Allocator::set_limit(uint64_t bytes) {
  std::lock_guard<std::mutex> guard(mutex_);
  limit_ = bytes;
}

}  // namespace device_api
