/* device_api/random.h: raw random bits. Optional: the host composes them from integer kernels otherwise.
 *
 * The generator is Philox 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011).
 * Word i of a stream (seed, offset) is word i % 4 of the block with key (seed low, seed high) and counter
 * (block low, block high, 0, 0), where block = offset + i / 4. Bits are the same on every device.
 */
#ifndef DEVICE_API_RANDOM_H
#define DEVICE_API_RANDOM_H

#include "device_api/base.h"

#define DA_RANDOM_INTERFACE "device_api.random"
#define DA_RANDOM_INTERFACE_VERSION 1

typedef struct da_random_interface {
  uint64_t struct_size;
  const void *extension;
  uint32_t version;
  uint32_t reserved;
  /* Writes `count` 32-bit words of stream (seed, offset) to handle + byte_offset.
   * [mandatory] [thread-safe] [order: stream] [owner: none] [zero: ok] */
  da_error *(*bits)(da_device *device, da_stream *stream, uint64_t seed, uint64_t offset, void *handle,
                    uint64_t byte_offset, uint64_t count);
} da_random_interface;

#endif
