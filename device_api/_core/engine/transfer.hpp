// Copies between host memory and a device, within a device, and between devices of one plugin.
//
// With a stream they are queued on it, else they are finished on return. Without the host lock.
#ifndef DEVICE_API_CORE_TRANSFER_HPP
#define DEVICE_API_CORE_TRANSFER_HPP

#include <cstdint>

#include "device.hpp"

namespace device_api {

struct Range {
  void *handle;
  uint64_t offset;
};

// The host's memory may be reused on return, unless `*out_waits`: then only once the stream was waited for.
Failure *write_to_device(Device *device, Stream *stream, Range destination, const void *source,
                         uint64_t bytes, bool *out_waits);
// The same from memory that lives, unchanged, until the stream has passed the copy.
Failure *write_from_pinned(Device *device, Stream *stream, Range destination, const void *source,
                           uint64_t bytes);
Failure *read_from_device(Device *device, Stream *stream, Range source, void *destination, uint64_t bytes);
Failure *copy_within(Device *device, Stream *stream, Range source, Range destination, uint64_t bytes);
// UNIMPLEMENTED where the devices have no way between them.
Failure *copy_from_peer(Device *device, Stream *stream, Device *peer, Range source, Range destination,
                        uint64_t bytes);

}  // namespace device_api

#endif
