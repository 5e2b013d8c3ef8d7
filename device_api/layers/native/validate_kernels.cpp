// Kernels: their list, their states, and what a launch is given.
#include "validate.hpp"

namespace device_api::layers {

namespace {

constexpr uint64_t kMostKernels = UINT64_C(1) << 16;
constexpr uint64_t kKnownFlags = DA_KERNEL_STRIDED_INPUTS | DA_KERNEL_STRIDED_OUTPUTS | DA_KERNEL_IN_PLACE |
                                 DA_KERNEL_DETERMINISTIC | DA_KERNEL_IN_PLACE_PAIRS;

}  // namespace

void Validate::check_kernel(Call &call, uint64_t number, const da_kernel *kernel) {
  const char *wrong = kernel->struct_size < DA_KERNEL_MIN_SIZE                   ? "struct_size is too small"
                      : kernel->op == nullptr                                    ? "op is NULL"
                      : kernel->launch == nullptr                                ? "launch is NULL"
                      : (kernel->flags & ~kKnownFlags) != 0                      ? "flags has unknown bits"
                      : kernel->prepare != nullptr && kernel->release == nullptr ? "release is NULL"
                                                                                 : nullptr;
  if (wrong != nullptr)
    find(call, Rule::KERNEL_02,
         "kernel " + std::to_string(number) +
             (kernel->op != nullptr ? " (" + std::string(kernel->op) + ")" : std::string()) + ": " + wrong);
}

void Validate::done(Call &call, KernelList &arguments) {
  if (call.failed() || arguments.out_list == nullptr) return;
  const da_kernel_list &list = *arguments.out_list;
  DeviceFacts &facts = facts_[arguments.device];
  if (facts.listed &&
      (facts.list_first != list.first || facts.list_count != list.count || facts.list_stride != list.stride))
    find(call, Rule::KERNEL_03,
         std::to_string(facts.list_count) + " kernels at " + address_text(facts.list_first) + " are now " +
             std::to_string(list.count) + " at " + address_text(list.first));
  facts.listed = true;
  facts.list_first = list.first;
  facts.list_count = list.count;
  facts.list_stride = list.stride;
  if (list.count == 0) return;
  if (list.first == nullptr || list.stride < DA_KERNEL_MIN_SIZE || list.count > kMostKernels) {
    find(call, Rule::KERNEL_01,
         std::to_string(list.count) + " kernels, first " + address_text(list.first) + ", stride " +
             std::to_string(list.stride));
    return;
  }
  for (uint64_t i = 0; i < list.count; ++i) {
    const char *place = reinterpret_cast<const char *>(list.first) + i * list.stride;
    check_kernel(call, i, reinterpret_cast<const da_kernel *>(place));
  }
}

void Validate::check_context(Call &call, const da_kernel_context *context) {
  if (context == nullptr || context->struct_size < DA_KERNEL_CONTEXT_MIN_SIZE) return;  // said already
  if (context->device == nullptr) {
    find(call, Rule::KERNEL_04, "context.device is NULL");
  } else {
    check_object(call, Kind::device, "context.device", context->device);
  }
  if (context->stream != nullptr) {
    check_object(call, Kind::stream, "context.stream", context->stream);
    check_same_device(call, Kind::stream, context->stream, context->device);
  }
  if (context->scratch == nullptr) find(call, Rule::KERNEL_04, "context.scratch is NULL");
  if ((context->flags & ~static_cast<uint64_t>(DA_CONTEXT_DETERMINISTIC)) != 0)
    find(call, Rule::KERNEL_04, "context.flags has unknown bits");
}

void Validate::check_attributes(Call &call, const void *attributes) {
  if (attributes == nullptr) return;
  const uint64_t size = *static_cast<const uint64_t *>(attributes);
  if (size < 2 * sizeof(uint64_t) || size % 8 != 0)
    find(call, Rule::KERNEL_19, "struct_size is " + std::to_string(size));
}

void Validate::check(Call &call, KernelLaunch &arguments) {
  const da_kernel_context *context = arguments.context;
  check_context(call, context);
  check_attributes(call, arguments.attributes);
  const bool sized = context != nullptr && context->struct_size >= DA_KERNEL_CONTEXT_MIN_SIZE;
  const void *device = sized ? context->device : nullptr;
  check_tensors(call, arguments.entry, device, arguments.inputs, arguments.input_count, arguments.outputs,
                arguments.output_count, true);
  if (arguments.state != nullptr) {
    auto state = states_.find({arguments.entry->origin, arguments.state});
    if (state == states_.end() || state->second == 0)
      find(call, Rule::KERNEL_15,
           "state " + address_text(arguments.state) + " is none of prepare, or was released");
  }
  const void *stream = sized ? context->stream : nullptr;
  if (stream == nullptr) return;
  const uint64_t position = submit(stream);
  use_tensors(stream, position, arguments.inputs, arguments.input_count);
  use_tensors(stream, position, arguments.outputs, arguments.output_count);
}

void Validate::done(Call &call, KernelLaunch &arguments) {
  const da_kernel_context *context = arguments.context;
  if (!call.failed() && context != nullptr && context->stream == nullptr) finish_device(context->device);
}

void Validate::check(Call &call, KernelPrepare &arguments) {
  check_attributes(call, arguments.attributes);
  check_tensors(call, arguments.entry, arguments.device, arguments.inputs, arguments.input_count,
                arguments.outputs, arguments.output_count, false);
}

void Validate::done(Call &call, KernelPrepare &arguments) {
  if (call.failed() || arguments.out_state == nullptr || *arguments.out_state == nullptr) return;
  ++states_[{arguments.entry->origin, *arguments.out_state}];
}

void Validate::check(Call &call, KernelRelease &arguments) {
  if (arguments.state == nullptr) return;
  auto state = states_.find({arguments.entry->origin, arguments.state});
  if (state == states_.end() || state->second == 0)
    find(call, Rule::KERNEL_15,
         "state " + address_text(arguments.state) + " is none of prepare, or was released");
}

void Validate::done(Call &, KernelRelease &arguments) {
  auto state = states_.find({arguments.entry->origin, arguments.state});
  if (state != states_.end() && --state->second == 0) states_.erase(state);
}

void Validate::check(Call &call, KernelSupports &arguments) {
  check_attributes(call, arguments.attributes);
  // Asked about tensors that the flags rule out as well: only the descriptors themselves are checked.
  check_tensors(call, nullptr, arguments.device, arguments.inputs, arguments.input_count, arguments.outputs,
                arguments.output_count, false);
}

void Validate::done(Call &call, KernelSupports &arguments) {
  if (call.failed() || arguments.out_supported == nullptr) return;
  if (*arguments.out_supported != 0 && *arguments.out_supported != 1)
    find(call, Rule::KERNEL_17, "out_supported is " + std::to_string(*arguments.out_supported));
}

}  // namespace device_api::layers
