// Allocation, the checks of every use of a handle, and the marks around the edges of a block.
#include "blocks.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "device.hpp"
#include "device_api/memory.h"
#include "error.hpp"

namespace simulated {
namespace {

constexpr int kPoison = 0xFF;          // NaN in every floating type, and no bool
constexpr unsigned char kEdge = 0xA5;  // between a block and its guard pages

const char *kind_name(int32_t kind) {
  switch (kind) {
    case DA_MEMORY_DEVICE:
      return "device";
    case DA_MEMORY_PINNED:
      return "pinned";
    default:
      return "managed";
  }
}

std::string words_for(const void *handle) {
  std::ostringstream text;
  text << "handle " << handle;
  return text.str();
}

std::string describe(const Block &block) {
  return words_for(block.range.handle) + " (" + std::to_string(block.bytes) + " bytes of " +
         (block.wrapped ? "wrapped" : kind_name(block.kind)) + " memory of " + block.device->name + ")";
}

uint64_t touched(const char *begin, const char *end) {
  return static_cast<uint64_t>(
      std::count_if(begin, end, [](char byte) { return static_cast<unsigned char>(byte) != kEdge; }));
}

void check_range(const Block &block, uint64_t offset, uint64_t bytes, const std::string &what) {
  if (offset <= block.bytes && bytes <= block.bytes - offset) return;
  throw Failure(DA_STATUS_OUT_OF_RANGE, what + ": bytes " + std::to_string(offset) + " to " +
                                            std::to_string(offset + bytes) + " do not lie in " +
                                            describe(block));
}

}  // namespace

void check_edges(const Block &block) {
  const Range &range = block.range;
  if (range.page_bytes == 0 || block.wrapped) return;
  const uint64_t before = touched(range.pages, block.memory);
  const uint64_t after = touched(block.memory + block.bytes, range.pages + range.page_bytes);
  if (before + after == 0) return;
  throw Failure(DA_STATUS_INTERNAL, describe(block) + " is freed, but something has written outside of it: " +
                                        std::to_string(before) + " bytes before its start, " +
                                        std::to_string(after) + " behind its end");
}

SharedBlock Blocks::allocate(const Device *device, int32_t kind, uint64_t bytes) {
  const Range range = space_.take(bytes, kind != DA_MEMORY_DEVICE);
  auto block = std::make_shared<Block>(space_, device, kind, bytes, range, range.alias, false);
  if (bytes != 0) {
    std::memset(range.pages, kEdge, range.page_bytes);
    std::memset(range.alias, kPoison, bytes);
  }
  std::lock_guard<std::mutex> lock(lock_);
  live_[reinterpret_cast<uintptr_t>(range.handle)] = block;
  return block;
}

SharedBlock Blocks::wrap(const Device *device, void *address, uint64_t bytes) {
  char *memory = static_cast<char *>(address);
  {
    // A handle of this plugin, come back through somebody else, means the bytes behind it.
    std::lock_guard<std::mutex> lock(lock_);
    const auto found = live_.find(reinterpret_cast<uintptr_t>(address));
    if (found != live_.end()) {
      check_range(*found->second, 0, bytes, "wrap");
      memory = found->second->memory;
    }
  }
  const Range range = space_.take_handle(bytes);
  auto block = std::make_shared<Block>(space_, device, DA_MEMORY_DEVICE, bytes, range, memory, true);
  std::lock_guard<std::mutex> lock(lock_);
  live_[reinterpret_cast<uintptr_t>(range.handle)] = block;
  return block;
}

SharedBlock Blocks::find(const Device *device, const void *handle, const std::string &what) {
  const auto found = live_.find(reinterpret_cast<uintptr_t>(handle));
  if (found == live_.end()) {
    const auto before = forgotten_.find(reinterpret_cast<uintptr_t>(handle));
    if (before != forgotten_.end()) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT, what + ": " + before->second + " was freed before");
    }
    throw Failure(
        DA_STATUS_INVALID_ARGUMENT,
        what + ": " + words_for(handle) +
            " is not one that `allocate` or `wrap` gave; places inside a block are handle + offset");
  }
  if (found->second->device != device) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT,
                  what + " on " + device->name + ": " + describe(*found->second) + " is another device's");
  }
  return found->second;
}

SharedBlock Blocks::forget(const Device *device, int32_t kind, void *handle, bool wrapped) {
  SharedBlock block;
  {
    std::lock_guard<std::mutex> lock(lock_);
    block = find(device, handle, wrapped ? "unwrap" : "free");
    if (block->wrapped != wrapped) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT,
                    describe(*block) + (wrapped ? " was allocated, not wrapped: free it"
                                                : " belongs to somebody else: unwrap it"));
    }
    if (!wrapped && block->kind != kind) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT,
                    describe(*block) + " is freed as " + kind_name(kind) + " memory");
    }
    live_.erase(reinterpret_cast<uintptr_t>(handle));
    forgotten_[reinterpret_cast<uintptr_t>(handle)] = describe(*block);
    block->gone = true;
  }
  return block;
}

Piece Blocks::device_piece(const Device *device, const void *handle, uint64_t offset, uint64_t bytes,
                           const std::string &what) {
  std::lock_guard<std::mutex> lock(lock_);
  const SharedBlock block = find(device, handle, what);
  if (block->kind == DA_MEMORY_PINNED) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT,
                  what + ": " + describe(*block) + " is not memory of the device");
  }
  check_range(*block, offset, bytes, what);
  return {block, block->memory + offset};
}

Piece Blocks::host_piece(const void *address, uint64_t offset, uint64_t bytes, const std::string &what) {
  char *first = static_cast<char *>(const_cast<void *>(address)) + offset;
  std::lock_guard<std::mutex> lock(lock_);
  auto found = live_.upper_bound(reinterpret_cast<uintptr_t>(first));
  if (found == live_.begin()) return {nullptr, first};
  --found;
  const SharedBlock &block = found->second;
  const uintptr_t inside = reinterpret_cast<uintptr_t>(first) - found->first;
  if (inside >= block->bytes) return {nullptr, first};
  if (block->kind == DA_MEMORY_DEVICE) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT, what + ": the host's side of the copy is " + describe(*block) +
                                                  ", which the host cannot touch");
  }
  check_range(*block, inside, bytes, what);
  return {block, first};
}

uint64_t Blocks::count(const Device *device) {
  std::lock_guard<std::mutex> lock(lock_);
  return static_cast<uint64_t>(std::count_if(live_.begin(), live_.end(), [&](const auto &entry) {
    return entry.second->device == device && !entry.second->wrapped;
  }));
}

}  // namespace simulated
