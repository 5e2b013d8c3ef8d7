/* device_api/stream.h: streams of ordered work, and events between them. Optional as a whole: a plugin
 * without it is synchronous, and every call is finished when it returns.
 *
 * Work on one stream runs in order. Nothing else is ordered, except through events. A stream that has
 * failed fails those that wait for it, with the first cause.
 */
#ifndef DEVICE_API_STREAM_H
#define DEVICE_API_STREAM_H

#include "device_api/base.h"

#define DA_STREAM_INTERFACE "device_api.stream"
#define DA_STREAM_INTERFACE_VERSION 1

#define DA_WAIT_FOREVER UINT64_MAX

enum da_event_flag {
  DA_EVENT_FLAG_NONE = 0,
  DA_EVENT_TIMING = 1 /* elapsed() will be asked */
};

/* A host function run in stream order, on any thread, exactly once; it must not block. `destroy` (may be
 * NULL) is called once when `function` can no longer run. */
typedef struct da_callback {
  uint64_t struct_size;
  const void *extension;
  void (*function)(void *user_data, int32_t status);
  void *user_data;
  void (*destroy)(void *user_data);
} da_callback;

typedef struct da_stream_interface {
  uint64_t struct_size;
  const void *extension;
  uint32_t version;
  uint32_t reserved;
  /* Makes a stream; a lower `priority` number runs earlier, 0 is normal. Never returns a default stream.
   * [mandatory] [thread-safe] [order: host] [owner: host, until destroy] [zero: never] */
  da_error *(*create)(da_device *device, int32_t priority, da_stream **out_stream);
  /* Waits for the stream's work and ends it; NULL does nothing.
   * [mandatory] [sync: stream] [order: host] [owner: none] [zero: ok] */
  da_error *(*destroy)(da_device *device, da_stream *stream);
  /* Waits until all work is done; gives the stream's error, if one happened.
   * [mandatory] [thread-safe] [order: host] [owner: none] [zero: ok] */
  da_error *(*synchronize)(da_device *device, da_stream *stream);
  /* 1 when all work is done, 0 when not. [mandatory] [thread-safe] [order: none] [owner: none] [zero: ok] */
  da_error *(*query)(da_device *device, da_stream *stream, int32_t *out_done);
  /* Later work of `stream` waits for what `event` last recorded; never recorded: does nothing.
   * [mandatory] [thread-safe] [order: stream] [owner: none] [zero: ok] */
  da_error *(*wait_event)(da_device *device, da_stream *stream, da_event *event);
  /* Queues a host function. [optional] [thread-safe] [order: stream] [owner: plugin, until destroy] [zero:
   * never] */
  da_error *(*add_callback)(da_device *device, da_stream *stream, const da_callback *callback);
  /* Takes over nothing: makes a stream handle for a native stream of the vendor's library.
   * [optional] [thread-safe] [order: host] [owner: host, until destroy] [zero: never] */
  da_error *(*wrap)(da_device *device, void *native, da_stream **out_stream);

  /* Makes an event; flags: enum da_event_flag. [mandatory] [thread-safe] [order: host] [owner: host, until
   * event_destroy] [zero: never] */
  da_error *(*event_create)(da_device *device, uint64_t flags, da_event **out_event);
  /* Ends an event; NULL does nothing; work that waits for it still sees it.
   * [mandatory] [sync: event] [order: host] [owner: none] [zero: ok] */
  da_error *(*event_destroy)(da_device *device, da_event *event);
  /* Marks the present end of the stream; recording again moves the mark.
   * [mandatory] [sync: event] [order: stream] [owner: none] [zero: ok] */
  da_error *(*event_record)(da_device *device, da_event *event, da_stream *stream);
  /* 1 when reached or never recorded. [mandatory] [thread-safe] [order: none] [owner: none] [zero: ok] */
  da_error *(*event_query)(da_device *device, da_event *event, int32_t *out_done);
  /* Waits at most `timeout_ns` (0: only looks, DA_WAIT_FOREVER: for ever); TIMEOUT when not reached.
   * [mandatory] [thread-safe] [order: host] [owner: none] [zero: ok] */
  da_error *(*event_synchronize)(da_device *device, da_event *event, uint64_t timeout_ns);
  /* Nanoseconds between two reached events made with TIMING; FAILED_PRECONDITION otherwise.
   * [optional] [thread-safe] [order: none] [owner: none] [zero: ok] */
  da_error *(*event_elapsed)(da_device *device, da_event *start, da_event *end, double *out_nanoseconds);
} da_stream_interface;

#endif
