// Written by `python -m device_api.layers.generate` from the headers; do not edit.
// clang-format off
#ifndef DEVICE_API_LAYERS_SLOTS_HPP
#define DEVICE_API_LAYERS_SLOTS_HPP

#include <cstdint>

#include "device_api/device_api.h"

namespace device_api::layers {

struct KernelEntry;
struct PassEntry;
struct CustomOpEntry;

enum class Slot : uint32_t {
  capture_begin,
  capture_end,
  capture_is_capturing,
  capture_replay,
  capture_destroy,
  collective_unique_id,
  collective_create,
  collective_destroy,
  collective_abort,
  collective_async_error,
  collective_split,
  collective_all_reduce,
  collective_reduce,
  collective_broadcast,
  collective_all_gather,
  collective_reduce_scatter,
  collective_all_to_all,
  collective_gather,
  collective_scatter,
  collective_send,
  collective_receive,
  collective_barrier,
  collective_group_start,
  collective_group_end,
  custom_op_list,
  device_count,
  device_open,
  device_close,
  device_properties,
  device_synchronize,
  kernel_list,
  graph_passes,
  graph_claim,
  graph_compile,
  graph_execute,
  graph_serialise,
  graph_deserialise,
  graph_destroy,
  memory_allocate,
  memory_free,
  memory_copy,
  memory_set,
  memory_info,
  memory_wrap,
  memory_unwrap,
  profiler_start,
  profiler_stop,
  profiler_collect,
  random_bits,
  stream_create,
  stream_destroy,
  stream_synchronize,
  stream_query,
  stream_wait_event,
  stream_add_callback,
  stream_wrap,
  stream_event_create,
  stream_event_destroy,
  stream_event_record,
  stream_event_query,
  stream_event_synchronize,
  stream_event_elapsed,
  plugin_initialize,
  plugin_shutdown,
  plugin_get_interface,
  error_code,
  error_message,
  error_destroy,
  kernel_launch,
  kernel_prepare,
  kernel_release,
  kernel_supports,
  pass_run,
  custom_infer,
  host_log,
  host_trace_begin,
  host_trace_end,
  host_report_async_error,
  context_scratch,
};
constexpr uint32_t kSlots = 79;

struct SlotFacts {
  const char *name;
  const char *group;
  bool fallible;
};
constexpr SlotFacts kSlotFacts[kSlots] = {
    {"capture.begin", "capture", true},
    {"capture.end", "capture", true},
    {"capture.is_capturing", "capture", true},
    {"capture.replay", "capture", true},
    {"capture.destroy", "capture", true},
    {"collective.unique_id", "collective", true},
    {"collective.create", "collective", true},
    {"collective.destroy", "collective", true},
    {"collective.abort", "collective", true},
    {"collective.async_error", "collective", true},
    {"collective.split", "collective", true},
    {"collective.all_reduce", "collective", true},
    {"collective.reduce", "collective", true},
    {"collective.broadcast", "collective", true},
    {"collective.all_gather", "collective", true},
    {"collective.reduce_scatter", "collective", true},
    {"collective.all_to_all", "collective", true},
    {"collective.gather", "collective", true},
    {"collective.scatter", "collective", true},
    {"collective.send", "collective", true},
    {"collective.receive", "collective", true},
    {"collective.barrier", "collective", true},
    {"collective.group_start", "collective", true},
    {"collective.group_end", "collective", true},
    {"custom_op.list", "custom_op", true},
    {"device.count", "device", true},
    {"device.open", "device", true},
    {"device.close", "device", true},
    {"device.properties", "device", true},
    {"device.synchronize", "device", true},
    {"kernel.list", "kernel", true},
    {"graph.passes", "graph", true},
    {"graph.claim", "graph", true},
    {"graph.compile", "graph", true},
    {"graph.execute", "graph", true},
    {"graph.serialise", "graph", true},
    {"graph.deserialise", "graph", true},
    {"graph.destroy", "graph", true},
    {"memory.allocate", "memory", true},
    {"memory.free", "memory", true},
    {"memory.copy", "memory", true},
    {"memory.set", "memory", true},
    {"memory.info", "memory", true},
    {"memory.wrap", "memory", true},
    {"memory.unwrap", "memory", true},
    {"profiler.start", "profiler", true},
    {"profiler.stop", "profiler", true},
    {"profiler.collect", "profiler", true},
    {"random.bits", "random", true},
    {"stream.create", "stream", true},
    {"stream.destroy", "stream", true},
    {"stream.synchronize", "stream", true},
    {"stream.query", "stream", true},
    {"stream.wait_event", "stream", true},
    {"stream.add_callback", "stream", true},
    {"stream.wrap", "stream", true},
    {"stream.event_create", "stream", true},
    {"stream.event_destroy", "stream", true},
    {"stream.event_record", "stream", true},
    {"stream.event_query", "stream", true},
    {"stream.event_synchronize", "stream", true},
    {"stream.event_elapsed", "stream", true},
    {"plugin.initialize", "plugin", true},
    {"plugin.shutdown", "plugin", true},
    {"plugin.get_interface", "plugin", false},
    {"error.code", "error", false},
    {"error.message", "error", false},
    {"error.destroy", "error", false},
    {"kernel.launch", "kernel", true},
    {"kernel.prepare", "kernel", true},
    {"kernel.release", "kernel", false},
    {"kernel.supports", "kernel", true},
    {"pass.run", "pass", true},
    {"custom.infer", "custom", true},
    {"host.log", "host", false},
    {"host.trace_begin", "host", false},
    {"host.trace_end", "host", false},
    {"host.report_async_error", "host", false},
    {"context.scratch", "context", true},
};

// The tables of one plugin or of one layer, each of full size.
struct InterfaceTables {
  da_capture_interface capture;
  da_collective_interface collective;
  da_custom_op_interface custom_op;
  da_device_interface device;
  da_kernel_interface kernel;
  da_graph_interface graph;
  da_memory_interface memory;
  da_profiler_interface profiler;
  da_random_interface random;
  da_stream_interface stream;
};

struct CaptureBegin {
  static constexpr Slot slot = Slot::capture_begin;
  da_error *result{};
  da_device *device;
  da_stream *stream;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return stream; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("stream", stream);
  }
};

