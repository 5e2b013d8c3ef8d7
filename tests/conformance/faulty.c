/* A plugin with one fault, chosen at compile time with -DFAULT_<name>; without one it is good.
 *
 * It stands in front of the plugin template, whose entry is compiled as `good_plugin`, and replaces what the
 * fault needs: a slot of a table, or the launch of a kernel. Each fault is one that real back ends have had.
 */
#define _DEFAULT_SOURCE /* usleep */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device_api/device_api.h"
#include "device_api/layout.h"
#include "device_api/ops.h"

const da_plugin *good_plugin(const da_plugin_request *request);

#if defined(__GNUC__)
#define MAYBE_UNUSED __attribute__((unused))
#else
#define MAYBE_UNUSED
#endif

#define MAX_KERNELS 256

static da_plugin descriptor;
static da_kernel kernels[MAX_KERNELS];
static uint64_t kernel_count;
static da_kernel_interface kernel_interface;
static da_memory_interface memory_interface;
static da_device_interface device_interface;
static da_error_interface error_interface;
static const da_plugin *good;

/* ---- what faults are made of -------------------------------------------------------------------- */

static da_kernel_launch real_launch[MAX_KERNELS];

MAYBE_UNUSED static uint64_t find(const char *op) {
  for (uint64_t i = 0; i < kernel_count; ++i) {
    if (strcmp(kernels[i].op, op) == 0) return i;
  }
  abort();
}

MAYBE_UNUSED static void replace(const char *op, da_kernel_launch launch) {
  kernels[find(op)].launch = launch;
}

MAYBE_UNUSED static da_error *call(const char *op, const da_kernel_context *context,
                                   const da_tensor *const *inputs, uint32_t input_count,
                                   const da_tensor *const *outputs, uint32_t output_count,
                                   const void *attributes) {
  return real_launch[find(op)](NULL, context, inputs, input_count, outputs, output_count, attributes);
}

MAYBE_UNUSED static int64_t elements(const da_tensor *tensor) {
  int64_t count = 1;
  for (int32_t axis = 0; axis < tensor->dl.ndim; ++axis) count *= tensor->dl.shape[axis];
  return count;
}

MAYBE_UNUSED static void *start(const da_tensor *tensor) {
  return (char *)tensor->dl.data + tensor->dl.byte_offset;
}

/* The parameters of a launch, and the same again as arguments. */
#define PARAMETERS                                                                                     \
  void *state, const da_kernel_context *context, const da_tensor *const *inputs, uint32_t input_count, \
      const da_tensor *const *outputs, uint32_t output_count, const void *attributes
#define ARGUMENTS context, inputs, input_count, outputs, output_count, attributes
#define LAUNCH(name) MAYBE_UNUSED static da_error *name(PARAMETERS)
#define IGNORE()                                                                                  \
  (void)state, (void)context, (void)inputs, (void)input_count, (void)outputs, (void)output_count, \
      (void)attributes

/* ---- faults of kernels --------------------------------------------------------------------------- */

#if defined(FAULT_ignores_strides)
/* Every operand is read as if it were dense. */
LAUNCH(add) {
  (void)state;
  da_tensor dense[3];
  int64_t strides[3][DA_MAX_RANK];
  const da_tensor *given[3] = {inputs[0], inputs[1], outputs[0]};
  const da_tensor *changed[3];
  for (int i = 0; i < 3; ++i) {
    dense[i] = *given[i];
    int64_t step = 1;
    for (int32_t axis = dense[i].dl.ndim - 1; axis >= 0; --axis) {
      strides[i][axis] = step;
      step *= dense[i].dl.shape[axis];
    }
    if (i < 2) dense[i].dl.strides = strides[i];
    changed[i] = &dense[i];
  }
  return call("add", context, changed, input_count, changed + 2, output_count, attributes);
}
static void install(void) { replace("add", add); }

