/* device_api/device.h: how many devices there are, what they are, and opening one. Mandatory.
 *
 * Device numbers run from 0 to count - 1 without gaps; a plugin with a sparse visible list maps them.
 */
#ifndef DEVICE_API_DEVICE_H
#define DEVICE_API_DEVICE_H

#include "device_api/base.h"

#define DA_DEVICE_INTERFACE "device_api.device"
#define DA_DEVICE_INTERFACE_VERSION 1

enum da_device_flag {
  DA_DEVICE_FLAG_NONE = 0,
  DA_DEVICE_HOST_VISIBLE =
      1, /* memory handles of kind DEVICE are host addresses the host may read and write */
  DA_DEVICE_DETERMINISTIC = 2, /* same inputs, same bits, run after run */
  DA_DEVICE_SYNCHRONOUS = 4    /* on every stream, work is done when the call returns */
};

/* Facts about one device. Text lives as long as the device. Unknown numbers stay 0. */
typedef struct da_device_properties {
  uint64_t struct_size;
  const void *extension;
  const char *name; /* product name */
  const char *driver_version;
  const char *runtime_version;
  uint64_t total_memory;         /* bytes */
  uint64_t allocation_alignment; /* bytes, a power of two; handles of kind DEVICE have at least this */
  uint64_t flags;                /* enum da_device_flag */
  uint64_t dtypes;   /* DA_DTYPE_BIT set: element types that memory may hold and kernels may claim */
  uint32_t max_rank; /* greatest tensor rank kernels take, 3 to DA_MAX_RANK; the host folds beyond it */
  uint32_t compute_units;
  int32_t dl_device_type; /* DLPack code; 12 where none exists */
  int32_t reserved;
} da_device_properties;

typedef struct da_device_interface {
  uint64_t struct_size;
  const void *extension;
  uint32_t version;
  uint32_t reserved;
  /* Number of devices; 0 is an answer, not an error.
   * [mandatory] [thread-safe] [order: none] [owner: none] [zero: ok] */
  da_error *(*count)(uint32_t *out_count);
  /* Opens device `index`; opening again gives the same handle.
   * [mandatory] [thread-safe] [order: host] [owner: plugin, until close] [zero: never] */
  da_error *(*open)(uint32_t index, da_device **out_device);
  /* Ends the use of a device; NULL does nothing. [mandatory] [sync: device] [order: host] [owner: none]
   * [zero: ok] */
  da_error *(*close)(da_device *device);
  /* Fills the properties; the caller has set struct_size.
   * [mandatory] [thread-safe] [order: none] [owner: the device] [zero: never] */
  da_error *(*properties)(da_device *device, da_device_properties *out_properties);
  /* Waits for all work of the device. NULL: the device is synchronous.
   * [optional] [thread-safe] [order: host] [owner: none] [zero: ok] */
  da_error *(*synchronize)(da_device *device);
} da_device_interface;

#endif