struct CaptureEnd {
  static constexpr Slot slot = Slot::capture_end;
  da_error *result{};
  da_device *device;
  da_stream *stream;
  da_capture **out_capture;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return stream; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("stream", stream);
    visit.out("out_capture", out_capture);
  }
};

struct CaptureIsCapturing {
  static constexpr Slot slot = Slot::capture_is_capturing;
  da_error *result{};
  da_device *device;
  da_stream *stream;
  int32_t *out_capturing;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("stream", stream);
    visit.out("out_capturing", out_capturing);
  }
};

struct CaptureReplay {
  static constexpr Slot slot = Slot::capture_replay;
  da_error *result{};
  da_capture *capture;
  da_stream *stream;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return capture; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("capture", capture);
    visit.handle("stream", stream);
  }
};

struct CaptureDestroy {
  static constexpr Slot slot = Slot::capture_destroy;
  da_error *result{};
  da_capture *capture;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return capture; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("capture", capture);
  }
};

struct CollectiveUniqueId {
  static constexpr Slot slot = Slot::collective_unique_id;
  da_error *result{};
  da_unique_id *out_id;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.out("out_id", out_id);
  }
};

struct CollectiveCreate {
  static constexpr Slot slot = Slot::collective_create;
  da_error *result{};
  da_device *device;
  const da_communicator_options *options;
  da_communicator **out_communicator;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.structure("options", options);
    visit.out("out_communicator", out_communicator);
  }
};

struct CollectiveDestroy {
  static constexpr Slot slot = Slot::collective_destroy;
  da_error *result{};
  da_communicator *communicator;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
  }
};

struct CollectiveAbort {
  static constexpr Slot slot = Slot::collective_abort;
  da_error *result{};
  da_communicator *communicator;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
  }
};

struct CollectiveAsyncError {
  static constexpr Slot slot = Slot::collective_async_error;
  da_error *result{};
  da_communicator *communicator;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
  }
};

struct CollectiveSplit {
  static constexpr Slot slot = Slot::collective_split;
  da_error *result{};
  da_communicator *communicator;
  int32_t color;
  int32_t key;
  da_communicator **out_communicator;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
    visit.number("color", color);
    visit.number("key", key);
    visit.out("out_communicator", out_communicator);
  }
};

struct CollectiveAllReduce {
  static constexpr Slot slot = Slot::collective_all_reduce;
  da_error *result{};
  da_communicator *communicator;
  da_stream *stream;
  const da_tensor *input;
  const da_tensor *output;
  int32_t reduction;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
    visit.handle("stream", stream);
    visit.tensor("input", input);
    visit.tensor("output", output);
    visit.number("reduction", reduction);
  }
};