#elif defined(FAULT_vector_tail)
/* The last element of a length that is no multiple of eight is never computed. */
LAUNCH(exp_op) {
  (void)state;
  const da_tensor *out = outputs[0];
  int64_t count = elements(out);
  int tail = out->dtype == DA_FLOAT32 && out->dl.ndim == 1 && count > 8 && count % 8 != 0;
  float *last = (float *)start(out) + (tail ? (count - 1) * out->dl.strides[0] : 0);
  float before = tail ? *last : 0;
  da_error *error = call("exp", ARGUMENTS);
  if (tail) *last = before;
  return error;
}
static void install(void) { replace("exp", exp_op); }

#elif defined(FAULT_loses_nan)
/* maximum as the C idiom a > b ? a : b. */
LAUNCH(maximum) {
  (void)state;
  da_error *error = call("maximum", ARGUMENTS);
  const da_tensor *out = outputs[0];
  if (out->dtype != DA_FLOAT32 || out->dl.ndim != 1 || out->dl.strides[0] != 1) return error;
  if (inputs[0]->dl.strides[0] != 1 || inputs[1]->dl.strides[0] != 1) return error;
  const float *a = start(inputs[0]), *b = start(inputs[1]);
  float *c = start(out);
  if (c == a || c == b) return error;
  for (int64_t i = 0; i < elements(out); ++i) c[i] = a[i] > b[i] ? a[i] : b[i];
  return error;
}
static void install(void) { replace("maximum", maximum); }

#elif defined(FAULT_writes_past_the_end)
LAUNCH(square) {
  (void)state;
  da_error *error = call("square", ARGUMENTS);
  const da_tensor *out = outputs[0];
  if (out->dtype == DA_FLOAT32 && out->dl.ndim == 1 && out->dl.strides[0] == 1) {
    ((float *)start(out))[elements(out)] = 0;
  }
  return error;
}
static void install(void) { replace("square", square); }

#elif defined(FAULT_changes_its_input)
LAUNCH(negative) {
  (void)state;
  da_error *error = call("negative", ARGUMENTS);
  if (elements(inputs[0]) > 4 && start(inputs[0]) != start(outputs[0])) *(char *)start(inputs[0]) ^= 1;
  return error;
}
static void install(void) { replace("negative", negative); }

#elif defined(FAULT_crashes)
LAUNCH(sqrt_op) {
  IGNORE();
  volatile int *nowhere = NULL;
  *nowhere = 1;
  return NULL;
}
static void install(void) { replace("sqrt", sqrt_op); }

#elif defined(FAULT_hangs)
LAUNCH(sqrt_op) {
  IGNORE();
  while (outputs != NULL) usleep(1000);
  return NULL;
}
static void install(void) { replace("sqrt", sqrt_op); }

#elif defined(FAULT_exits)
LAUNCH(sqrt_op) {
  IGNORE();
  exit(0);
}
static void install(void) { replace("sqrt", sqrt_op); }

#elif defined(FAULT_floods_the_log)
LAUNCH(sqrt_op) {
  (void)state;
  char line[4096];
  memset(line, 'x', sizeof(line));
  line[sizeof(line) - 1] = '\n';
  for (int i = 0; i < 2000; ++i) fwrite(line, 1, sizeof(line), stdout);
  fflush(stdout);
  fputs("the last words\n", stderr);
  da_error *error = call("sqrt", ARGUMENTS);
  if (outputs[0]->dtype == DA_FLOAT32) *(float *)start(outputs[0]) += 1;
  return error;
}
static void install(void) { replace("sqrt", sqrt_op); }

#elif defined(FAULT_claims_too_much)
/* float16 is in the list, and the kernel does not know it. */
static void install(void) { kernels[find("add")].dtypes[0] |= DA_DTYPE_BIT(DA_FLOAT16); }

#elif defined(FAULT_declines_its_claims)
static da_error *no(da_device *device, const struct da_kernel *kernel, const da_tensor *const *inputs,
                    uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                    const void *attributes, int32_t *out_supported) {
  (void)device, (void)kernel, (void)inputs, (void)input_count, (void)outputs, (void)output_count;
  (void)attributes;
  *out_supported = 0;
  return NULL;
}
static void install(void) { kernels[find("add")].supports = no; }

