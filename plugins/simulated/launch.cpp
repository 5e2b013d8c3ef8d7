// Launches. Nothing of the host's is looked at after the call: tensors and attributes are copied, and a
// prepared state lives as long as the work that uses it, even when the host has released it.
#include "launch.hpp"

#include <memory>
#include <string>

#include "attributes.hpp"
#include "device_api/layout.h"
#include "device_api/profiler.h"
#include "error.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "operands.hpp"
#include "runtime.hpp"

namespace simulated {
namespace {

// The reference kernel's own state.
class Prepared {
 public:
  Prepared(const da_kernel &kernel, void *state) : kernel_(kernel), state_(state) {}
  Prepared(const Prepared &) = delete;
  Prepared &operator=(const Prepared &) = delete;
  ~Prepared() {
    if (kernel_.release != nullptr) kernel_.release(state_);
  }
  const da_kernel &kernel() const { return kernel_; }
  void *state() const { return state_; }

 private:
  const da_kernel &kernel_;
  void *const state_;
};

// Behind the pointer that the host holds as the state; the work holds another share.
using State = std::shared_ptr<const Prepared>;

// All that a launch needs when it runs.
struct Arguments {
  Arguments(const da_kernel &kernel, const Device &device, const da_tensor *const *inputs,
            uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
            const void *attributes)
      : kernel(kernel),
        operands(device, inputs, input_count, outputs, output_count),
        attributes(kernel.op, attributes) {}

  const da_kernel &kernel;
  Operands operands;
  Attributes attributes;
  State state;
  uint64_t flags = 0, random_seed = 0, random_offset = 0;
};

// Scratch memory of a kernel that runs is the plugin's own.
da_error *scratch(void *host_context, uint64_t bytes, void **out_handle, uint64_t *out_offset) {
  return guarded("scratch", [&] {
    auto &held = *static_cast<std::vector<std::unique_ptr<char[]>> *>(host_context);
    held.push_back(std::make_unique<char[]>(bytes + kAlignment));
    const uint64_t past = reinterpret_cast<uintptr_t>(held.back().get()) % kAlignment;
    *out_handle = held.back().get();
    *out_offset = past == 0 ? 0 : kAlignment - past;
  });
}

void run(const Arguments &arguments) {
  std::vector<std::unique_ptr<char[]>> held;
  da_kernel_context context{};
  context.struct_size = sizeof(context);
  context.flags = arguments.flags;
  context.random_seed = arguments.random_seed;
  context.random_offset = arguments.random_offset;
  context.host_context = &held;
  context.scratch = scratch;
  throw_if(arguments.kernel.launch(arguments.state ? arguments.state->state() : nullptr, &context,
                                   arguments.operands.inputs(), arguments.operands.input_count(),
                                   arguments.operands.outputs(), arguments.operands.output_count(),
                                   arguments.attributes.get()));
}

std::function<void()> body_of(Device &device, std::shared_ptr<const Arguments> arguments) {
  const uint64_t number = ++device.launches;
  const Configuration &configuration = runtime().configuration;
  if (configuration.lose_device.hits(number)) {
    return [&device, number] {
      device.lost = true;
      throw Failure(DA_STATUS_DEVICE_LOST,
                    device.name + " was lost in launch " + std::to_string(number) + " (SIM_LOSE_DEVICE)");
    };
  }
  if (configuration.fail_launch.hits(number)) {
    return [number] {
      throw Failure(DA_STATUS_INTERNAL,
                    "launch " + std::to_string(number) + " was told to fail (SIM_FAIL_LAUNCH)");
    };
  }
  return [arguments = std::move(arguments)] { run(*arguments); };
}

}  // namespace

void *prepare_kernel(const da_kernel &kernel, uint64_t flags, const da_tensor *const *inputs,
                     uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                     const void *attributes) {
  check_claims(inputs, input_count, outputs, output_count, flags);
  if (kernel.prepare == nullptr) return nullptr;
  void *state = nullptr;
  throw_if(kernel.prepare(nullptr, &kernel, inputs, input_count, outputs, output_count, attributes, &state));
  return new State(std::make_shared<const Prepared>(kernel, state));
}

void release_state(void *state) { delete static_cast<State *>(state); }

void launch_kernel(const da_kernel &kernel, uint64_t flags, void *state, const da_kernel_context *context,
                   const da_tensor *const *inputs, uint32_t input_count, const da_tensor *const *outputs,
                   uint32_t output_count, const void *attributes) {
  check_size("da_kernel_context", context->struct_size, DA_KERNEL_CONTEXT_MIN_SIZE);
  Device &device = device_of(context->device);
  check_claims(inputs, input_count, outputs, output_count, flags);
  auto arguments =
      std::make_shared<Arguments>(kernel, device, inputs, input_count, outputs, output_count, attributes);
  arguments->operands.check_sharing(kernel.op, flags);
  arguments->flags = context->flags;
  arguments->random_seed = context->random_seed;
  arguments->random_offset = context->random_offset;
  if (state != nullptr) {
    arguments->state = *static_cast<const State *>(state);
    if (&arguments->state->kernel() != &kernel) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT,
                    std::string("the state was prepared by the kernel of ") + arguments->state->kernel().op);
    }
  }
  Work work;
  work.activity = DA_ACTIVITY_KERNEL;
  work.name = kernel.op;
  work.bytes = arguments->operands.bytes();
  work.blocks = arguments->operands.blocks();
  work.body = body_of(device, std::move(arguments));
  enqueue(device, context->stream, std::move(work));
}

}  // namespace simulated