struct CollectiveReduce {
  static constexpr Slot slot = Slot::collective_reduce;
  da_error *result{};
  da_communicator *communicator;
  da_stream *stream;
  const da_tensor *input;
  const da_tensor *output;
  int32_t reduction;
  uint32_t root;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
    visit.handle("stream", stream);
    visit.tensor("input", input);
    visit.tensor("output", output);
    visit.number("reduction", reduction);
    visit.number("root", root);
  }
};

struct CollectiveBroadcast {
  static constexpr Slot slot = Slot::collective_broadcast;
  da_error *result{};
  da_communicator *communicator;
  da_stream *stream;
  const da_tensor *input;
  const da_tensor *output;
  uint32_t root;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
    visit.handle("stream", stream);
    visit.tensor("input", input);
    visit.tensor("output", output);
    visit.number("root", root);
  }
};

struct CollectiveAllGather {
  static constexpr Slot slot = Slot::collective_all_gather;
  da_error *result{};
  da_communicator *communicator;
  da_stream *stream;
  const da_tensor *input;
  const da_tensor *const *outputs;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
    visit.handle("stream", stream);
    visit.tensor("input", input);
    visit.tensors("outputs", outputs, 0);
  }
};

struct CollectiveReduceScatter {
  static constexpr Slot slot = Slot::collective_reduce_scatter;
  da_error *result{};
  da_communicator *communicator;
  da_stream *stream;
  const da_tensor *const *inputs;
  const da_tensor *output;
  int32_t reduction;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
    visit.handle("stream", stream);
    visit.tensors("inputs", inputs, 0);
    visit.tensor("output", output);
    visit.number("reduction", reduction);
  }
};

struct CollectiveAllToAll {
  static constexpr Slot slot = Slot::collective_all_to_all;
  da_error *result{};
  da_communicator *communicator;
  da_stream *stream;
  const da_tensor *const *inputs;
  const da_tensor *const *outputs;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
    visit.handle("stream", stream);
    visit.tensors("inputs", inputs, 0);
    visit.tensors("outputs", outputs, 0);
  }
};

struct CollectiveGather {
  static constexpr Slot slot = Slot::collective_gather;
  da_error *result{};
  da_communicator *communicator;
  da_stream *stream;
  const da_tensor *input;
  const da_tensor *const *outputs;
  uint32_t root;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
    visit.handle("stream", stream);
    visit.tensor("input", input);
    visit.tensors("outputs", outputs, 0);
    visit.number("root", root);
  }
};

struct CollectiveScatter {
  static constexpr Slot slot = Slot::collective_scatter;
  da_error *result{};
  da_communicator *communicator;
  da_stream *stream;
  const da_tensor *const *inputs;
  const da_tensor *output;
  uint32_t root;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
    visit.handle("stream", stream);
    visit.tensors("inputs", inputs, 0);
    visit.tensor("output", output);
    visit.number("root", root);
  }
};

struct CollectiveSend {
  static constexpr Slot slot = Slot::collective_send;
  da_error *result{};
  da_communicator *communicator;
  da_stream *stream;
  const da_tensor *input;
  uint32_t peer;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
    visit.handle("stream", stream);
    visit.tensor("input", input);
    visit.number("peer", peer);
  }
};

struct CollectiveReceive {
  static constexpr Slot slot = Slot::collective_receive;
  da_error *result{};
  da_communicator *communicator;
  da_stream *stream;
  const da_tensor *output;
  uint32_t peer;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
    visit.handle("stream", stream);
    visit.tensor("output", output);
    visit.number("peer", peer);
  }
};

struct CollectiveBarrier {
  static constexpr Slot slot = Slot::collective_barrier;
  da_error *result{};
  da_communicator *communicator;
  da_stream *stream;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
    visit.handle("stream", stream);
  }
};

struct CollectiveGroupStart {
  static constexpr Slot slot = Slot::collective_group_start;
  da_error *result{};
  da_communicator *communicator;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
  }
};

struct CollectiveGroupEnd {
  static constexpr Slot slot = Slot::collective_group_end;
  da_error *result{};
  da_communicator *communicator;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return communicator; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("communicator", communicator);
  }
};

struct CustomOpList {
  static constexpr Slot slot = Slot::custom_op_list;
  da_error *result{};
  da_custom_op_list *out_list;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.out("out_list", out_list);
  }
};

struct DeviceCount {
  static constexpr Slot slot = Slot::device_count;
  da_error *result{};
  uint32_t *out_count;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.out("out_count", out_count);
  }
};

struct DeviceOpen {
  static constexpr Slot slot = Slot::device_open;
  da_error *result{};
  uint32_t index;
  da_device **out_device;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.number("index", index);
    visit.out("out_device", out_device);
  }
};

