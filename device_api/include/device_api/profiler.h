/* device_api/profiler.h: what the device did, and when. Optional.
 *
 * Times are nanoseconds of the host's monotonic clock; a plugin converts its own.
 */
#ifndef DEVICE_API_PROFILER_H
#define DEVICE_API_PROFILER_H

#include "device_api/base.h"

#define DA_PROFILER_INTERFACE "device_api.profiler"
#define DA_PROFILER_INTERFACE_VERSION 1

enum da_activity_kind {
  DA_ACTIVITY_INVALID = 0,
  DA_ACTIVITY_KERNEL = 1,
  DA_ACTIVITY_COPY = 2,
  DA_ACTIVITY_SET = 3,
  DA_ACTIVITY_COLLECTIVE = 4,
  DA_ACTIVITY_RUNTIME = 5, /* a call into the vendor's library */
  DA_ACTIVITY_VENDOR = 0x10000
};

/* One thing that took time. Text lives until `collect` returns. */
typedef struct da_activity {
  uint64_t struct_size;
  const void *extension;
  int32_t kind; /* enum da_activity_kind */
  int32_t reserved;
  const char *name;
  uint64_t start_ns;
  uint64_t end_ns;
  uint64_t stream;      /* any number that tells streams apart */
  uint64_t correlation; /* same number for a launch and the work it caused; 0: none */
  uint64_t bytes;       /* moved; 0: unknown */
} da_activity;

typedef struct da_profiler_interface {
  uint64_t struct_size;
  const void *extension;
  uint32_t version;
  uint32_t reserved;
  /* Starts to record. [mandatory] [sync: device] [order: host] [owner: none] [zero: never] */
  da_error *(*start)(da_device *device);
  /* Stops, after the device's queued work. [mandatory] [sync: device] [order: host] [owner: none] [zero: ok]
   */
  da_error *(*stop)(da_device *device);
  /* Gives every recorded activity to `sink`, oldest first, and forgets them.
   * [mandatory] [sync: device] [order: host] [owner: none] [zero: ok] */
  da_error *(*collect)(da_device *device, void (*sink)(void *user_data, const da_activity *activity),
                       void *user_data);
} da_profiler_interface;

#endif
