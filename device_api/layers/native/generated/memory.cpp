// Written by `python -m device_api.layers.generate` from the headers; do not edit.
// clang-format off

#include "../interpose.hpp"

namespace device_api::layers {
namespace {

da_error *memory_allocate(Instance &self, da_device *device, int32_t kind, uint64_t bytes, void **out_handle) {
  MemoryAllocate arguments{{}, device, kind, bytes, out_handle};
  Call call(self, Slot::memory_allocate, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.memory.allocate(arguments.device, arguments.kind, arguments.bytes, arguments.out_handle);
  self.layer->after(call);
  return arguments.result;
}

da_error *memory_free(Instance &self, da_device *device, int32_t kind, void *handle) {
  MemoryFree arguments{{}, device, kind, handle};
  Call call(self, Slot::memory_free, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.memory.free(arguments.device, arguments.kind, arguments.handle);
  self.layer->after(call);
  return arguments.result;
}

da_error *memory_copy(Instance &self, da_device *device, da_stream *stream, const da_copy *copy) {
  MemoryCopy arguments{{}, device, stream, copy};
  Call call(self, Slot::memory_copy, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.memory.copy(arguments.device, arguments.stream, arguments.copy);
  self.layer->after(call);
  return arguments.result;
}

da_error *memory_set(Instance &self, da_device *device, da_stream *stream, void *handle, uint64_t offset, uint8_t value, uint64_t bytes) {
  MemorySet arguments{{}, device, stream, handle, offset, value, bytes};
  Call call(self, Slot::memory_set, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.memory.set(arguments.device, arguments.stream, arguments.handle, arguments.offset, arguments.value, arguments.bytes);
  self.layer->after(call);
  return arguments.result;
}

da_error *memory_info(Instance &self, da_device *device, uint64_t *out_free, uint64_t *out_total) {
  MemoryInfo arguments{{}, device, out_free, out_total};
  Call call(self, Slot::memory_info, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.memory.info(arguments.device, arguments.out_free, arguments.out_total);
  self.layer->after(call);
  return arguments.result;
}

da_error *memory_wrap(Instance &self, da_device *device, void *address, uint64_t bytes, void **out_handle) {
  MemoryWrap arguments{{}, device, address, bytes, out_handle};
  Call call(self, Slot::memory_wrap, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.memory.wrap(arguments.device, arguments.address, arguments.bytes, arguments.out_handle);
  self.layer->after(call);
  return arguments.result;
}

da_error *memory_unwrap(Instance &self, da_device *device, void *handle) {
  MemoryUnwrap arguments{{}, device, handle};
  Call call(self, Slot::memory_unwrap, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.memory.unwrap(arguments.device, arguments.handle);
  self.layer->after(call);
  return arguments.result;
}

template <size_t N>
struct Shims {
  static da_error *allocate(da_device *device, int32_t kind, uint64_t bytes, void **out_handle) { return memory_allocate(*instances[N], device, kind, bytes, out_handle); }
  static da_error *free(da_device *device, int32_t kind, void *handle) { return memory_free(*instances[N], device, kind, handle); }
  static da_error *copy(da_device *device, da_stream *stream, const da_copy *copy) { return memory_copy(*instances[N], device, stream, copy); }
  static da_error *set(da_device *device, da_stream *stream, void *handle, uint64_t offset, uint8_t value, uint64_t bytes) { return memory_set(*instances[N], device, stream, handle, offset, value, bytes); }
  static da_error *info(da_device *device, uint64_t *out_free, uint64_t *out_total) { return memory_info(*instances[N], device, out_free, out_total); }
  static da_error *wrap(da_device *device, void *address, uint64_t bytes, void **out_handle) { return memory_wrap(*instances[N], device, address, bytes, out_handle); }
  static da_error *unwrap(da_device *device, void *handle) { return memory_unwrap(*instances[N], device, handle); }
  static void fill(const da_memory_interface &below, da_memory_interface *above) {
    above->allocate = below.allocate == nullptr ? nullptr : allocate;
    above->free = below.free == nullptr ? nullptr : free;
    above->copy = below.copy == nullptr ? nullptr : copy;
    above->set = below.set == nullptr ? nullptr : set;
    above->info = below.info == nullptr ? nullptr : info;
    above->wrap = below.wrap == nullptr ? nullptr : wrap;
    above->unwrap = below.unwrap == nullptr ? nullptr : unwrap;
  }
};

}  // namespace

const void *interpose_memory(Instance &self, const void *table) {
  return interpose_table<Shims>(self, static_cast<const da_memory_interface *>(table), &self.below.memory, &self.above.memory);
}

}  // namespace device_api::layers
