// Written by `python -m device_api.layers.generate` from the headers; do not edit.
// clang-format off

#include "../interpose.hpp"

namespace device_api::layers {
namespace {

da_error *graph_passes(Instance &self, da_device *device, da_pass_list *out_passes) {
  GraphPasses arguments{{}, device, out_passes};
  Call call(self, Slot::graph_passes, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.graph.passes(arguments.device, arguments.out_passes);
  self.layer->after(call);
  if (arguments.result == nullptr) replace_passes(self, arguments);
  return arguments.result;
}

da_error *graph_claim(Instance &self, da_device *device, const uint8_t *graph, uint64_t graph_bytes, da_claim_list *out_claims) {
  GraphClaim arguments{{}, device, graph, graph_bytes, out_claims};
  Call call(self, Slot::graph_claim, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.graph.claim(arguments.device, arguments.graph, arguments.graph_bytes, arguments.out_claims);
  self.layer->after(call);
  return arguments.result;
}

da_error *graph_compile(Instance &self, da_device *device, const uint8_t *graph, uint64_t graph_bytes, da_executable **out_executable) {
  GraphCompile arguments{{}, device, graph, graph_bytes, out_executable};
  Call call(self, Slot::graph_compile, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.graph.compile(arguments.device, arguments.graph, arguments.graph_bytes, arguments.out_executable);
  self.layer->after(call);
  return arguments.result;
}

da_error *graph_execute(Instance &self, da_executable *executable, const da_kernel_context *context, const da_tensor *const *inputs, uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count) {
  GraphExecute arguments{{}, executable, context, inputs, input_count, outputs, output_count};
  Call call(self, Slot::graph_execute, &arguments, &arguments.result);
  Scratch scratch(self, nullptr, arguments.context);
  arguments.context = scratch.context();
  if (self.layer->before(call)) arguments.result = self.below.graph.execute(arguments.executable, arguments.context, arguments.inputs, arguments.input_count, arguments.outputs, arguments.output_count);
  self.layer->after(call);
  return arguments.result;
}

da_error *graph_serialise(Instance &self, da_executable *executable, da_bytes *out_bytes) {
  GraphSerialise arguments{{}, executable, out_bytes};
  Call call(self, Slot::graph_serialise, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.graph.serialise(arguments.executable, arguments.out_bytes);
  self.layer->after(call);
  return arguments.result;
}

da_error *graph_deserialise(Instance &self, da_device *device, const uint8_t *bytes, uint64_t size, da_executable **out_executable) {
  GraphDeserialise arguments{{}, device, bytes, size, out_executable};
  Call call(self, Slot::graph_deserialise, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.graph.deserialise(arguments.device, arguments.bytes, arguments.size, arguments.out_executable);
  self.layer->after(call);
  return arguments.result;
}

da_error *graph_destroy(Instance &self, da_executable *executable) {
  GraphDestroy arguments{{}, executable};
  Call call(self, Slot::graph_destroy, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.graph.destroy(arguments.executable);
  self.layer->after(call);
  return arguments.result;
}

template <size_t N>
struct Shims {
  static da_error *passes(da_device *device, da_pass_list *out_passes) { return graph_passes(*instances[N], device, out_passes); }
  static da_error *claim(da_device *device, const uint8_t *graph, uint64_t graph_bytes, da_claim_list *out_claims) { return graph_claim(*instances[N], device, graph, graph_bytes, out_claims); }
  static da_error *compile(da_device *device, const uint8_t *graph, uint64_t graph_bytes, da_executable **out_executable) { return graph_compile(*instances[N], device, graph, graph_bytes, out_executable); }
  static da_error *execute(da_executable *executable, const da_kernel_context *context, const da_tensor *const *inputs, uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count) { return graph_execute(*instances[N], executable, context, inputs, input_count, outputs, output_count); }
  static da_error *serialise(da_executable *executable, da_bytes *out_bytes) { return graph_serialise(*instances[N], executable, out_bytes); }
  static da_error *deserialise(da_device *device, const uint8_t *bytes, uint64_t size, da_executable **out_executable) { return graph_deserialise(*instances[N], device, bytes, size, out_executable); }
  static da_error *destroy(da_executable *executable) { return graph_destroy(*instances[N], executable); }
  static void fill(const da_graph_interface &below, da_graph_interface *above) {
    above->passes = below.passes == nullptr ? nullptr : passes;
    above->claim = below.claim == nullptr ? nullptr : claim;
    above->compile = below.compile == nullptr ? nullptr : compile;
    above->execute = below.execute == nullptr ? nullptr : execute;
    above->serialise = below.serialise == nullptr ? nullptr : serialise;
    above->deserialise = below.deserialise == nullptr ? nullptr : deserialise;
    above->destroy = below.destroy == nullptr ? nullptr : destroy;
  }
};

}  // namespace

const void *interpose_graph(Instance &self, const void *table) {
  return interpose_table<Shims>(self, static_cast<const da_graph_interface *>(table), &self.below.graph, &self.above.graph);
}

}  // namespace device_api::layers
