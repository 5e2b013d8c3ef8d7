/* device_api/memory.h: memory of a device, and copies. Mandatory.
 *
 * A handle is opaque: an address on a CPU or a GPU, an object elsewhere. Places inside it are handle +
 * byte offset. The host has a caching allocator above this interface: `allocate` is called rarely, with
 * large sizes.
 */
#ifndef DEVICE_API_MEMORY_H
#define DEVICE_API_MEMORY_H

#include "device_api/base.h"

#define DA_MEMORY_INTERFACE "device_api.memory"
#define DA_MEMORY_INTERFACE_VERSION 1

enum da_memory_kind {
  DA_MEMORY_INVALID = 0,
  DA_MEMORY_DEVICE = 1,
  DA_MEMORY_PINNED = 2, /* host address that copies reach fastest */
  DA_MEMORY_MANAGED = 3 /* one address for host and device */
};

enum da_copy_kind {
  DA_COPY_INVALID = 0,
  DA_COPY_HOST_TO_DEVICE = 1,
  DA_COPY_DEVICE_TO_HOST = 2,
  DA_COPY_DEVICE_TO_DEVICE = 3,
  DA_COPY_PEER = 4 /* between two devices of this plugin; `peer` is the source's device */
};

/* One copy. The host side of HOST_TO_DEVICE and DEVICE_TO_HOST is an ordinary address + offset. */
typedef struct da_copy {
  uint64_t struct_size;
  const void *extension;
  int32_t kind; /* enum da_copy_kind */
  int32_t reserved;
  void *destination;
  uint64_t destination_offset; /* bytes */
  const void *source;
  uint64_t source_offset; /* bytes */
  uint64_t bytes;
  da_device *peer; /* PEER only */
} da_copy;

typedef struct da_memory_interface {
  uint64_t struct_size;
  const void *extension;
  uint32_t version;
  uint32_t reserved;
  /* Allocates `bytes` of `kind` (enum da_memory_kind). Zero bytes give a handle that may be freed.
   * OUT_OF_MEMORY is a status; UNIMPLEMENTED for a kind the device lacks.
   * [mandatory] [thread-safe] [order: host] [owner: host, until free] [zero: ok] */
  da_error *(*allocate)(da_device *device, int32_t kind, uint64_t bytes, void **out_handle);
  /* Frees a handle; NULL does nothing. The host has made sure that no queued work uses it.
   * [mandatory] [thread-safe] [order: host] [owner: none] [zero: ok] */
  da_error *(*free)(da_device *device, int32_t kind, void *handle);
  /* Copies; overlapping ranges only where source and destination are the same range. With a NULL stream
   * the copy is done on return, after all work queued before it on the device.
   * [mandatory] [thread-safe] [order: stream] [owner: none] [zero: ok] */
  da_error *(*copy)(da_device *device, da_stream *stream, const da_copy *copy);
  /* Sets bytes. NULL: the host writes through `copy`.
   * [optional] [thread-safe] [order: stream] [owner: none] [zero: ok] */
  da_error *(*set)(da_device *device, da_stream *stream, void *handle, uint64_t offset, uint8_t value,
                   uint64_t bytes);
  /* Free and total bytes now. NULL: the host knows only properties.total_memory.
   * [optional] [thread-safe] [order: none] [owner: none] [zero: ok] */
  da_error *(*info)(da_device *device, uint64_t *out_free, uint64_t *out_total);
  /* Makes a handle for memory somebody else owns, at `address`; `unwrap` forgets it and frees nothing.
   * [optional] [thread-safe] [order: host] [owner: host, until unwrap] [zero: ok] */
  da_error *(*wrap)(da_device *device, void *address, uint64_t bytes, void **out_handle);
  /* Ends a wrap. [optional] [thread-safe] [order: host] [owner: none] [zero: ok] */
  da_error *(*unwrap)(da_device *device, void *handle);
} da_memory_interface;

#endif
