// The list of faults, and what stands between the host's launches and the good kernels.
#include "faults.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "plugins/simulated/error.hpp"
#include "reference_cpu/error.hpp"

namespace faulty {
namespace {

constexpr size_t kMostBodies = 32;

struct Stand {
  da_kernel good;
  Body body;
};

std::vector<const Fault *> &registry() {
  static std::vector<const Fault *> faults;
  return faults;
}

std::array<Stand, kMostBodies> stands;
size_t used_stands = 0;

// A launch function knows nothing but its number.
template <size_t number>
da_error *launch(void *state, const da_kernel_context *context, Tensors inputs, uint32_t input_count,
                 Tensors outputs, uint32_t output_count, const void *attributes) {
  const Stand &stand = stands[number];
  return stand.body({&stand.good, state, context, inputs, input_count, outputs, output_count, attributes});
}

template <size_t... number>
constexpr std::array<da_kernel_launch, kMostBodies> all_launches(std::index_sequence<number...>) {
  return {{launch<number>...}};
}

da_kernel_launch stand(const da_kernel &kernel, Body body) {
  static constexpr auto launches = all_launches(std::make_index_sequence<kMostBodies>());
  if (used_stands == kMostBodies) std::abort();
  stands[used_stands] = {kernel, std::move(body)};
  return launches[used_stands++];
}

}  // namespace

Tables good, given;

Fault::Fault(Base base, const char *name, void (*install)()) : base(base), name(name), install(install) {
  registry().push_back(this);
}

const std::vector<const Fault *> &all_faults() { return registry(); }

da_error *make_error(int32_t code, const std::string &message) {
  const bool cpu = good.errors.destroy == reference_cpu::error_interface.destroy;
  return (cpu ? reference_cpu::make_error : simulated::make_error)(code, "faulty", message.c_str());
}

// ---- descriptors

Altered::Altered(const da_tensor &original) : tensor(original) {
  const size_t bytes = static_cast<size_t>(rank()) * sizeof(int64_t);
  if (bytes != 0) std::memcpy(shape, original.dl.shape, bytes);
  if (bytes != 0) std::memcpy(strides, original.dl.strides, bytes);
  tensor.dl.shape = shape;
  tensor.dl.strides = strides;
}

void Altered::make_dense() {
  int64_t step = 1;
  for (int32_t axis = rank() - 1; axis >= 0; --axis) {
    strides[axis] = step;
    step *= shape[axis];
  }
}

int64_t count_of(const da_tensor &tensor) {
  int64_t count = 1;
  for (int32_t axis = 0; axis < tensor.dl.ndim; ++axis) count *= tensor.dl.shape[axis];
  return count;
}

int64_t item_bytes(const da_tensor &tensor) { return tensor.dl.dtype.bits / 8; }

char *address_of(const da_tensor &tensor, int64_t place) {
  int64_t offset = 0;
  for (int32_t axis = tensor.dl.ndim - 1; axis >= 0; --axis) {
    offset += place % tensor.dl.shape[axis] * tensor.dl.strides[axis];
    place /= tensor.dl.shape[axis];
  }
  return static_cast<char *>(tensor.dl.data) + tensor.dl.byte_offset + offset * item_bytes(tensor);
}

// ---- kernels

da_error *Launch::run() const {
  return kernel->launch(state, context, inputs, input_count, outputs, output_count, attributes);
}

da_error *Launch::run_on(const std::vector<const da_tensor *> &other_inputs,
                         const std::vector<const da_tensor *> &other_outputs) const {
  return kernel->launch(nullptr, context, other_inputs.data(), input_count, other_outputs.data(),
                        output_count, attributes);
}

std::vector<da_kernel> &kernels() {
  static std::vector<da_kernel> *const list = [] {
    da_kernel_list made{};
    made.struct_size = sizeof(made);
    // The reference CPU's own list, which needs no device; only faults of that base change kernels.
    da_error *error = good.kernel.list(nullptr, &made);
    if (error != nullptr) std::abort();
    return new std::vector<da_kernel>(made.first, made.first + made.count);
  }();
  return *list;
}

da_kernel &kernel_of(const char *op) {
  for (da_kernel &kernel : kernels()) {
    if (std::strcmp(kernel.op, op) == 0) return kernel;
  }
  std::fprintf(stderr, "plugins/faulty: the good plugin has no kernel for %s\n", op);
  std::abort();
}

void stand_before(const char *op, Body body) {
  da_kernel &kernel = kernel_of(op);
  kernel.launch = stand(kernel, std::move(body));
}

void offer(const char *op, uint64_t dtypes, uint64_t flags, Body body) {
  da_kernel kernel{};
  kernel.struct_size = sizeof(kernel);
  kernel.op = op;
  kernel.dtypes[0] = dtypes;
  kernel.flags = flags;
  kernel.launch = stand(kernel, std::move(body));
  kernels().push_back(kernel);
}

}  // namespace faulty
