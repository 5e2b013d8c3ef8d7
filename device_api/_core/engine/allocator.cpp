#include "allocator.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>
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

// The work of a graph uses such a block whenever it is replayed.
bool of_graph(const Block &block) { return block.stream != nullptr && block.stream->reserved; }

// A remainder worth keeping as a block of its own. Large chunks are not crumbled by small tails.
bool worth_cutting(const Chunk *chunk, uint64_t remainder, uint64_t granularity) {
  return is_small(chunk) ? remainder >= granularity : remainder > kSmallRequest;
}

}  // namespace

Failure *Budget::take(uint64_t bytes) {
  std::lock_guard<std::mutex> guard(mutex_);
  if (limit_ != 0 && (bytes > limit_ || held_ > limit_ - bytes)) {
    return fail(DA_STATUS_OUT_OF_MEMORY, "memory.allocate",
                "the memory limit of " + std::to_string(limit_) + " bytes would be passed");
  }
  held_ += bytes;
  return nullptr;
}

void Budget::give_back(uint64_t bytes) {
  std::lock_guard<std::mutex> guard(mutex_);
  held_ -= bytes;
}

uint64_t Budget::limit() {
  std::lock_guard<std::mutex> guard(mutex_);
  return limit_;
}

void Budget::set_limit(uint64_t bytes) {
  std::lock_guard<std::mutex> guard(mutex_);
  limit_ = bytes;
}

bool Allocator::ByFit::operator()(const Block *a, const Block *b) const {
  return std::make_tuple(a->stream, a->bytes, a->chunk, a->offset) <
         std::make_tuple(b->stream, b->bytes, b->chunk, b->offset);
}

