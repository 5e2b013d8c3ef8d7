/* device_api/graph.h: passes over graphs, and sub-graphs compiled by the vendor. Optional.
 *
 * A graph crosses the border as bytes: an ONNX ModelProto whose nodes are of the ONNX domain or of the op
 * set's domain "device_api". Nodes are named by their position in the graph's topological order.
 */
#ifndef DEVICE_API_GRAPH_H
#define DEVICE_API_GRAPH_H

#include "device_api/base.h"
#include "device_api/kernel.h"

#define DA_GRAPH_INTERFACE "device_api.graph"
#define DA_GRAPH_INTERFACE_VERSION 1

typedef struct da_executable da_executable;

/* Bytes made by the plugin; the host calls `destroy` once. */
typedef struct da_bytes {
  uint64_t struct_size;
  const void *extension;
  const uint8_t *data;
  uint64_t size;
  void *owner;
  void (*destroy)(void *owner);
} da_bytes;

/* A pass of the vendor: a graph to an equivalent graph. */
typedef struct da_pass {
  uint64_t struct_size;
  const void *extension;
  const char *name;
  const char *description;
  int32_t priority; /* lower runs earlier */
  int32_t reserved;
  /* Rewrites; an unchanged graph may be returned as size 0.
   * [mandatory] [thread-safe] [order: host] [owner: host, through out_graph->destroy] [zero: never] */
  da_error *(*run)(da_device *device, const struct da_pass *pass, const uint8_t *graph, uint64_t graph_bytes,
                   da_bytes *out_graph);
} da_pass;

typedef struct da_pass_list {
  uint64_t struct_size;
  const void *extension;
  const da_pass *first;
  uint64_t count;
  uint64_t stride;
} da_pass_list;

/* A set of nodes that the vendor would compile as one. */
typedef struct da_claim {
  uint64_t struct_size;
  const void *extension;
  const uint64_t *nodes;
  uint64_t node_count;
  const char *reason; /* shown when placement is explained */
} da_claim;

typedef struct da_claim_list {
  uint64_t struct_size;
  const void *extension;
  const da_claim *first;
  uint64_t count;
  uint64_t stride;
  void *owner;
  void (*destroy)(void *owner);
} da_claim_list;

typedef struct da_graph_interface {
  uint64_t struct_size;
  const void *extension;
  uint32_t version;
  uint32_t reserved;
  /* The passes. [optional] [thread-safe] [order: none] [owner: plugin, for ever] [zero: ok] */
  da_error *(*passes)(da_device *device, da_pass_list *out_passes);
  /* Disjoint sets of nodes, each without a path that leaves it and comes back.
   * [optional] [thread-safe] [order: host] [owner: host, through out_claims->destroy] [zero: ok] */
  da_error *(*claim)(da_device *device, const uint8_t *graph, uint64_t graph_bytes,
                     da_claim_list *out_claims);
  /* Compiles a claimed sub-graph. [optional] [thread-safe] [order: host] [owner: host, until destroy] [zero:
   * never] */
  da_error *(*compile)(da_device *device, const uint8_t *graph, uint64_t graph_bytes,
                       da_executable **out_executable);
  /* Runs it; inputs and outputs in the order of the sub-graph.
   * [optional] [thread-safe] [order: stream] [owner: none] [zero: ok] */
  da_error *(*execute)(da_executable *executable, const da_kernel_context *context,
                       const da_tensor *const *inputs, uint32_t input_count, const da_tensor *const *outputs,
                       uint32_t output_count);
  /* Bytes that `deserialise` takes back on the same product and version.
   * [optional] [thread-safe] [order: host] [owner: host, through out_bytes->destroy] [zero: never] */
  da_error *(*serialise)(da_executable *executable, da_bytes *out_bytes);
  /* The reverse; FAILED_PRECONDITION when the bytes are of another version.
   * [optional] [thread-safe] [order: host] [owner: host, until destroy] [zero: never] */
  da_error *(*deserialise)(da_device *device, const uint8_t *bytes, uint64_t size,
                           da_executable **out_executable);
  /* Ends an executable; NULL does nothing. [optional] [thread-safe] [order: host] [owner: none] [zero: ok] */
  da_error *(*destroy)(da_executable *executable);
} da_graph_interface;

#endif
