// What faults are made of: the good plugin's tables, a copy of them that the host is given and a fault
// changes, and kernels that can be stood in front of. One fault is installed, once, when the library is asked
// who it is.
#ifndef FAULTY_FAULTS_HPP
#define FAULTY_FAULTS_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device_api/capture.h"
#include "device_api/device_api.h"
#include "device_api/random.h"
#include "device_api/stream.h"

namespace faulty {

// The good plugin behind a fault: plain memory and no queues, or memory out of reach and work that waits.
enum class Base { cpu, simulated };

struct Tables {
  da_plugin plugin;
  da_error_interface errors;
  da_device_interface device;
  da_memory_interface memory;
  da_kernel_interface kernel;
  da_stream_interface stream;
  da_random_interface random;
  da_capture_interface capture;
};
extern Tables good;            // as the base has them; never changed
extern Tables given;           // as the host gets them
extern da_plugin_entry entry;  // what the exported symbol does, once the tables are made

// A fault registers itself; `install` changes `given`, or stands in front of kernels.
struct Fault {
  Fault(Base base, const char *name, void (*install)());
  Base base;
  const char *name;
  void (*install)();
};
const std::vector<const Fault *> &all_faults();

#define FAULT(base, name)                                                  \
  static void install_##name();                                            \
  static const Fault registered_##name(Base::base, #name, install_##name); \
  static void install_##name()

// An error that the base's own functions read and destroy.
da_error *make_error(int32_t code, const std::string &message);

// ---- kernels

using Tensors = const da_tensor *const *;

// A copy of a descriptor that may be changed.
struct Altered {
  explicit Altered(const da_tensor &original);
  Altered(const Altered &other) : Altered(other.tensor) {}
  Altered &operator=(const Altered &) = delete;
  void make_dense();
  int32_t rank() const { return tensor.dl.ndim; }
  da_tensor tensor;
  int64_t shape[DA_MAX_RANK], strides[DA_MAX_RANK];
};

// One launch of a kernel, on its way to the good kernel.
struct Launch {
  const da_kernel *kernel;
  void *state;
  const da_kernel_context *context;
  Tensors inputs;
  uint32_t input_count;
  Tensors outputs;
  uint32_t output_count;
  const void *attributes;

  const da_tensor &in(uint32_t number = 0) const { return *inputs[number]; }
  const da_tensor &out(uint32_t number = 0) const { return *outputs[number]; }
  int32_t dtype() const { return input_count > 0 ? inputs[input_count - 1]->dtype : outputs[0]->dtype; }
  // The good kernel on what the host gave.
  da_error *run() const;
  // The good kernel on other descriptors, without what was prepared for these.
  da_error *run_on(const std::vector<const da_tensor *> &inputs,
                   const std::vector<const da_tensor *> &outputs) const;
  da_error *run_on(const std::vector<const da_tensor *> &inputs) const {
    return run_on(inputs, {outputs[0]});
  }
};
using Body = std::function<da_error *(const Launch &)>;

// Stands in front of every kernel of an op.
void stand_before(const char *op, Body body);
// A kernel of the plugin's list, and the list itself: claims may be changed there.
std::vector<da_kernel> &kernels();
da_kernel &kernel_of(const char *op);
// Offers a further kernel, for an op that the base composes.
void offer(const char *op, uint64_t dtypes, uint64_t flags, Body body);

int64_t count_of(const da_tensor &tensor);
int64_t item_bytes(const da_tensor &tensor);
// The address of the element at a place in row-major order. Of the CPU's memory only.
char *address_of(const da_tensor &tensor, int64_t place);
inline bool dense(const da_tensor &tensor) {
  Altered flat(tensor);
  flat.make_dense();
  for (int32_t axis = 0; axis < flat.rank(); ++axis) {
    if (tensor.dl.shape[axis] > 1 && tensor.dl.strides[axis] != flat.strides[axis]) return false;
  }
  return true;
}

// The elements of a tensor in row-major order, whatever its strides.
template <class T>
class Elements {
 public:
  explicit Elements(const da_tensor &tensor) : tensor_(tensor), count_(count_of(tensor)) {}
  int64_t count() const { return count_; }
  T &operator[](int64_t place) const { return *reinterpret_cast<T *>(address_of(tensor_, place)); }

 private:
  const da_tensor &tensor_;
  const int64_t count_;
};

// An op of one dtype computed anew, element by element, from copies of its operands.
template <class In, class Out, class Function>
void compute(const Launch &launch, Function function) {
  const Elements<Out> out(launch.out());
  std::vector<Out> results(static_cast<size_t>(out.count()));
  for (int64_t i = 0; i < out.count(); ++i) {
    const In first = Elements<In>(launch.in(0))[i];
    const In second = launch.input_count > 1 ? Elements<In>(launch.in(1))[i] : first;
    results[static_cast<size_t>(i)] = function(first, second);
  }
  for (int64_t i = 0; i < out.count(); ++i) out[i] = results[static_cast<size_t>(i)];
}

// Replaces an op for one dtype by a formula; other dtypes stay as they are.
template <class In, class Out, class Function>
void replace(const char *op, int32_t dtype, Function function) {
  stand_before(op, [dtype, function](const Launch &launch) -> da_error * {
    if (launch.dtype() != dtype) return launch.run();
    compute<In, Out>(launch, function);
    return nullptr;
  });
}

// Runs the good kernel, then spoils its result, for one dtype.
template <class Function>
void spoil(const char *op, int32_t dtype, Function function) {
  stand_before(op, [dtype, function](const Launch &launch) -> da_error * {
    da_error *error = launch.run();
    if (error == nullptr && launch.dtype() == dtype) function(launch);
    return error;
  });
}

// The rows of a tensor: the length of its last axis, and how many there are.
inline int64_t row_length(const da_tensor &tensor) { return tensor.dl.shape[tensor.dl.ndim - 1]; }
inline int64_t row_count(const da_tensor &tensor) {
  return row_length(tensor) == 0 ? 0 : count_of(tensor) / row_length(tensor);
}

}  // namespace faulty

#endif
