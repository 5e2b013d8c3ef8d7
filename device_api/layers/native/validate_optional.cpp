// The interfaces that few plugins have: capture, collectives, graphs, profiler.
#include "validate.hpp"

namespace device_api::layers {

void Validate::check(Call &call, CaptureBegin &arguments) {
  check_same_device(call, Kind::stream, arguments.stream, arguments.device);
  const Object *stream = look(Kind::stream, arguments.stream);
  if (stream != nullptr && stream->depth != 0) find(call, Rule::CAPTURE_03, "the stream is captured already");
}

void Validate::done(Call &call, CaptureBegin &arguments) {
  Object *stream = look(Kind::stream, arguments.stream);
  if (!call.failed() && stream != nullptr) stream->depth = 1;
}

void Validate::check(Call &call, CaptureEnd &arguments) {
  check_same_device(call, Kind::stream, arguments.stream, arguments.device);
  const Object *stream = look(Kind::stream, arguments.stream);
  if (stream != nullptr && stream->depth == 0)
    find(call, Rule::CAPTURE_04, "no capture was begun on the stream");
}

void Validate::done(Call &call, CaptureEnd &arguments) {
  if (Object *stream = look(Kind::stream, arguments.stream)) stream->depth = 0;
  if (call.failed() || arguments.out_capture == nullptr || *arguments.out_capture == nullptr) return;
  add_object(call, Kind::capture, *arguments.out_capture, arguments.device);
}

void Validate::done(Call &call, CaptureIsCapturing &arguments) {
  if (call.failed() || arguments.out_capturing == nullptr) return;
  // A failed end ends a capture, unless the plugin says otherwise.
  Object *stream = look(Kind::stream, arguments.stream);
  if (stream != nullptr && *arguments.out_capturing == 1) stream->depth = 1;
  if (*arguments.out_capturing != 0 && *arguments.out_capturing != 1)
    find(call, Rule::STREAM_09, "out_capturing is " + std::to_string(*arguments.out_capturing));
}

void Validate::done(Call &call, CaptureDestroy &arguments) {
  if (!call.failed()) end_object(Kind::capture, arguments.capture);
}

// --- collectives ------------------------------------------------------------------------------------------

void Validate::check(Call &call, CollectiveCreate &arguments) {
  const da_communicator_options *options = arguments.options;
  if (options == nullptr || options->struct_size < DA_COMMUNICATOR_OPTIONS_MIN_SIZE) return;
  if (options->id == nullptr) find(call, Rule::CALL_01, "options.id is NULL");
  if (options->rank >= options->rank_count)
    find(call, Rule::COLLECTIVE_03,
         "rank " + std::to_string(options->rank) + " of " + std::to_string(options->rank_count));
}

void Validate::done(Call &call, CollectiveCreate &arguments) {
  if (call.failed() || arguments.out_communicator == nullptr || *arguments.out_communicator == nullptr)
    return;
  Object &made = add_object(call, Kind::communicator, *arguments.out_communicator, arguments.device);
  made.flags = arguments.options == nullptr ? 0 : arguments.options->rank_count;
}

void Validate::done(Call &call, CollectiveSplit &arguments) {
  if (call.failed() || arguments.out_communicator == nullptr || *arguments.out_communicator == nullptr)
    return;
  const Object *parent = look(Kind::communicator, arguments.communicator);
  const void *device = parent == nullptr ? nullptr : parent->device;
  add_object(call, Kind::communicator, *arguments.out_communicator, device);
}

void Validate::done(Call &call, CollectiveDestroy &arguments) {
  if (!call.failed()) end_object(Kind::communicator, arguments.communicator);
}

void Validate::check_rank(Call &call, const void *communicator, const char *name, uint32_t rank) {
  const Object *object = look(Kind::communicator, communicator);
  // The number of ranks of a split communicator is not known here: 0.
  if (object != nullptr && object->flags != 0 && rank >= object->flags)
    find(call, Rule::COLLECTIVE_03,
         std::string(name) + " is " + std::to_string(rank) + " of " + std::to_string(object->flags) +
             " ranks");
}

void Validate::check_reduction(Call &call, int32_t reduction) {
  if (reduction < DA_REDUCE_SUM || reduction > DA_REDUCE_AVERAGE)
    find(call, Rule::COLLECTIVE_04, "reduction is " + std::to_string(reduction));
}

void Validate::check_message(Call &call, const void *communicator, const char *name,
                             const da_tensor *tensor) {
  const Object *object = look(Kind::communicator, communicator);
  const void *device = object == nullptr ? nullptr : object->device;
  if (tensor == nullptr || !check_tensor(call, name, tensor, device)) return;
  if (!is_contiguous(*tensor)) find(call, Rule::COLLECTIVE_07, std::string(name) + " has strides");
  const Extent extent = extent_of(*tensor);
  if (extent.empty || !is_contiguous(*tensor)) return;
  check_range(call, name, tensor->dl.data, tensor->dl.byte_offset, static_cast<uint64_t>(extent.high), device,
              Rule::COLLECTIVE_07, Rule::COLLECTIVE_07);
}

void Validate::check(Call &call, CollectiveAllReduce &arguments) {
  check_reduction(call, arguments.reduction);
  check_message(call, arguments.communicator, "input", arguments.input);
  check_message(call, arguments.communicator, "output", arguments.output);
}

void Validate::check(Call &call, CollectiveReduce &arguments) {
  check_reduction(call, arguments.reduction);
  check_rank(call, arguments.communicator, "root", arguments.root);
  check_message(call, arguments.communicator, "input", arguments.input);
  check_message(call, arguments.communicator, "output", arguments.output);
}

void Validate::check(Call &call, CollectiveBroadcast &arguments) {
  check_rank(call, arguments.communicator, "root", arguments.root);
  check_message(call, arguments.communicator, "input", arguments.input);
  check_message(call, arguments.communicator, "output", arguments.output);
}

void Validate::check(Call &call, CollectiveReduceScatter &arguments) {
  check_reduction(call, arguments.reduction);
  check_message(call, arguments.communicator, "output", arguments.output);
}

void Validate::check(Call &call, CollectiveSend &arguments) {
  check_rank(call, arguments.communicator, "peer", arguments.peer);
  check_message(call, arguments.communicator, "input", arguments.input);
}

void Validate::check(Call &call, CollectiveReceive &arguments) {
  check_rank(call, arguments.communicator, "peer", arguments.peer);
  check_message(call, arguments.communicator, "output", arguments.output);
}

void Validate::check(Call &call, CollectiveGather &arguments) {
  check_rank(call, arguments.communicator, "root", arguments.root);
  check_message(call, arguments.communicator, "input", arguments.input);
}

void Validate::check(Call &call, CollectiveScatter &arguments) {
  check_rank(call, arguments.communicator, "root", arguments.root);
  check_message(call, arguments.communicator, "output", arguments.output);
}

void Validate::check(Call &, CollectiveGroupStart &arguments) {
  if (Object *object = look(Kind::communicator, arguments.communicator)) ++object->depth;
}

void Validate::check(Call &call, CollectiveGroupEnd &arguments) {
  Object *object = look(Kind::communicator, arguments.communicator);
  if (object == nullptr) return;
  if (object->depth == 0) {
    find(call, Rule::COLLECTIVE_06, "no group was started");
  } else {
    --object->depth;
  }
}

// --- graphs -----------------------------------------------------------------------------------------------

void Validate::done(Call &call, GraphCompile &arguments) {
  if (call.failed() || arguments.out_executable == nullptr || *arguments.out_executable == nullptr) return;
  add_object(call, Kind::executable, *arguments.out_executable, arguments.device);
}

void Validate::done(Call &call, GraphDeserialise &arguments) {
  if (call.failed() || arguments.out_executable == nullptr || *arguments.out_executable == nullptr) return;
  add_object(call, Kind::executable, *arguments.out_executable, arguments.device);
}

void Validate::check_bytes(Call &call, const da_bytes *bytes) {
  if (call.failed() || bytes == nullptr || bytes->size == 0) return;
  if (bytes->data == nullptr || bytes->destroy == nullptr)
    find(call, Rule::GRAPH_04,
         std::to_string(bytes->size) + " bytes without " + (bytes->data == nullptr ? "data" : "destroy"));
}

void Validate::done(Call &call, GraphSerialise &arguments) { check_bytes(call, arguments.out_bytes); }

void Validate::done(Call &call, PassRun &arguments) { check_bytes(call, arguments.out_graph); }

void Validate::done(Call &call, GraphDestroy &arguments) {
  if (!call.failed()) end_object(Kind::executable, arguments.executable);
}

void Validate::check(Call &call, GraphExecute &arguments) {
  check_context(call, arguments.context);
  const bool sized =
      arguments.context != nullptr && arguments.context->struct_size >= DA_KERNEL_CONTEXT_MIN_SIZE;
  check_tensors(call, nullptr, sized ? arguments.context->device : nullptr, arguments.inputs,
                arguments.input_count, arguments.outputs, arguments.output_count, true);
}

// --- the profiler -----------------------------------------------------------------------------------------

void Validate::check(Call &call, ProfilerStart &arguments) {
  const Object *device = look(Kind::device, arguments.device);
  if (device != nullptr && device->depth != 0)
    find(call, Rule::PROFILER_01, "the device is recorded already");
}

void Validate::done(Call &call, ProfilerStart &arguments) {
  Object *device = look(Kind::device, arguments.device);
  if (!call.failed() && device != nullptr) device->depth = 1;
}

void Validate::check(Call &call, ProfilerStop &arguments) {
  const Object *device = look(Kind::device, arguments.device);
  if (device != nullptr && device->depth == 0) find(call, Rule::PROFILER_02, "the device is not recorded");
}

void Validate::done(Call &call, ProfilerStop &arguments) {
  Object *device = look(Kind::device, arguments.device);
  if (!call.failed() && device != nullptr) device->depth = 0;
}

namespace {

// What stands between collect and the host's sink while the call runs.
struct Sink {
  Validate *layer;
  void (*function)(void *user_data, const da_activity *activity);
  void *user_data;
};

void take_activity(void *user_data, const da_activity *activity) {
  const Sink *sink = static_cast<const Sink *>(user_data);
  sink->layer->activity(activity);
  sink->function(sink->user_data, activity);
}

}  // namespace

void Validate::check(Call &call, ProfilerCollect &arguments) {
  const Object *device = look(Kind::device, arguments.device);
  if (device != nullptr && device->depth != 0) find(call, Rule::PROFILER_02, "the device is still recorded");
  if (arguments.sink == nullptr) {
    find(call, Rule::CALL_01, "sink is NULL");
    return;
  }
  thread_local Sink sink;  // lives until the call is over
  sink = {this, arguments.sink, arguments.user_data};
  arguments.sink = take_activity;
  arguments.user_data = &sink;
}

void Validate::activity(const da_activity *activity) {
  {
    std::lock_guard<std::mutex> guard(mutex_);
    const bool known = (activity->kind >= DA_ACTIVITY_KERNEL && activity->kind <= DA_ACTIVITY_RUNTIME) ||
                       activity->kind >= DA_ACTIVITY_VENDOR;
    if (!known || activity->name == nullptr || activity->end_ns < activity->start_ns)
      find(Slot::profiler_collect, Rule::PROFILER_03,
           "kind " + std::to_string(activity->kind) + ", from " + std::to_string(activity->start_ns) +
               " to " + std::to_string(activity->end_ns));
  }
  flush();
}

}  // namespace device_api::layers