#elif defined(FAULT_denies_and_works)
/* Strided additions are turned down, and right. */
static da_error *dense(da_device *device, const struct da_kernel *kernel, const da_tensor *const *inputs,
                       uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                       const void *attributes, int32_t *out_supported) {
  (void)device, (void)kernel, (void)input_count, (void)outputs, (void)output_count, (void)attributes;
  *out_supported = inputs[0]->dl.ndim < 2 || inputs[0]->dl.strides[1] == 1;
  return NULL;
}
static void install(void) { kernels[find("add")].supports = dense; }

#elif defined(FAULT_claims_an_unknown_op)
static void install(void) { kernels[find("erf")].op = "vendor_magic"; }

#elif defined(FAULT_claims_what_nobody_judges)
static void install(void) { kernels[find("erf")].op = "qr"; }

#elif defined(FAULT_none_with_softmax) || defined(FAULT_softmax_of_the_last_axis)
/* A composite op as a native kernel. */
LAUNCH(softmax) {
  (void)state, (void)context, (void)input_count, (void)output_count;
  const da_dl_tensor *in = &inputs[0]->dl;
  int64_t axis = ((const da_attributes_softmax *)attributes)->axis;
#ifdef FAULT_softmax_of_the_last_axis
  axis = in->ndim - 1;
#endif
  int64_t length = in->shape[axis], inner = 1;
  for (int32_t i = (int32_t)axis + 1; i < in->ndim; ++i) inner *= in->shape[i];
  const float *x = start(inputs[0]);
  float *y = start(outputs[0]);
  int64_t lines = elements(inputs[0]) / length;
  for (int64_t line = 0; line < lines; ++line) {
    int64_t first = line / inner * inner * length + line % inner;
    float top = -INFINITY;
    double sum = 0;
    for (int64_t i = 0; i < length; ++i) top = fmaxf(top, x[first + i * inner]);
    for (int64_t i = 0; i < length; ++i) sum += exp((double)x[first + i * inner] - top);
    for (int64_t i = 0; i < length; ++i) {
      y[first + i * inner] = (float)(exp((double)x[first + i * inner] - top) / sum);
    }
  }
  return NULL;
}
static void install(void) {
  da_kernel kernel = kernels[find("exp")];
  kernel.op = "softmax";
  kernel.dtypes[0] = DA_DTYPE_BIT(DA_FLOAT32);
  kernel.flags = DA_KERNEL_DETERMINISTIC;
  kernel.launch = softmax;
  kernels[kernel_count++] = kernel;
}

#elif defined(FAULT_lacks_a_family)
static void install(void) {
  uint64_t place = find("compact");
  kernels[place] = kernels[kernel_count - 1];
  real_launch[place] = real_launch[kernel_count - 1];
  --kernel_count;
}

#elif defined(FAULT_claims_nothing)
static void install(void) { kernel_count = 0; }

#elif defined(FAULT_empty_inner_product)
/* k = 0: the loop never runs, and the output keeps what stood there. */
LAUNCH(batch_matmul) {
  (void)state;
  if (inputs[0]->dl.shape[inputs[0]->dl.ndim - 1] == 0) return NULL;
  return call("batch_matmul", ARGUMENTS);
}
static void install(void) { replace("batch_matmul", batch_matmul); }

#elif defined(FAULT_clamps_indices)
LAUNCH(gather_rows) {
  (void)state;
  da_error *error = call("gather_rows", ARGUMENTS);
  if (error != NULL) {
    good->errors->destroy(error);
    memset(start(outputs[0]), 0, (size_t)elements(outputs[0]) * outputs[0]->dl.dtype.bits / 8);
  }
  return NULL;
}
static void install(void) { replace("gather_rows", gather_rows); }

#elif defined(FAULT_unstable_sort)
/* Equal neighbours change places. */
LAUNCH(argsort_last) {
  (void)state;
  da_error *error = call("argsort_last", ARGUMENTS);
  if (error != NULL || inputs[0]->dtype != DA_INT32) return error;
  int64_t length = inputs[0]->dl.shape[inputs[0]->dl.ndim - 1];
  for (int64_t row = 0; row < elements(inputs[0]) / (length > 0 ? length : 1); ++row) {
    const int32_t *x = (const int32_t *)start(inputs[0]) + row * length;
    int64_t *order = (int64_t *)start(outputs[0]) + row * length;
    for (int64_t i = 0; i + 1 < length; ++i) {
      if (x[order[i]] == x[order[i + 1]]) {
        int64_t kept = order[i];
        order[i] = order[i + 1];
        order[i + 1] = kept;
      }
    }
  }
  return NULL;
}
static void install(void) { replace("argsort_last", argsort_last); }

