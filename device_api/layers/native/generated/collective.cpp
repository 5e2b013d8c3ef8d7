// Written by `python -m device_api.layers.generate` from the headers; do not edit.
// clang-format off

#include "../interpose.hpp"

namespace device_api::layers {
namespace {

da_error *collective_unique_id(Instance &self, da_unique_id *out_id) {
  CollectiveUniqueId arguments{{}, out_id};
  Call call(self, Slot::collective_unique_id, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.unique_id(arguments.out_id);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_create(Instance &self, da_device *device, const da_communicator_options *options, da_communicator **out_communicator) {
  CollectiveCreate arguments{{}, device, options, out_communicator};
  Call call(self, Slot::collective_create, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.create(arguments.device, arguments.options, arguments.out_communicator);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_destroy(Instance &self, da_communicator *communicator) {
  CollectiveDestroy arguments{{}, communicator};
  Call call(self, Slot::collective_destroy, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.destroy(arguments.communicator);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_abort(Instance &self, da_communicator *communicator) {
  CollectiveAbort arguments{{}, communicator};
  Call call(self, Slot::collective_abort, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.abort(arguments.communicator);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_async_error(Instance &self, da_communicator *communicator) {
  CollectiveAsyncError arguments{{}, communicator};
  Call call(self, Slot::collective_async_error, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.async_error(arguments.communicator);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_split(Instance &self, da_communicator *communicator, int32_t color, int32_t key, da_communicator **out_communicator) {
  CollectiveSplit arguments{{}, communicator, color, key, out_communicator};
  Call call(self, Slot::collective_split, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.split(arguments.communicator, arguments.color, arguments.key, arguments.out_communicator);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_all_reduce(Instance &self, da_communicator *communicator, da_stream *stream, const da_tensor *input, const da_tensor *output, int32_t reduction) {
  CollectiveAllReduce arguments{{}, communicator, stream, input, output, reduction};
  Call call(self, Slot::collective_all_reduce, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.all_reduce(arguments.communicator, arguments.stream, arguments.input, arguments.output, arguments.reduction);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_reduce(Instance &self, da_communicator *communicator, da_stream *stream, const da_tensor *input, const da_tensor *output, int32_t reduction, uint32_t root) {
  CollectiveReduce arguments{{}, communicator, stream, input, output, reduction, root};
  Call call(self, Slot::collective_reduce, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.reduce(arguments.communicator, arguments.stream, arguments.input, arguments.output, arguments.reduction, arguments.root);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_broadcast(Instance &self, da_communicator *communicator, da_stream *stream, const da_tensor *input, const da_tensor *output, uint32_t root) {
  CollectiveBroadcast arguments{{}, communicator, stream, input, output, root};
  Call call(self, Slot::collective_broadcast, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.broadcast(arguments.communicator, arguments.stream, arguments.input, arguments.output, arguments.root);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_all_gather(Instance &self, da_communicator *communicator, da_stream *stream, const da_tensor *input, const da_tensor *const *outputs) {
  CollectiveAllGather arguments{{}, communicator, stream, input, outputs};
  Call call(self, Slot::collective_all_gather, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.all_gather(arguments.communicator, arguments.stream, arguments.input, arguments.outputs);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_reduce_scatter(Instance &self, da_communicator *communicator, da_stream *stream, const da_tensor *const *inputs, const da_tensor *output, int32_t reduction) {
  CollectiveReduceScatter arguments{{}, communicator, stream, inputs, output, reduction};
  Call call(self, Slot::collective_reduce_scatter, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.reduce_scatter(arguments.communicator, arguments.stream, arguments.inputs, arguments.output, arguments.reduction);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_all_to_all(Instance &self, da_communicator *communicator, da_stream *stream, const da_tensor *const *inputs, const da_tensor *const *outputs) {
  CollectiveAllToAll arguments{{}, communicator, stream, inputs, outputs};
  Call call(self, Slot::collective_all_to_all, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.all_to_all(arguments.communicator, arguments.stream, arguments.inputs, arguments.outputs);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_gather(Instance &self, da_communicator *communicator, da_stream *stream, const da_tensor *input, const da_tensor *const *outputs, uint32_t root) {
  CollectiveGather arguments{{}, communicator, stream, input, outputs, root};
  Call call(self, Slot::collective_gather, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.gather(arguments.communicator, arguments.stream, arguments.input, arguments.outputs, arguments.root);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_scatter(Instance &self, da_communicator *communicator, da_stream *stream, const da_tensor *const *inputs, const da_tensor *output, uint32_t root) {
  CollectiveScatter arguments{{}, communicator, stream, inputs, output, root};
  Call call(self, Slot::collective_scatter, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.scatter(arguments.communicator, arguments.stream, arguments.inputs, arguments.output, arguments.root);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_send(Instance &self, da_communicator *communicator, da_stream *stream, const da_tensor *input, uint32_t peer) {
  CollectiveSend arguments{{}, communicator, stream, input, peer};
  Call call(self, Slot::collective_send, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.send(arguments.communicator, arguments.stream, arguments.input, arguments.peer);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_receive(Instance &self, da_communicator *communicator, da_stream *stream, const da_tensor *output, uint32_t peer) {
  CollectiveReceive arguments{{}, communicator, stream, output, peer};
  Call call(self, Slot::collective_receive, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.receive(arguments.communicator, arguments.stream, arguments.output, arguments.peer);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_barrier(Instance &self, da_communicator *communicator, da_stream *stream) {
  CollectiveBarrier arguments{{}, communicator, stream};
  Call call(self, Slot::collective_barrier, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.barrier(arguments.communicator, arguments.stream);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_group_start(Instance &self, da_communicator *communicator) {
  CollectiveGroupStart arguments{{}, communicator};
  Call call(self, Slot::collective_group_start, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.group_start(arguments.communicator);
  self.layer->after(call);
  return arguments.result;
}

da_error *collective_group_end(Instance &self, da_communicator *communicator) {
  CollectiveGroupEnd arguments{{}, communicator};
  Call call(self, Slot::collective_group_end, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.collective.group_end(arguments.communicator);
  self.layer->after(call);
  return arguments.result;
}

template <size_t N>
struct Shims {
  static da_error *unique_id(da_unique_id *out_id) { return collective_unique_id(*instances[N], out_id); }
  static da_error *create(da_device *device, const da_communicator_options *options, da_communicator **out_communicator) { return collective_create(*instances[N], device, options, out_communicator); }
  static da_error *destroy(da_communicator *communicator) { return collective_destroy(*instances[N], communicator); }
  static da_error *abort(da_communicator *communicator) { return collective_abort(*instances[N], communicator); }
  static da_error *async_error(da_communicator *communicator) { return collective_async_error(*instances[N], communicator); }
  static da_error *split(da_communicator *communicator, int32_t color, int32_t key, da_communicator **out_communicator) { return collective_split(*instances[N], communicator, color, key, out_communicator); }
  static da_error *all_reduce(da_communicator *communicator, da_stream *stream, const da_tensor *input, const da_tensor *output, int32_t reduction) { return collective_all_reduce(*instances[N], communicator, stream, input, output, reduction); }
  static da_error *reduce(da_communicator *communicator, da_stream *stream, const da_tensor *input, const da_tensor *output, int32_t reduction, uint32_t root) { return collective_reduce(*instances[N], communicator, stream, input, output, reduction, root); }
  static da_error *broadcast(da_communicator *communicator, da_stream *stream, const da_tensor *input, const da_tensor *output, uint32_t root) { return collective_broadcast(*instances[N], communicator, stream, input, output, root); }
  static da_error *all_gather(da_communicator *communicator, da_stream *stream, const da_tensor *input, const da_tensor *const *outputs) { return collective_all_gather(*instances[N], communicator, stream, input, outputs); }
  static da_error *reduce_scatter(da_communicator *communicator, da_stream *stream, const da_tensor *const *inputs, const da_tensor *output, int32_t reduction) { return collective_reduce_scatter(*instances[N], communicator, stream, inputs, output, reduction); }
  static da_error *all_to_all(da_communicator *communicator, da_stream *stream, const da_tensor *const *inputs, const da_tensor *const *outputs) { return collective_all_to_all(*instances[N], communicator, stream, inputs, outputs); }
  static da_error *gather(da_communicator *communicator, da_stream *stream, const da_tensor *input, const da_tensor *const *outputs, uint32_t root) { return collective_gather(*instances[N], communicator, stream, input, outputs, root); }
  static da_error *scatter(da_communicator *communicator, da_stream *stream, const da_tensor *const *inputs, const da_tensor *output, uint32_t root) { return collective_scatter(*instances[N], communicator, stream, inputs, output, root); }
  static da_error *send(da_communicator *communicator, da_stream *stream, const da_tensor *input, uint32_t peer) { return collective_send(*instances[N], communicator, stream, input, peer); }
  static da_error *receive(da_communicator *communicator, da_stream *stream, const da_tensor *output, uint32_t peer) { return collective_receive(*instances[N], communicator, stream, output, peer); }
  static da_error *barrier(da_communicator *communicator, da_stream *stream) { return collective_barrier(*instances[N], communicator, stream); }
  static da_error *group_start(da_communicator *communicator) { return collective_group_start(*instances[N], communicator); }
  static da_error *group_end(da_communicator *communicator) { return collective_group_end(*instances[N], communicator); }
  static void fill(const da_collective_interface &below, da_collective_interface *above) {
    above->unique_id = below.unique_id == nullptr ? nullptr : unique_id;
    above->create = below.create == nullptr ? nullptr : create;
    above->destroy = below.destroy == nullptr ? nullptr : destroy;
    above->abort = below.abort == nullptr ? nullptr : abort;
    above->async_error = below.async_error == nullptr ? nullptr : async_error;
    above->split = below.split == nullptr ? nullptr : split;
    above->all_reduce = below.all_reduce == nullptr ? nullptr : all_reduce;
    above->reduce = below.reduce == nullptr ? nullptr : reduce;
    above->broadcast = below.broadcast == nullptr ? nullptr : broadcast;
    above->all_gather = below.all_gather == nullptr ? nullptr : all_gather;
    above->reduce_scatter = below.reduce_scatter == nullptr ? nullptr : reduce_scatter;
    above->all_to_all = below.all_to_all == nullptr ? nullptr : all_to_all;
    above->gather = below.gather == nullptr ? nullptr : gather;
    above->scatter = below.scatter == nullptr ? nullptr : scatter;
    above->send = below.send == nullptr ? nullptr : send;
    above->receive = below.receive == nullptr ? nullptr : receive;
    above->barrier = below.barrier == nullptr ? nullptr : barrier;
    above->group_start = below.group_start == nullptr ? nullptr : group_start;
    above->group_end = below.group_end == nullptr ? nullptr : group_end;
  }
};

}  // namespace

const void *interpose_collective(Instance &self, const void *table) {
  return interpose_table<Shims>(self, static_cast<const da_collective_interface *>(table), &self.below.collective, &self.above.collective);
}

}  // namespace device_api::layers