struct DeviceClose {
  static constexpr Slot slot = Slot::device_close;
  da_error *result{};
  da_device *device;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return device; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
  }
};

struct DeviceProperties {
  static constexpr Slot slot = Slot::device_properties;
  da_error *result{};
  da_device *device;
  da_device_properties *out_properties;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.out("out_properties", out_properties);
  }
};

struct DeviceSynchronize {
  static constexpr Slot slot = Slot::device_synchronize;
  da_error *result{};
  da_device *device;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
  }
};

struct KernelList {
  static constexpr Slot slot = Slot::kernel_list;
  da_error *result{};
  da_device *device;
  da_kernel_list *out_list;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.out("out_list", out_list);
  }
};

struct GraphPasses {
  static constexpr Slot slot = Slot::graph_passes;
  da_error *result{};
  da_device *device;
  da_pass_list *out_passes;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.out("out_passes", out_passes);
  }
};

struct GraphClaim {
  static constexpr Slot slot = Slot::graph_claim;
  da_error *result{};
  da_device *device;
  const uint8_t *graph;
  uint64_t graph_bytes;
  da_claim_list *out_claims;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.bytes("graph", graph, graph_bytes);
    visit.out("out_claims", out_claims);
  }
};

struct GraphCompile {
  static constexpr Slot slot = Slot::graph_compile;
  da_error *result{};
  da_device *device;
  const uint8_t *graph;
  uint64_t graph_bytes;
  da_executable **out_executable;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.bytes("graph", graph, graph_bytes);
    visit.out("out_executable", out_executable);
  }
};

struct GraphExecute {
  static constexpr Slot slot = Slot::graph_execute;
  da_error *result{};
  da_executable *executable;
  const da_kernel_context *context;
  const da_tensor *const *inputs;
  uint32_t input_count;
  const da_tensor *const *outputs;
  uint32_t output_count;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("executable", executable);
    visit.structure("context", context);
    visit.tensors("inputs", inputs, input_count);
    visit.tensors("outputs", outputs, output_count);
  }
};

struct GraphSerialise {
  static constexpr Slot slot = Slot::graph_serialise;
  da_error *result{};
  da_executable *executable;
  da_bytes *out_bytes;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("executable", executable);
    visit.out("out_bytes", out_bytes);
  }
};

struct GraphDeserialise {
  static constexpr Slot slot = Slot::graph_deserialise;
  da_error *result{};
  da_device *device;
  const uint8_t *bytes;
  uint64_t size;
  da_executable **out_executable;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.bytes("bytes", bytes, size);
    visit.out("out_executable", out_executable);
  }
};

struct GraphDestroy {
  static constexpr Slot slot = Slot::graph_destroy;
  da_error *result{};
  da_executable *executable;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("executable", executable);
  }
};

struct MemoryAllocate {
  static constexpr Slot slot = Slot::memory_allocate;
  da_error *result{};
  da_device *device;
  int32_t kind;
  uint64_t bytes;
  void **out_handle;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.number("kind", kind);
    visit.number("bytes", bytes);
    visit.out("out_handle", out_handle);
  }
};

struct MemoryFree {
  static constexpr Slot slot = Slot::memory_free;
  da_error *result{};
  da_device *device;
  int32_t kind;
  void *handle;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.number("kind", kind);
    visit.pointer("handle", handle);
  }
};

struct MemoryCopy {
  static constexpr Slot slot = Slot::memory_copy;
  da_error *result{};
  da_device *device;
  da_stream *stream;
  const da_copy *copy;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("stream", stream);
    visit.structure("copy", copy);
  }
};

struct MemorySet {
  static constexpr Slot slot = Slot::memory_set;
  da_error *result{};
  da_device *device;
  da_stream *stream;
  void *handle;
  uint64_t offset;
  uint8_t value;
  uint64_t bytes;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("stream", stream);
    visit.pointer("handle", handle);
    visit.number("offset", offset);
    visit.number("value", value);
    visit.number("bytes", bytes);
  }
};

struct MemoryInfo {
  static constexpr Slot slot = Slot::memory_info;
  da_error *result{};
  da_device *device;
  uint64_t *out_free;
  uint64_t *out_total;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.out("out_free", out_free);
    visit.out("out_total", out_total);
  }
};

struct MemoryWrap {
  static constexpr Slot slot = Slot::memory_wrap;
  da_error *result{};
  da_device *device;
  void *address;
  uint64_t bytes;
  void **out_handle;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.pointer("address", address);
    visit.number("bytes", bytes);
    visit.out("out_handle", out_handle);
  }
};