#elif defined(FAULT_naive_sum)
/* One accumulator in the type itself: a million terms lose half their digits. */
LAUNCH(reduce_sum) {
  (void)state;
  if (inputs[0]->dtype != DA_FLOAT32) return call("reduce_sum", ARGUMENTS);
  int64_t length = inputs[0]->dl.shape[inputs[0]->dl.ndim - 1];
  const float *x = start(inputs[0]);
  float *out = start(outputs[0]);
  for (int64_t row = 0; row < elements(outputs[0]); ++row) {
    volatile float sum = 0;
    for (int64_t i = 0; i < length; ++i) sum += x[row * length + i];
    out[row] = sum;
  }
  return NULL;
}
static void install(void) { replace("reduce_sum", reduce_sum); }

#elif defined(FAULT_random_bits_in_results)
LAUNCH(multiply) {
  (void)state;
  static unsigned calls;
  da_error *error = call("multiply", ARGUMENTS);
  if (outputs[0]->dtype == DA_FLOAT32 && calls++ % 2 && elements(outputs[0]) > 1000) {
    ((uint32_t *)start(outputs[0]))[7] ^= 1;
  }
  return error;
}
static void install(void) { replace("multiply", multiply); }

#elif defined(FAULT_inexact)
/* An approximation good to six digits where the op set allows a few ulps. */
LAUNCH(exp_op) {
  (void)state;
  da_error *error = call("exp", ARGUMENTS);
  const da_tensor *out = outputs[0];
  if (out->dtype == DA_FLOAT32 && out->dl.ndim == 1) {
    for (int64_t i = 0; i < elements(out); ++i) ((float *)start(out))[i * out->dl.strides[0]] *= 1.000002f;
  }
  return error;
}
static void install(void) { replace("exp", exp_op); }

#elif defined(FAULT_clears_before_computing)
/* Wrong only where the output is one of the inputs. */
LAUNCH(subtract) {
  (void)state;
  if (start(inputs[1]) == start(outputs[0]) && outputs[0]->dtype == DA_FLOAT32) {
    *(float *)start(outputs[0]) = 0;
  }
  return call("subtract", ARGUMENTS);
}
static void install(void) { replace("subtract", subtract); }

#elif defined(FAULT_flushes_subnormals)
LAUNCH(multiply) {
  (void)state;
  da_error *error = call("multiply", ARGUMENTS);
  const da_tensor *out = outputs[0];
  if (out->dtype != DA_FLOAT32 || out->dl.ndim != 1) return error;
  for (int64_t i = 0; i < elements(out); ++i) {
    float *value = (float *)start(out) + i * out->dl.strides[0];
    if (fabsf(*value) < 0x1p-126f) *value = copysignf(0, *value);
  }
  return error;
}
static void install(void) { replace("multiply", multiply); }

#elif defined(FAULT_works_only_once_warm)
/* Fails in the company of other cases, passes alone. */
LAUNCH(floor_op) {
  (void)state;
  static unsigned calls;
  da_error *error = call("floor", ARGUMENTS);
  if (++calls > 14 && outputs[0]->dtype == DA_FLOAT64) *(double *)start(outputs[0]) += 1;
  return error;
}
static void install(void) { replace("floor", floor_op); }

/* ---- faults of the plugin ------------------------------------------------------------------------- */

#elif defined(FAULT_leaks_errors)
static void keep(da_error *error) { (void)error; }
static void install(void) { error_interface.destroy = keep; }

#elif defined(FAULT_leaks_memory)
static da_error *keep(da_device *device, int32_t kind, void *handle) {
  (void)device, (void)kind, (void)handle;
  return NULL;
}
static void install(void) { memory_interface.free = keep; }

