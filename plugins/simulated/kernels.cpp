// The kernel list follows the configuration: fewer dtypes, no strides, nothing in place, hidden ops. Each
// function is instantiated per place in the list, because a launch without a prepared state has nothing else
// to know its kernel by.
#include "kernels.hpp"

#include <fnmatch.h>

#include <array>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "device_api/layout.h"
#include "error.hpp"
#include "launch.hpp"
#include "reference_cpu/error.hpp"
#include "reference_cpu/kernels.hpp"
#include "runtime.hpp"

namespace simulated {
namespace {

constexpr size_t kMostKernels = 256;

const da_kernel_list &reference_list() {
  static const da_kernel_list list = [] {
    da_kernel_list made{};
    made.struct_size = sizeof(made);
    throw_if(reference_cpu::kernel_interface.list(nullptr, &made));
    if (made.count > kMostKernels) {
      throw Failure(DA_STATUS_INTERNAL, "the reference CPU has " + std::to_string(made.count) +
                                            " kernels; raise kMostKernels in plugins/simulated/kernels.cpp");
    }
    return made;
  }();
  return list;
}

const da_kernel &reference_kernel(size_t place) {
  const da_kernel_list &list = reference_list();
  return *reinterpret_cast<const da_kernel *>(reinterpret_cast<const char *>(list.first) +
                                              place * list.stride);
}

// What the device claims of a reference kernel under the configuration now; its launches are checked against
// it.
uint64_t claimed_flags(size_t place) {
  const da_kernel &reference = reference_kernel(place);
  const Configuration &configuration = runtime().configuration;
  uint64_t taken = 0;
  if (!configuration.strides && std::strcmp(reference.op, "copy") != 0) {
    taken |= DA_KERNEL_STRIDED_INPUTS | DA_KERNEL_STRIDED_OUTPUTS;
  }
  if (!configuration.in_place) taken |= DA_KERNEL_IN_PLACE | DA_KERNEL_IN_PLACE_PAIRS;
  return reference.flags & ~taken;
}

bool is_hidden(const char *op) {
  for (const std::string &pattern : runtime().configuration.hidden_ops) {
    if (fnmatch(pattern.c_str(), op, 0) == 0) return true;
  }
  return false;
}

template <size_t place>
da_error *launch(void *state, const da_kernel_context *context, const da_tensor *const *inputs,
                 uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                 const void *attributes) {
  const da_kernel &kernel = reference_kernel(place);
  return guarded(kernel.op, [&] {
    launch_kernel(kernel, claimed_flags(place), state, context, inputs, input_count, outputs, output_count,
                  attributes);
  });
}

template <size_t place>
da_error *prepare(da_device *device, const da_kernel *, const da_tensor *const *inputs, uint32_t input_count,
                  const da_tensor *const *outputs, uint32_t output_count, const void *attributes,
                  void **out_state) {
  const da_kernel &kernel = reference_kernel(place);
  return guarded(kernel.op, [&] {
    device_of(device);
    *out_state =
        prepare_kernel(kernel, claimed_flags(place), inputs, input_count, outputs, output_count, attributes);
  });
}

template <size_t place>
da_error *supports(da_device *device, const da_kernel *, const da_tensor *const *inputs, uint32_t input_count,
                   const da_tensor *const *outputs, uint32_t output_count, const void *attributes,
                   int32_t *out_supported) {
  const da_kernel &kernel = reference_kernel(place);
  return guarded(kernel.op, [&] {
    device_of(device);
    throw_if(kernel.supports(nullptr, &kernel, inputs, input_count, outputs, output_count, attributes,
                             out_supported));
  });
}

template <size_t place>
void wrap_functions(da_kernel &kernel) {
  kernel.launch = launch<place>;
  kernel.prepare = prepare<place>;
  kernel.release = release_state;
  if (kernel.supports != nullptr) kernel.supports = supports<place>;
}

using Wrapper = void (*)(da_kernel &kernel);

template <size_t... place>
constexpr std::array<Wrapper, sizeof...(place)> all_wrappers(std::index_sequence<place...>) {
  return {{wrap_functions<place>...}};
}

std::vector<da_kernel> make_kernels() {
  constexpr std::array<Wrapper, kMostKernels> wrappers =
      all_wrappers(std::make_index_sequence<kMostKernels>());
  std::vector<da_kernel> kernels;
  for (size_t place = 0; place < reference_list().count; ++place) {
    const da_kernel &reference = reference_kernel(place);
    if (is_hidden(reference.op)) continue;
    da_kernel kernel{};
    kernel.struct_size = sizeof(kernel);
    kernel.op = reference.op;
    bool empty = false;
    for (int variable = 0; variable < DA_MAX_TYPE_VARIABLES; ++variable) {
      kernel.dtypes[variable] = reference.dtypes[variable] & runtime().configuration.dtypes;
      empty |= reference.dtypes[variable] != 0 && kernel.dtypes[variable] == 0;
    }
    if (empty) continue;
    kernel.flags = claimed_flags(place);
    kernel.priority = reference.priority;
    kernel.supports = reference.supports;
    wrappers[place](kernel);
    kernels.push_back(kernel);
  }
  return kernels;
}

da_error *list(da_device *device, da_kernel_list *out_list) {
  return guarded("list", [&] {
    device_of(device);
    check_size("da_kernel_list", out_list->struct_size, DA_KERNEL_LIST_MIN_SIZE);
    // A list lives for ever, and there is one for each configuration that the process has had.
    static std::mutex lock;
    static auto *const lists = new std::deque<std::pair<const Runtime *, std::vector<da_kernel>>>();
    std::lock_guard<std::mutex> guard(lock);
    if (lists->empty() || lists->back().first != &runtime()) lists->emplace_back(&runtime(), make_kernels());
    const std::vector<da_kernel> &kernels = lists->back().second;
    out_list->first = kernels.data();
    out_list->count = kernels.size();
    out_list->stride = sizeof(da_kernel);
  });
}

}  // namespace

void throw_if(da_error *error) {
  if (error == nullptr) return;
  const da_error_interface &errors = reference_cpu::error_interface;
  const Failure failure(errors.code(error), errors.message(error));
  errors.destroy(error);
  throw failure;
}

const da_kernel_interface kernel_interface = {sizeof(da_kernel_interface), nullptr,
                                              DA_KERNEL_INTERFACE_VERSION, 0, list};

}  // namespace simulated