struct MemoryUnwrap {
  static constexpr Slot slot = Slot::memory_unwrap;
  da_error *result{};
  da_device *device;
  void *handle;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.pointer("handle", handle);
  }
};

struct ProfilerStart {
  static constexpr Slot slot = Slot::profiler_start;
  da_error *result{};
  da_device *device;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return device; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
  }
};

struct ProfilerStop {
  static constexpr Slot slot = Slot::profiler_stop;
  da_error *result{};
  da_device *device;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return device; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
  }
};

struct ProfilerCollect {
  static constexpr Slot slot = Slot::profiler_collect;
  da_error *result{};
  da_device *device;
  void (*sink)(void *user_data, const da_activity *activity);
  void *user_data;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return device; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.function("sink");
    visit.pointer("user_data", user_data);
  }
};

struct RandomBits {
  static constexpr Slot slot = Slot::random_bits;
  da_error *result{};
  da_device *device;
  da_stream *stream;
  uint64_t seed;
  uint64_t offset;
  void *handle;
  uint64_t byte_offset;
  uint64_t count;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("stream", stream);
    visit.number("seed", seed);
    visit.number("offset", offset);
    visit.pointer("handle", handle);
    visit.number("byte_offset", byte_offset);
    visit.number("count", count);
  }
};

struct StreamCreate {
  static constexpr Slot slot = Slot::stream_create;
  da_error *result{};
  da_device *device;
  int32_t priority;
  da_stream **out_stream;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.number("priority", priority);
    visit.out("out_stream", out_stream);
  }
};

struct StreamDestroy {
  static constexpr Slot slot = Slot::stream_destroy;
  da_error *result{};
  da_device *device;
  da_stream *stream;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return stream; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("stream", stream);
  }
};

struct StreamSynchronize {
  static constexpr Slot slot = Slot::stream_synchronize;
  da_error *result{};
  da_device *device;
  da_stream *stream;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("stream", stream);
  }
};

struct StreamQuery {
  static constexpr Slot slot = Slot::stream_query;
  da_error *result{};
  da_device *device;
  da_stream *stream;
  int32_t *out_done;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("stream", stream);
    visit.out("out_done", out_done);
  }
};

struct StreamWaitEvent {
  static constexpr Slot slot = Slot::stream_wait_event;
  da_error *result{};
  da_device *device;
  da_stream *stream;
  da_event *event;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("stream", stream);
    visit.handle("event", event);
  }
};

struct StreamAddCallback {
  static constexpr Slot slot = Slot::stream_add_callback;
  da_error *result{};
  da_device *device;
  da_stream *stream;
  const da_callback *callback;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("stream", stream);
    visit.structure("callback", callback);
  }
};

struct StreamWrap {
  static constexpr Slot slot = Slot::stream_wrap;
  da_error *result{};
  da_device *device;
  void *native;
  da_stream **out_stream;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.pointer("native", native);
    visit.out("out_stream", out_stream);
  }
};

struct StreamEventCreate {
  static constexpr Slot slot = Slot::stream_event_create;
  da_error *result{};
  da_device *device;
  uint64_t flags;
  da_event **out_event;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.number("flags", flags);
    visit.out("out_event", out_event);
  }
};

struct StreamEventDestroy {
  static constexpr Slot slot = Slot::stream_event_destroy;
  da_error *result{};
  da_device *device;
  da_event *event;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return event; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("event", event);
  }
};

struct StreamEventRecord {
  static constexpr Slot slot = Slot::stream_event_record;
  da_error *result{};
  da_device *device;
  da_event *event;
  da_stream *stream;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return event; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("event", event);
    visit.handle("stream", stream);
  }
};

struct StreamEventQuery {
  static constexpr Slot slot = Slot::stream_event_query;
  da_error *result{};
  da_device *device;
  da_event *event;
  int32_t *out_done;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("event", event);
    visit.out("out_done", out_done);
  }
};

struct StreamEventSynchronize {
  static constexpr Slot slot = Slot::stream_event_synchronize;
  da_error *result{};
  da_device *device;
  da_event *event;
  uint64_t timeout_ns;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("event", event);
    visit.number("timeout_ns", timeout_ns);
  }
};

struct StreamEventElapsed {
  static constexpr Slot slot = Slot::stream_event_elapsed;
  da_error *result{};
  da_device *device;
  da_event *start;
  da_event *end;
  double *out_nanoseconds;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.handle("start", start);
    visit.handle("end", end);
    visit.out("out_nanoseconds", out_nanoseconds);
  }
};

