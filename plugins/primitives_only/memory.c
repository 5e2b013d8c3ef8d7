/* The memory interface: host memory. A handle is an address, but only this plugin may know that. */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "interfaces.h"

static da_error *memory_allocate(da_device *device, int32_t kind, uint64_t bytes, void **out_handle) {
  (void)device;
  if (kind != DA_MEMORY_DEVICE) {
    return make_error(DA_STATUS_UNIMPLEMENTED, "memory of kind %d: only device memory exists here",
                      (int)kind);
  }
  /* Zero bytes give a handle that may be freed. */
  void *handle = bytes > DEVICE_MEMORY_BYTES ? NULL : malloc(bytes > 0 ? (size_t)bytes : 1);
  if (handle == NULL) {
    return make_error(DA_STATUS_OUT_OF_MEMORY, "cannot allocate %llu bytes", (unsigned long long)bytes);
  }
  *out_handle = handle;
  return NULL;
}

static da_error *memory_free(da_device *device, int32_t kind, void *handle) {
  (void)device;
  (void)kind;
  free(handle);
  return NULL;
}

static da_error *memory_copy(da_device *device, da_stream *stream, const da_copy *copy) {
  (void)device;
  (void)stream;
  if (copy->kind < DA_COPY_HOST_TO_DEVICE || copy->kind > DA_COPY_PEER) {
    return make_error(DA_STATUS_INVALID_ARGUMENT, "%d is no kind of copy", (int)copy->kind);
  }
  if (copy->bytes == 0) {
    return NULL;
  }
  if (copy->destination == NULL || copy->source == NULL) {
    return make_error(DA_STATUS_INVALID_ARGUMENT, "a copy of %llu bytes with a NULL handle",
                      (unsigned long long)copy->bytes);
  }
  memmove((char *)copy->destination + copy->destination_offset,
          (const char *)copy->source + copy->source_offset, (size_t)copy->bytes);
  return NULL;
}

static da_error *memory_set(da_device *device, da_stream *stream, void *handle, uint64_t offset,
                            uint8_t value, uint64_t bytes) {
  (void)device;
  (void)stream;
  if (bytes > 0) {
    memset((char *)handle + offset, value, (size_t)bytes);
  }
  return NULL;
}

static da_error *memory_wrap(da_device *device, void *address, uint64_t bytes, void **out_handle) {
  (void)device;
  (void)bytes;
  *out_handle = address;
  return NULL;
}

static da_error *memory_unwrap(da_device *device, void *handle) {
  (void)device;
  (void)handle;
  return NULL;
}

const da_memory_interface memory_interface = {
    sizeof(da_memory_interface),
    NULL,
    DA_MEMORY_INTERFACE_VERSION,
    0,
    memory_allocate,
    memory_free,
    memory_copy,
    memory_set,
    NULL, /* info: the host counts from total_memory */
    memory_wrap,
    memory_unwrap,
};