Failure *Allocator::allocate(uint64_t bytes, Stream *stream, Block **out_block) {
  device_->deferred.reap();
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

Block *Allocator::take_cached(uint64_t bytes, Stream *stream, bool any) {
  Block probe{nullptr, 0, bytes, stream, nullptr, nullptr, true};
  for (auto it = free_.lower_bound(&probe); it != free_.end() && (*it)->stream == stream; ++it) {
    // A small request must not pin a large chunk, nor a medium one a huge chunk that it barely fills.
    if (!any && bytes <= kSmallRequest && !is_small((*it)->chunk)) continue;
    if (!any && bytes > kSmallRequest && (*it)->chunk->bytes > kLargeChunk && (*it)->bytes / 4 > bytes) break;
    Block *block = *it;
    free_.erase(it);
    return give_out(block, bytes);
  }
  return nullptr;
}

Block *Allocator::give_out(Block *block, uint64_t bytes) {
  cut(block, bytes);
  statistics_.used += block->bytes;
  statistics_.peak_used = std::max(statistics_.peak_used, statistics_.used);
  return block;
}

void Allocator::cut(Block *block, uint64_t bytes) {
  block->free = false;
  const uint64_t remainder = block->bytes - bytes;
  if (direct_ || !worth_cutting(block->chunk, remainder, granularity_)) return;
  Block *rest = new Block{block->chunk, block->offset + bytes, remainder, block->stream,
                          block,        block->next,           true,      block->freed};
  if (block->next != nullptr) block->next->previous = rest;
  block->next = rest;
  block->bytes = bytes;
  free_.insert(rest);
}

Failure *Allocator::take_chunk(uint64_t bytes, Chunk **out_chunk) {
  const Tables &tables = device_->tables();
  void *handle = nullptr;
  bool plain = false;
  Failure *failure =
      translate(device_->errors(), tables.memory->allocate(device_->handle(), kind_, bytes, &handle),
                "memory.allocate");
  if (failure != nullptr && kind_ == DA_MEMORY_PINNED && failure->code == DA_STATUS_UNIMPLEMENTED) {
    plain = true;
    handle = std::malloc(bytes);
    delete failure;
    failure = handle != nullptr
                  ? nullptr
                  : fail(DA_STATUS_OUT_OF_MEMORY, "memory.allocate", "the host has no memory left");
  }
  if (failure == nullptr && handle == nullptr) {
    failure = fail(kMalformed, "memory.allocate", "the plugin reported success and gave no handle");
  }
  if (failure == nullptr) *out_chunk = new Chunk{handle, bytes, plain};
  return failure;
}

Failure *Allocator::free_chunk(Chunk *chunk) {
  Failure *failure = nullptr;
  if (chunk->plain) {
    std::free(chunk->handle);
  } else {
    failure =
        translate(device_->errors(), device_->tables().memory->free(device_->handle(), kind_, chunk->handle),
                  "memory.free");
  }
  if (budget_ != nullptr) budget_->give_back(chunk->bytes);
  std::lock_guard<std::mutex> guard(mutex_);
  statistics_.reserved -= chunk->bytes;
  ++statistics_.plugin_frees;
  delete chunk;
  return failure;
}

Failure *Allocator::grow(uint64_t bytes, Stream *stream, Block **out_block) {
  Failure *failure = nullptr;
  // A chunk with room to spare first; when that does not fit, exactly what is needed.
  for (uint64_t size : {direct_ ? bytes : chunk_size(bytes), bytes}) {
    delete failure;
    failure = budget_ != nullptr ? budget_->take(size) : nullptr;
    if (failure != nullptr) continue;
    Chunk *chunk = nullptr;
    failure = take_chunk(size, &chunk);
    if (failure != nullptr) {
      if (budget_ != nullptr) budget_->give_back(size);
      if (failure->code != DA_STATUS_OUT_OF_MEMORY) return failure;
      continue;
    }
    std::lock_guard<std::mutex> guard(mutex_);
    ++statistics_.plugin_allocations;
    statistics_.reserved += size;
    statistics_.peak_reserved = std::max(statistics_.peak_reserved, statistics_.reserved);
    Block *block = new Block{chunk, 0, size, stream, nullptr, nullptr, false};
    firsts_.insert(block);
    *out_block = give_out(block, bytes);
    return nullptr;
  }
  return failure;
}

void Allocator::free(Block *block, const std::vector<Stream *> *uses) {
  std::vector<Stream *> busy;
  if (uses != nullptr) busy = *uses;
  // A cached block is used again behind the work of its own stream; one that leaves must wait for it.
  if (is_direct(block) && block->stream != nullptr) busy.push_back(block->stream);
  if (busy.empty()) return free_now(block);
  device_->deferred.add(std::move(busy), [this, block] { free_now(block); });
}

bool Allocator::is_direct(const Block *block) const { return direct_ && !of_graph(*block); }

void Allocator::free_now(Block *block) {
  if (is_direct(block)) {
    Chunk *chunk = block->chunk;
    if (chunk == nullptr) return;
    {
      std::lock_guard<std::mutex> guard(mutex_);
      firsts_.erase(block);
      statistics_.used -= block->bytes;
    }
    delete block;
    if (device_->usable()) device_->keep(free_chunk(chunk));
    return;
  }
  std::lock_guard<std::mutex> guard(mutex_);
  if (block->chunk == nullptr) return;  // its chunk went with the device
  statistics_.used -= block->bytes;
  block->exposed = false;
  block->freed = ++frees_;
  join(block);
}

void Allocator::join(Block *block) {
  block->free = true;
  for (Block *other : {block->previous, block->next}) {
    if (other == nullptr || !other->free || other->stream != block->stream) continue;
    free_.erase(other);
    block->bytes += other->bytes;
    block->freed = std::max(block->freed, other->freed);
    if (other == block->previous) {
      block->offset = other->offset;
      block->previous = other->previous;
      if (block->previous != nullptr) block->previous->next = block;
      if (firsts_.erase(other) != 0) firsts_.insert(block);
    } else {
      block->next = other->next;
      if (block->next != nullptr) block->next->previous = block;
    }
    delete other;
  }
  free_.insert(block);
}

uint64_t Allocator::free_count() {
  std::lock_guard<std::mutex> guard(mutex_);
  return frees_;
}

Failure *Allocator::release_cached(uint64_t idle, uint64_t *out_bytes) {
  return release_if([idle](const Block &block) { return block.freed <= idle && !of_graph(block); },
                    out_bytes);
}

Failure *Allocator::release_stream(const Stream *stream) {
  uint64_t bytes = 0;
  return release_if([stream](const Block &block) { return block.stream == stream; }, &bytes);
}

Failure *Allocator::release_if(const std::function<bool(const Block &)> &chosen, uint64_t *out_bytes) {
  std::vector<Chunk *> chunks;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    for (auto it = free_.begin(); it != free_.end();) {
      Block *block = *it;
      if (block->previous == nullptr && block->next == nullptr && chosen(*block)) {
        chunks.push_back(block->chunk);
        firsts_.erase(block);
        it = free_.erase(it);
        delete block;
      } else {
        ++it;
      }
    }
  }
  Failure *first = nullptr;
  for (Chunk *chunk : chunks) {
    *out_bytes += chunk->bytes;
    Failure *failure = free_chunk(chunk);
    if (first == nullptr) {
      first = failure;
    } else {
      delete failure;
    }
  }
  return first;
}

