// Tensors of a host-visible device in memory that an accelerator has pinned.
#ifndef DEVICE_API_CORE_PINNED_HPP
#define DEVICE_API_CORE_PINNED_HPP

#include "device.hpp"

namespace device_api {

struct PinnedOwner {
  Device *device;
  Block *block;
};

// Copies may still be queued when the last tensor goes: the block is free when their streams have passed.
inline void release_pinned(void *owner, std::vector<Stream *> *uses) {
  PinnedOwner *held = static_cast<PinnedOwner *>(owner);
  held->device->pinned.free(held->block, uses);
  delete held;
}

// One reference to a storage of `host` over a pinned block of `device`.
inline Storage *adopt_pinned(Device *host, Device *device, Block *block) {
  return host->pool.adopt_external(block->chunk->handle, block->offset, block->bytes, release_pinned,
                                   new PinnedOwner{device, block});
}

// The accelerator behind such a storage; nullptr for any other.
inline Device *pinned_by(const Storage *storage) {
  if (storage->release_external != release_pinned) return nullptr;
  return static_cast<const PinnedOwner *>(storage->owner)->device;
}

}  // namespace device_api

#endif
