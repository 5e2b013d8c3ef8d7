// Storages over blocks that are not of their device's own pool: pinned by an accelerator, or managed. Host
// lock.
#ifndef DEVICE_API_CORE_BORROWED_HPP
#define DEVICE_API_CORE_BORROWED_HPP

#include "device.hpp"

namespace device_api {

struct BlockOwner {
  Device *device;
  Allocator *allocator;
  Block *block;
};

// Work on it may still be queued when the last tensor goes: the block is free when its streams have passed.
inline void release_block(void *owner, std::vector<Stream *> *uses) {
  BlockOwner *held = static_cast<BlockOwner *>(owner);
  if (!held->device->forked()) held->allocator->free(held->block, uses);
  delete held;
}

inline Storage *adopt_block(Device *of, Device *device, Allocator *allocator, Block *block) {
  return of->pool.adopt_external(block->chunk->handle, block->offset, block->bytes, release_block,
                                 new BlockOwner{device, allocator, block});
}

// One reference to a storage of `host` over a block that `device` has pinned.
inline Storage *adopt_pinned(Device *host, Device *device, Block *block) {
  return adopt_block(host, device, &device->pinned, block);
}

// The same over a block that host and device both reach.
inline Storage *adopt_managed(Device *device, Block *block) {
  return adopt_block(device, device, &device->managed, block);
}

inline const BlockOwner *block_owner(const Storage *storage) {
  return storage->release_external == release_block ? static_cast<const BlockOwner *>(storage->owner)
                                                    : nullptr;
}

// The accelerator that has pinned it; nullptr for any other storage.
inline Device *pinned_by(const Storage *storage) {
  const BlockOwner *held = block_owner(storage);
  return held != nullptr && held->allocator == &held->device->pinned ? held->device : nullptr;
}

// Its address leaves the package, whoever's block it is.
inline void expose(Storage *storage) {
  const BlockOwner *held = block_owner(storage);
  Block *block = held != nullptr ? held->block : storage->block;
  if (block != nullptr) block->exposed = true;
}

inline bool is_managed(const Storage *storage) {
  const BlockOwner *held = block_owner(storage);
  return held != nullptr && held->allocator == &held->device->managed;
}

}  // namespace device_api

#endif
