/* device_api/collective.h: communication between ranks. Optional.
 *
 * A communicator joins `rank_count` ranks, each with one device, in one or several processes. Calls on one
 * communicator are made in the same order on every rank. A wrong shape, dtype or order between ranks ends
 * in an error or a TIMEOUT on every rank, never in a hang. Ranks are not device numbers.
 */
#ifndef DEVICE_API_COLLECTIVE_H
#define DEVICE_API_COLLECTIVE_H

#include "device_api/base.h"

#define DA_COLLECTIVE_INTERFACE "device_api.collective"
#define DA_COLLECTIVE_INTERFACE_VERSION 1

#define DA_UNIQUE_ID_BYTES 128

typedef struct da_communicator da_communicator;

enum da_reduction {
  DA_REDUCTION_INVALID = 0,
  DA_REDUCE_SUM = 1,
  DA_REDUCE_PRODUCT = 2,
  DA_REDUCE_MIN = 3,
  DA_REDUCE_MAX = 4,
  DA_REDUCE_AVERAGE = 5
};

typedef struct da_unique_id {
  uint64_t struct_size;
  const void *extension;
  uint8_t bytes[DA_UNIQUE_ID_BYTES];
} da_unique_id;

/* Who takes part, and how long a call may take before it fails with TIMEOUT. */
typedef struct da_communicator_options {
  uint64_t struct_size;
  const void *extension;
  uint32_t rank;
  uint32_t rank_count;
  uint64_t timeout_ns; /* DA_WAIT_FOREVER: no limit */
  const da_unique_id *id;
} da_communicator_options;

typedef struct da_collective_interface {
  uint64_t struct_size;
  const void *extension;
  uint32_t version;
  uint32_t reserved;
  /* Makes the id that one rank hands to the others. [mandatory] [thread-safe] [order: host] [owner: none]
   * [zero: never] */
  da_error *(*unique_id)(da_unique_id *out_id);
  /* Joins; returns when every rank has joined, or fails.
   * [mandatory] [thread-safe] [order: host] [owner: host, until destroy] [zero: never] */
  da_error *(*create)(da_device *device, const da_communicator_options *options,
                      da_communicator **out_communicator);
  /* Leaves after all queued work; NULL does nothing. [mandatory] [sync: communicator] [order: host] [owner:
   * none] [zero: ok] */
  da_error *(*destroy)(da_communicator *communicator);
  /* Ends all queued work with ABORTED, from any thread, without waiting for other ranks.
   * [mandatory] [thread-safe] [order: host] [owner: none] [zero: never] */
  da_error *(*abort)(da_communicator *communicator);
  /* The first asynchronous failure, as an error; NULL when there was none.
   * [mandatory] [thread-safe] [order: none] [owner: none] [zero: never] */
  da_error *(*async_error)(da_communicator *communicator);
  /* Makes a communicator of the ranks that give the same color (< 0: none), ordered by key.
   * [optional] [sync: communicator] [order: host] [owner: host, until destroy] [zero: never] */
  da_error *(*split)(da_communicator *communicator, int32_t color, int32_t key,
                     da_communicator **out_communicator);

  /* Tensors are contiguous; input and output may be the same memory where the shapes agree.
   * out = reduction over ranks of in. [mandatory] [sync: communicator] [order: stream] [owner: none] [zero:
   * ok] */
  da_error *(*all_reduce)(da_communicator *communicator, da_stream *stream, const da_tensor *input,
                          const da_tensor *output, int32_t reduction);
  /* The same, on `root` only; output is NULL elsewhere. [optional] [sync: communicator] [order: stream]
   * [owner: none] [zero: ok] */
  da_error *(*reduce)(da_communicator *communicator, da_stream *stream, const da_tensor *input,
                      const da_tensor *output, int32_t reduction, uint32_t root);
  /* out = root's in, everywhere. [mandatory] [sync: communicator] [order: stream] [owner: none] [zero: ok] */
  da_error *(*broadcast)(da_communicator *communicator, da_stream *stream, const da_tensor *input,
                         const da_tensor *output, uint32_t root);
  /* outputs[r] = rank r's in; sizes may differ. [optional] [sync: communicator] [order: stream] [owner: none]
   * [zero: ok] */
  da_error *(*all_gather)(da_communicator *communicator, da_stream *stream, const da_tensor *input,
                          const da_tensor *const *outputs);
  /* out = reduction over ranks of their inputs[own rank]. [optional] [sync: communicator] [order: stream]
   * [owner: none] [zero: ok] */
  da_error *(*reduce_scatter)(da_communicator *communicator, da_stream *stream,
                              const da_tensor *const *inputs, const da_tensor *output, int32_t reduction);
  /* outputs[r] = rank r's inputs[own rank]. [optional] [sync: communicator] [order: stream] [owner: none]
   * [zero: ok] */
  da_error *(*all_to_all)(da_communicator *communicator, da_stream *stream, const da_tensor *const *inputs,
                          const da_tensor *const *outputs);
  /* outputs[r] = rank r's in, on root. [optional] [sync: communicator] [order: stream] [owner: none] [zero:
   * ok] */
  da_error *(*gather)(da_communicator *communicator, da_stream *stream, const da_tensor *input,
                      const da_tensor *const *outputs, uint32_t root);
  /* out = root's inputs[own rank]. [optional] [sync: communicator] [order: stream] [owner: none] [zero: ok]
   */
  da_error *(*scatter)(da_communicator *communicator, da_stream *stream, const da_tensor *const *inputs,
                       const da_tensor *output, uint32_t root);
  /* Sends to one rank. [mandatory] [sync: communicator] [order: stream] [owner: none] [zero: ok] */
  da_error *(*send)(da_communicator *communicator, da_stream *stream, const da_tensor *input, uint32_t peer);
  /* Receives from one rank. [mandatory] [sync: communicator] [order: stream] [owner: none] [zero: ok] */
  da_error *(*receive)(da_communicator *communicator, da_stream *stream, const da_tensor *output,
                       uint32_t peer);
  /* No rank passes before every rank has come. [optional] [sync: communicator] [order: stream] [owner: none]
   * [zero: ok] */
  da_error *(*barrier)(da_communicator *communicator, da_stream *stream);
  /* Calls until group_end progress together, so that rings of send and receive cannot block.
   * [mandatory] [sync: communicator] [order: host] [owner: none] [zero: ok] */
  da_error *(*group_start)(da_communicator *communicator);
  /* Starts the group. [mandatory] [sync: communicator] [order: stream] [owner: none] [zero: ok] */
  da_error *(*group_end)(da_communicator *communicator);
} da_collective_interface;

#endif
