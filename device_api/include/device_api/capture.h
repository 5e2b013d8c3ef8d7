/* device_api/capture.h: recording the work of a stream and replaying it as one launch. Optional.
 *
 * While a stream is captured its work is recorded, not run. The host keeps every block of memory that the
 * capture saw until the capture is destroyed.
 */
#ifndef DEVICE_API_CAPTURE_H
#define DEVICE_API_CAPTURE_H

#include "device_api/base.h"

#define DA_CAPTURE_INTERFACE "device_api.capture"
#define DA_CAPTURE_INTERFACE_VERSION 1

typedef struct da_capture da_capture;

typedef struct da_capture_interface {
  uint64_t struct_size;
  const void *extension;
  uint32_t version;
  uint32_t reserved;
  /* Starts to record. [mandatory] [sync: stream] [order: stream] [owner: none] [zero: never] */
  da_error *(*begin)(da_device *device, da_stream *stream);
  /* Ends the recording; after a failed capture the stream is usable again.
   * [mandatory] [sync: stream] [order: stream] [owner: host, until destroy] [zero: ok] */
  da_error *(*end)(da_device *device, da_stream *stream, da_capture **out_capture);
  /* 1 while the stream is captured. [mandatory] [thread-safe] [order: none] [owner: none] [zero: ok] */
  da_error *(*is_capturing)(da_device *device, da_stream *stream, int32_t *out_capturing);
  /* Replays on a stream. [mandatory] [sync: capture] [order: stream] [owner: none] [zero: ok] */
  da_error *(*replay)(da_capture *capture, da_stream *stream);
  /* Ends a capture; NULL does nothing. [mandatory] [sync: capture] [order: host] [owner: none] [zero: ok] */
  da_error *(*destroy)(da_capture *capture);
} da_capture_interface;

#endif
