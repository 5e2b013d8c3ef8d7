/* device_api/host.h: the services a host lends to a plugin.
 *
 * Handed to `initialize`, valid until `shutdown` returns. Every function may be called from any thread
 * and never calls back into the plugin.
 */
#ifndef DEVICE_API_HOST_H
#define DEVICE_API_HOST_H

#include "device_api/base.h"

enum da_log_level {
  DA_LOG_INVALID = 0,
  DA_LOG_DEBUG = 1,
  DA_LOG_INFO = 2,
  DA_LOG_WARNING = 3,
  DA_LOG_ERROR = 4
};

typedef struct da_host {
  uint64_t struct_size;
  const void *extension;
  uint32_t abi_major;
  uint32_t abi_minor;
  void *context; /* first argument of every function below */
  /* Writes one line to the host's log. [mandatory] [thread-safe] [order: none] [owner: none] [zero: ok] */
  void (*log)(void *context, int32_t level, const char *message);
  /* Opens a span of the host's trace; returns its id. [optional] [thread-safe] [order: none] [owner: none]
   * [zero: ok] */
  uint64_t (*trace_begin)(void *context, const char *name);
  /* Closes a span. [optional] [thread-safe] [order: none] [owner: none] [zero: ok] */
  void (*trace_end)(void *context, uint64_t span);
  /* Reports a failure of work that was already accepted: the next host call that waits for `stream`
   * (NULL: for the device) raises it. [mandatory] [thread-safe] [order: none] [owner: none] [zero: ok] */
  void (*report_async_error)(void *context, da_device *device, da_stream *stream, int32_t code,
                             const char *message);
} da_host;

#endif
