// Storages over memory that somebody else owns, and has back when no tensor and no queued work uses it.
#ifndef DEVICE_API_CORE_EXTERNAL_HPP
#define DEVICE_API_CORE_EXTERNAL_HPP

#include "device.hpp"

namespace device_api {

struct External {
  Device *device;
  void *handle;
  bool wrapped;  // the plugin made the handle
  void (*release)(void *owner);
  void *owner;
};

inline void end_external(const External &held) {
  Device *device = held.device;
  if (held.wrapped && device->usable()) {
    device->keep(translate(device->errors(), device->tables().memory->unwrap(device->handle(), held.handle),
                           "memory.unwrap"));
  }
  held.release(held.owner);
}

inline void release_external(void *owner, std::vector<Stream *> *uses) {
  External *memory = static_cast<External *>(owner);
  const External held = *memory;
  held.device->externals.erase(memory);
  delete memory;
  // In a forked child the memory is a copy whose owner lives elsewhere.
  if (held.device->forked()) return;
  if (uses == nullptr || uses->empty() || !held.device->usable()) return end_external(held);
  held.device->deferred.add(*uses, [held] { end_external(held); });
}

// Where the plugin makes no handles and memory is the host's, a handle is the address. Without the host lock.
inline Failure *wrap_memory(Device *device, void *address, uint64_t bytes, External *out) {
  const Tables &tables = device->tables();
  out->device = device;
  out->handle = address;
  out->wrapped = tables.memory->wrap != nullptr && tables.memory->unwrap != nullptr;
  if (out->wrapped) {
    return translate(device->errors(), tables.memory->wrap(device->handle(), address, bytes, &out->handle),
                     "memory.wrap");
  }
  return device->host_visible()
             ? nullptr
             : fail(DA_STATUS_UNIMPLEMENTED, "memory.wrap", "the plugin takes no memory of others");
}

// One reference. Host lock.
inline Storage *adopt_wrapped(const External &memory, uint64_t bytes) {
  External *held = new External(memory);
  if (held->wrapped) held->device->externals.insert(held);
  return memory.device->pool.adopt_external(memory.handle, 0, bytes, release_external, held);
}

}  // namespace device_api

#endif