struct PluginInitialize {
  static constexpr Slot slot = Slot::plugin_initialize;
  da_error *result{};
  const da_host *host;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return plugin; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.structure("host", host);
  }
};

struct PluginShutdown {
  static constexpr Slot slot = Slot::plugin_shutdown;
  da_error *result{};
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return plugin; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
  }
};

struct PluginGetInterface {
  static constexpr Slot slot = Slot::plugin_get_interface;
  const void *result{};
  const char *id;
  uint32_t min_version;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.text("id", id);
    visit.number("min_version", min_version);
  }
};

struct ErrorCode {
  static constexpr Slot slot = Slot::error_code;
  int32_t result{};
  const da_error *error;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.pointer("error", error);
  }
};

struct ErrorMessage {
  static constexpr Slot slot = Slot::error_message;
  const char *result{};
  const da_error *error;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.pointer("error", error);
  }
};

struct ErrorDestroy {
  static constexpr Slot slot = Slot::error_destroy;
  da_error *error;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.pointer("error", error);
  }
};

struct KernelLaunch {
  static constexpr Slot slot = Slot::kernel_launch;
  da_error *result{};
  void *state;
  const da_kernel_context *context;
  const da_tensor *const *inputs;
  uint32_t input_count;
  const da_tensor *const *outputs;
  uint32_t output_count;
  const void *attributes;
  const KernelEntry *entry;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.pointer("state", state);
    visit.structure("context", context);
    visit.tensors("inputs", inputs, input_count);
    visit.tensors("outputs", outputs, output_count);
    visit.attributes("attributes", attributes, entry);
  }
};

struct KernelPrepare {
  static constexpr Slot slot = Slot::kernel_prepare;
  da_error *result{};
  da_device *device;
  const da_kernel *kernel;
  const da_tensor *const *inputs;
  uint32_t input_count;
  const da_tensor *const *outputs;
  uint32_t output_count;
  const void *attributes;
  void **out_state;
  const KernelEntry *entry;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.entry("kernel", entry);
    visit.tensors("inputs", inputs, input_count);
    visit.tensors("outputs", outputs, output_count);
    visit.attributes("attributes", attributes, entry);
    visit.out("out_state", out_state);
  }
};

struct KernelRelease {
  static constexpr Slot slot = Slot::kernel_release;
  void *state;
  const KernelEntry *entry;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.pointer("state", state);
  }
};

struct KernelSupports {
  static constexpr Slot slot = Slot::kernel_supports;
  da_error *result{};
  da_device *device;
  const da_kernel *kernel;
  const da_tensor *const *inputs;
  uint32_t input_count;
  const da_tensor *const *outputs;
  uint32_t output_count;
  const void *attributes;
  int32_t *out_supported;
  const KernelEntry *entry;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.entry("kernel", entry);
    visit.tensors("inputs", inputs, input_count);
    visit.tensors("outputs", outputs, output_count);
    visit.attributes("attributes", attributes, entry);
    visit.out("out_supported", out_supported);
  }
};

struct PassRun {
  static constexpr Slot slot = Slot::pass_run;
  da_error *result{};
  da_device *device;
  const da_pass *pass;
  const uint8_t *graph;
  uint64_t graph_bytes;
  da_bytes *out_graph;
  const PassEntry *entry;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.handle("device", device);
    visit.entry("pass", entry);
    visit.bytes("graph", graph, graph_bytes);
    visit.out("out_graph", out_graph);
  }
};

struct CustomInfer {
  static constexpr Slot slot = Slot::custom_infer;
  da_error *result{};
  const da_custom_op *op;
  const da_tensor *const *inputs;
  uint32_t input_count;
  const void *attributes;
  uint32_t output_count;
  da_output_shape *out_shapes;
  const CustomOpEntry *entry;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.entry("op", entry);
    visit.tensors("inputs", inputs, input_count);
    visit.attributes("attributes", attributes, entry);
    visit.number("output_count", output_count);
    visit.out("out_shapes", out_shapes);
  }
};

struct HostLog {
  static constexpr Slot slot = Slot::host_log;
  void *context;
  int32_t level;
  const char *message;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.pointer("context", context);
    visit.number("level", level);
    visit.text("message", message);
  }
};

struct HostTraceBegin {
  static constexpr Slot slot = Slot::host_trace_begin;
  uint64_t result{};
  void *context;
  const char *name;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.pointer("context", context);
    visit.text("name", name);
  }
};