#elif defined(FAULT_short_copy)
static da_error *copy(da_device *device, da_stream *stream, const da_copy *copy) {
  da_copy shorter = *copy;
  shorter.bytes -= shorter.bytes % 4;
  return ((const da_memory_interface *)good->get_interface(DA_MEMORY_INTERFACE, 1))
      ->copy(device, stream, &shorter);
}
static void install(void) { memory_interface.copy = copy; }

#elif defined(FAULT_properties_past_the_end)
/* A field that this host has no room for. */
static da_error *properties(da_device *device, da_device_properties *out) {
  memset((char *)out + out->struct_size, 0, 8);
  return ((const da_device_interface *)good->get_interface(DA_DEVICE_INTERFACE, 1))->properties(device, out);
}
static void install(void) { device_interface.properties = properties; }

#elif defined(FAULT_exits_when_memory_is_out)
static da_error *allocate(da_device *device, int32_t kind, uint64_t bytes, void **out_handle) {
  if (bytes > (UINT64_C(1) << 40)) exit(1);
  return ((const da_memory_interface *)good->get_interface(DA_MEMORY_INTERFACE, 1))
      ->allocate(device, kind, bytes, out_handle);
}
static void install(void) { memory_interface.allocate = allocate; }

#elif defined(FAULT_answers_unknown_ids)
static const void *(*known)(const char *, uint32_t);
static const void *answer(const char *id, uint32_t version) {
  const void *table = known(id, version);
  return table != NULL || strncmp(id, "device_api.", 11) == 0 ? table : &memory_interface;
}
static void install(void) {
  known = descriptor.get_interface;
  descriptor.get_interface = answer;
}

#elif defined(FAULT_second_shutdown_fails)
static da_error *end(void) {
  static int calls;
  if (calls++) abort();
  return NULL;
}
static void install(void) { descriptor.shutdown = end; }

#elif defined(FAULT_has_no_device)
static da_error *count(uint32_t *out_count) {
  *out_count = 0;
  return NULL;
}
static void install(void) { device_interface.count = count; }

#elif defined(FAULT_crashes_at_start)
static da_error *begin(const da_host *host) {
  (void)host;
  abort();
}
static void install(void) { descriptor.initialize = begin; }

#elif defined(FAULT_null_slot)
static void install(void) { memory_interface.copy = NULL; }

#elif defined(FAULT_noisy_query)
static void install(void) {
  puts("hello from the vendor");
  fflush(stdout);
}

#else
static void install(void) {}
#endif

/* ---- the plugin ------------------------------------------------------------------------------------- */

static da_error *list(da_device *device, da_kernel_list *out_list) {
  (void)device;
  out_list->first = kernels;
  out_list->count = kernel_count;
  out_list->stride = sizeof(da_kernel);
  return NULL;
}

static const void *get_interface(const char *id, uint32_t min_version) {
  if (min_version > 1) return NULL;
  if (strcmp(id, DA_KERNEL_INTERFACE) == 0) return &kernel_interface;
  if (strcmp(id, DA_MEMORY_INTERFACE) == 0) return &memory_interface;
  if (strcmp(id, DA_DEVICE_INTERFACE) == 0) return &device_interface;
  return NULL;
}

static void build(const da_plugin_request *request) {
  good = good_plugin(request);
  descriptor = *good;
  device_interface = *(const da_device_interface *)good->get_interface(DA_DEVICE_INTERFACE, 1);
  memory_interface = *(const da_memory_interface *)good->get_interface(DA_MEMORY_INTERFACE, 1);
  kernel_interface = *(const da_kernel_interface *)good->get_interface(DA_KERNEL_INTERFACE, 1);
  error_interface = *good->errors;
  da_kernel_list real;
  memset(&real, 0, sizeof(real));
  real.struct_size = sizeof(real);
  kernel_interface.list(NULL, &real);
  kernel_count = real.count;
  for (uint64_t i = 0; i < kernel_count; ++i) {
    kernels[i] = real.first[i];
    real_launch[i] = kernels[i].launch;
  }
  kernel_interface.list = list;
  descriptor.get_interface = get_interface;
  descriptor.errors = &error_interface;
  install();
}

DA_EXPORT const da_plugin *device_api_plugin(const da_plugin_request *request) {
  if (descriptor.magic == 0) build(request);
  return &descriptor;
}