void Allocator::release_all() {
  std::vector<Chunk *> chunks;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    for (auto it = firsts_.begin(); it != firsts_.end();) {
      bool exposed = false;
      for (const Block *block = *it; block != nullptr; block = block->next)
        exposed |= !block->free && block->exposed;
      if (exposed) {
        ++it;
        continue;
      }
      chunks.push_back((*it)->chunk);
      for (Block *block = *it; block != nullptr; block = block->next) {
        if (block->free) free_.erase(block);
        block->chunk = nullptr;
      }
      it = firsts_.erase(it);
    }
  }
  for (Chunk *chunk : chunks) device_->keep(free_chunk(chunk));
}

std::vector<const void *> Allocator::held() {
  std::lock_guard<std::mutex> guard(mutex_);
  std::vector<const void *> handles;
  for (const Block *block : firsts_) {
    if (!block->chunk->plain) handles.push_back(block->chunk->handle);
  }
  return handles;
}

void Allocator::hand_over(uint64_t idle, Stream *stream, uint64_t bytes) {
  std::lock_guard<std::mutex> guard(mutex_);
  std::vector<Block *> moved;
  for (Block *block : free_) {
    if (block->stream != stream && block->freed <= idle && !of_graph(*block)) moved.push_back(block);
  }
  if (stream != nullptr && stream->reserved) {
    const auto best = std::min_element(moved.begin(), moved.end(), [bytes](const Block *a, const Block *b) {
      return std::make_tuple(a->bytes < bytes, a->bytes) < std::make_tuple(b->bytes < bytes, b->bytes);
    });
    if (best == moved.end() || (*best)->bytes < bytes) return;
    moved = {*best};
    free_.erase(moved[0]);
    cut(moved[0], bytes);
  }
  for (Block *block : moved) {
    free_.erase(block);
    block->free = false;  // so that no neighbour joins it before its turn
    block->stream = stream;
  }
  for (Block *block : moved) join(block);
}

std::vector<BlockView> Allocator::blocks() {
  std::lock_guard<std::mutex> guard(mutex_);
  std::vector<BlockView> all;
  for (const Block *block : firsts_) {
    for (; block != nullptr; block = block->next) {
      all.push_back(BlockView{block, block->chunk, block->offset, block->bytes, block->free,
                              block->stream == nullptr ? 0 : block->stream->number});
    }
  }
  return all;
}

AllocatorStatistics Allocator::statistics() {
  std::lock_guard<std::mutex> guard(mutex_);
  return statistics_;
}

void Allocator::reset_peak() {
  std::lock_guard<std::mutex> guard(mutex_);
  statistics_.peak_used = statistics_.used;
  statistics_.peak_reserved = statistics_.reserved;
}

void Allocator::count_retry() {
  std::lock_guard<std::mutex> guard(mutex_);
  ++statistics_.retries;
}

}  // namespace device_api