struct HostTraceEnd {
  static constexpr Slot slot = Slot::host_trace_end;
  void *context;
  uint64_t span;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.pointer("context", context);
    visit.number("span", span);
  }
};

struct HostReportAsyncError {
  static constexpr Slot slot = Slot::host_report_async_error;
  void *context;
  da_device *device;
  da_stream *stream;
  int32_t code;
  const char *message;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.pointer("context", context);
    visit.handle("device", device);
    visit.handle("stream", stream);
    visit.number("code", code);
    visit.text("message", message);
  }
};

struct ContextScratch {
  static constexpr Slot slot = Slot::context_scratch;
  da_error *result{};
  void *host_context;
  uint64_t bytes;
  void **out_handle;
  uint64_t *out_offset;
  // The object on which calls must not overlap; `plugin` stands for the whole plugin.
  const void *synchronised([[maybe_unused]] const void *plugin) const { return nullptr; }
  template <class V>
  void each([[maybe_unused]] V &&visit) const {
    visit.pointer("host_context", host_context);
    visit.number("bytes", bytes);
    visit.out("out_handle", out_handle);
    visit.out("out_offset", out_offset);
  }
};

// Calls visitor(arguments) with the arguments in their own type.
template <class V>
auto dispatch(Slot slot, void *arguments, V &&visitor) {
  switch (slot) {
    case Slot::capture_begin: return visitor(*static_cast<CaptureBegin *>(arguments));
    case Slot::capture_end: return visitor(*static_cast<CaptureEnd *>(arguments));
    case Slot::capture_is_capturing: return visitor(*static_cast<CaptureIsCapturing *>(arguments));
    case Slot::capture_replay: return visitor(*static_cast<CaptureReplay *>(arguments));
    case Slot::capture_destroy: return visitor(*static_cast<CaptureDestroy *>(arguments));
    case Slot::collective_unique_id: return visitor(*static_cast<CollectiveUniqueId *>(arguments));
    case Slot::collective_create: return visitor(*static_cast<CollectiveCreate *>(arguments));
    case Slot::collective_destroy: return visitor(*static_cast<CollectiveDestroy *>(arguments));
    case Slot::collective_abort: return visitor(*static_cast<CollectiveAbort *>(arguments));
    case Slot::collective_async_error: return visitor(*static_cast<CollectiveAsyncError *>(arguments));
    case Slot::collective_split: return visitor(*static_cast<CollectiveSplit *>(arguments));
    case Slot::collective_all_reduce: return visitor(*static_cast<CollectiveAllReduce *>(arguments));
    case Slot::collective_reduce: return visitor(*static_cast<CollectiveReduce *>(arguments));
    case Slot::collective_broadcast: return visitor(*static_cast<CollectiveBroadcast *>(arguments));
    case Slot::collective_all_gather: return visitor(*static_cast<CollectiveAllGather *>(arguments));
    case Slot::collective_reduce_scatter: return visitor(*static_cast<CollectiveReduceScatter *>(arguments));
    case Slot::collective_all_to_all: return visitor(*static_cast<CollectiveAllToAll *>(arguments));
    case Slot::collective_gather: return visitor(*static_cast<CollectiveGather *>(arguments));
    case Slot::collective_scatter: return visitor(*static_cast<CollectiveScatter *>(arguments));
    case Slot::collective_send: return visitor(*static_cast<CollectiveSend *>(arguments));
    case Slot::collective_receive: return visitor(*static_cast<CollectiveReceive *>(arguments));
    case Slot::collective_barrier: return visitor(*static_cast<CollectiveBarrier *>(arguments));
    case Slot::collective_group_start: return visitor(*static_cast<CollectiveGroupStart *>(arguments));
    case Slot::collective_group_end: return visitor(*static_cast<CollectiveGroupEnd *>(arguments));
    case Slot::custom_op_list: return visitor(*static_cast<CustomOpList *>(arguments));
    case Slot::device_count: return visitor(*static_cast<DeviceCount *>(arguments));
    case Slot::device_open: return visitor(*static_cast<DeviceOpen *>(arguments));
    case Slot::device_close: return visitor(*static_cast<DeviceClose *>(arguments));
    case Slot::device_properties: return visitor(*static_cast<DeviceProperties *>(arguments));
    case Slot::device_synchronize: return visitor(*static_cast<DeviceSynchronize *>(arguments));
    case Slot::kernel_list: return visitor(*static_cast<KernelList *>(arguments));
    case Slot::graph_passes: return visitor(*static_cast<GraphPasses *>(arguments));
    case Slot::graph_claim: return visitor(*static_cast<GraphClaim *>(arguments));
    case Slot::graph_compile: return visitor(*static_cast<GraphCompile *>(arguments));
    case Slot::graph_execute: return visitor(*static_cast<GraphExecute *>(arguments));
    case Slot::graph_serialise: return visitor(*static_cast<GraphSerialise *>(arguments));
    case Slot::graph_deserialise: return visitor(*static_cast<GraphDeserialise *>(arguments));
    case Slot::graph_destroy: return visitor(*static_cast<GraphDestroy *>(arguments));
    case Slot::memory_allocate: return visitor(*static_cast<MemoryAllocate *>(arguments));
    case Slot::memory_free: return visitor(*static_cast<MemoryFree *>(arguments));
    case Slot::memory_copy: return visitor(*static_cast<MemoryCopy *>(arguments));
    case Slot::memory_set: return visitor(*static_cast<MemorySet *>(arguments));
    case Slot::memory_info: return visitor(*static_cast<MemoryInfo *>(arguments));
    case Slot::memory_wrap: return visitor(*static_cast<MemoryWrap *>(arguments));
    case Slot::memory_unwrap: return visitor(*static_cast<MemoryUnwrap *>(arguments));
    case Slot::profiler_start: return visitor(*static_cast<ProfilerStart *>(arguments));
    case Slot::profiler_stop: return visitor(*static_cast<ProfilerStop *>(arguments));
    case Slot::profiler_collect: return visitor(*static_cast<ProfilerCollect *>(arguments));
    case Slot::random_bits: return visitor(*static_cast<RandomBits *>(arguments));
    case Slot::stream_create: return visitor(*static_cast<StreamCreate *>(arguments));
    case Slot::stream_destroy: return visitor(*static_cast<StreamDestroy *>(arguments));
    case Slot::stream_synchronize: return visitor(*static_cast<StreamSynchronize *>(arguments));
    case Slot::stream_query: return visitor(*static_cast<StreamQuery *>(arguments));
    case Slot::stream_wait_event: return visitor(*static_cast<StreamWaitEvent *>(arguments));
    case Slot::stream_add_callback: return visitor(*static_cast<StreamAddCallback *>(arguments));
    case Slot::stream_wrap: return visitor(*static_cast<StreamWrap *>(arguments));
    case Slot::stream_event_create: return visitor(*static_cast<StreamEventCreate *>(arguments));
    case Slot::stream_event_destroy: return visitor(*static_cast<StreamEventDestroy *>(arguments));
    case Slot::stream_event_record: return visitor(*static_cast<StreamEventRecord *>(arguments));
    case Slot::stream_event_query: return visitor(*static_cast<StreamEventQuery *>(arguments));
    case Slot::stream_event_synchronize: return visitor(*static_cast<StreamEventSynchronize *>(arguments));
    case Slot::stream_event_elapsed: return visitor(*static_cast<StreamEventElapsed *>(arguments));
    case Slot::plugin_initialize: return visitor(*static_cast<PluginInitialize *>(arguments));
    case Slot::plugin_shutdown: return visitor(*static_cast<PluginShutdown *>(arguments));
    case Slot::plugin_get_interface: return visitor(*static_cast<PluginGetInterface *>(arguments));
    case Slot::error_code: return visitor(*static_cast<ErrorCode *>(arguments));
    case Slot::error_message: return visitor(*static_cast<ErrorMessage *>(arguments));
    case Slot::error_destroy: return visitor(*static_cast<ErrorDestroy *>(arguments));
    case Slot::kernel_launch: return visitor(*static_cast<KernelLaunch *>(arguments));
    case Slot::kernel_prepare: return visitor(*static_cast<KernelPrepare *>(arguments));
    case Slot::kernel_release: return visitor(*static_cast<KernelRelease *>(arguments));
    case Slot::kernel_supports: return visitor(*static_cast<KernelSupports *>(arguments));
    case Slot::pass_run: return visitor(*static_cast<PassRun *>(arguments));
    case Slot::custom_infer: return visitor(*static_cast<CustomInfer *>(arguments));
    case Slot::host_log: return visitor(*static_cast<HostLog *>(arguments));
    case Slot::host_trace_begin: return visitor(*static_cast<HostTraceBegin *>(arguments));
    case Slot::host_trace_end: return visitor(*static_cast<HostTraceEnd *>(arguments));
    case Slot::host_report_async_error: return visitor(*static_cast<HostReportAsyncError *>(arguments));
    case Slot::context_scratch: break;
  }
  return visitor(*static_cast<ContextScratch *>(arguments));
}

}  // namespace device_api::layers

#endif
