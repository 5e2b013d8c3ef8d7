/* A small whole plugin that declares custom ops, for the tests that compile it. Computations are scalar, on
 * float32 and float64. -DFAULT=... makes one of its declarations, shape functions or kernels wrong.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device_api/device_api.h"

#ifndef ACME_TYPE
#define ACME_TYPE "acme"
#endif
#define FAULT_NONE 0
#define FAULT_TWICE 1
#define FAULT_RESERVED 2
#define FAULT_UNKNOWN_GRADIENT 3
#define FAULT_ARITY 4
#define FAULT_GRADIENT_OUTPUT 5
#define FAULT_SIZE 6
#define FAULT_SCHEMA 7
#define FAULT_NULL_SCHEMA 8
#define FAULT_TYPES 9
#define FAULT_NO_TYPES 10
#define FAULT_AMP 11
#define FAULT_STRIDE 12
#define FAULT_LIST 13
#define FAULT_OTHER_BETA 14
#define FAULT_ENDLESS_LIST 15
#define FAULT_LIST_GRADIENT 16
#define FAULT_INFER_RANK 20
#define FAULT_INFER_SIZE 21
#define FAULT_INFER_DTYPE 22
#define FAULT_INFER_FAILS 23
#define FAULT_INFER_TOO_LARGE 24
#define FAULT_UNWRITTEN 30
#define FAULT_OVERRUN 31
#define FAULT_SLOPE 32
#ifndef FAULT
#define FAULT FAULT_NONE
#endif

struct da_error {
  int32_t code;
  const char *message;
};
struct da_device {
  int opened;
};

static da_error out_of_memory = {DA_STATUS_OUT_OF_MEMORY, "acme has no more memory"};
static da_error invalid = {DA_STATUS_INVALID_ARGUMENT, "acme knows no such device, kind or copy"};
static da_error not_vectors = {DA_STATUS_INVALID_ARGUMENT, "both operands are vectors"};
#if FAULT == FAULT_INFER_FAILS || FAULT == FAULT_LIST
static da_error broken = {DA_STATUS_INTERNAL, "acme is out of order"};
#endif
static da_device the_device;

static int32_t error_code(const da_error *error) { return error->code; }
static const char *error_message(const da_error *error) { return error->message; }
static void error_destroy(da_error *error) { (void)error; }
static const da_error_interface errors = {sizeof(da_error_interface), NULL, error_code, error_message,
                                          error_destroy};

/* --- device and memory --- */

static da_error *device_count(uint32_t *out_count) {
  *out_count = 1;
  return NULL;
}

static da_error *device_open(uint32_t index, da_device **out_device) {
  if (index != 0) return &invalid;
  *out_device = &the_device;
  return NULL;
}

static da_error *device_close(da_device *device) {
  (void)device;
  return NULL;
}

static da_error *device_properties(da_device *device, da_device_properties *out_properties) {
  (void)device;
  out_properties->name = "Acme";
  out_properties->total_memory = (uint64_t)1 << 30;
  out_properties->allocation_alignment = 16;
  out_properties->dtypes = DA_DTYPE_BIT(DA_FLOAT32) | DA_DTYPE_BIT(DA_FLOAT64) | DA_DTYPE_BIT(DA_INT64);
  out_properties->max_rank = 8;
  out_properties->dl_device_type = 12;
  return NULL;
}

static da_error *memory_allocate(da_device *device, int32_t kind, uint64_t bytes, void **out_handle) {
  (void)device;
  if (kind != DA_MEMORY_DEVICE) return &invalid;
  *out_handle = malloc(bytes > 0 ? (size_t)bytes : 1);
  return *out_handle == NULL ? &out_of_memory : NULL;
}

static da_error *memory_free(da_device *device, int32_t kind, void *handle) {
  (void)device, (void)kind;
  free(handle);
  return NULL;
}

static da_error *memory_copy(da_device *device, da_stream *stream, const da_copy *copy) {
  (void)device, (void)stream;
  if (copy->kind < DA_COPY_HOST_TO_DEVICE || copy->kind > DA_COPY_PEER) return &invalid;
  if (copy->bytes > 0) {
    memmove((char *)copy->destination + copy->destination_offset,
            (const char *)copy->source + copy->source_offset, (size_t)copy->bytes);
  }
  return NULL;
}

/* --- elements --- */

static int64_t count_of(const da_tensor *tensor) {
  int64_t count = 1;
  for (int32_t axis = 0; axis < tensor->dl.ndim; axis++) count *= tensor->dl.shape[axis];
  return count;
}

static void *start_of(const da_tensor *tensor) { return (char *)tensor->dl.data + tensor->dl.byte_offset; }

static double get(const da_tensor *tensor, int64_t i) {
  const void *start = start_of(tensor);
  return tensor->dtype == DA_FLOAT32 ? (double)((const float *)start)[i] : ((const double *)start)[i];
}

static void put(const da_tensor *tensor, int64_t i, double value) {
  void *start = start_of(tensor);
  if (tensor->dtype == DA_FLOAT32) {
    ((float *)start)[i] = (float)value;
  } else {
    ((double *)start)[i] = value;
  }
}

static void same_as(const da_tensor *tensor, da_output_shape *out_shape) {
  out_shape->rank = tensor->dl.ndim;
  for (int32_t axis = 0; axis < tensor->dl.ndim; axis++) out_shape->sizes[axis] = tensor->dl.shape[axis];
}

/* --- kernels --- */

typedef struct attributes_swish {
  uint64_t struct_size;
  const void *extension;
  double beta;
} attributes_swish;

#define KERNEL(name)                                                                                   \
  static da_error *name(void *state, const da_kernel_context *context, const da_tensor *const *inputs, \
                        uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,  \
                        const void *attributes)
#define UNUSED (void)state, (void)context, (void)input_count, (void)output_count, (void)attributes

#define FLOATS (DA_DTYPE_BIT(DA_FLOAT32) | DA_DTYPE_BIT(DA_FLOAT64))
#define ENTRY(op, launch) \
  {sizeof(da_kernel), NULL, op, {FLOATS, 0, 0, 0}, DA_KERNEL_DETERMINISTIC, 0, 0, launch, NULL, NULL, NULL}

#include "acme_lists.h"

KERNEL(swish) {
  UNUSED;
  const double beta = ((const attributes_swish *)attributes)->beta;
  int64_t count = count_of(outputs[0]);
  if (FAULT == FAULT_UNWRITTEN && count > 2) count -= 1;
  if (FAULT == FAULT_OVERRUN) count += 1;
  for (int64_t i = 0; i < count; i++) {
    const double x = get(inputs[0], i);
    put(outputs[0], i, x / (1 + exp(-beta * x)));
  }
  return NULL;
}

KERNEL(swish_gradient) {
  UNUSED;
  const double beta = ((const attributes_swish *)attributes)->beta;
  for (int64_t i = 0; i < count_of(outputs[0]); i++) {
    const double x = get(inputs[2], i), s = 1 / (1 + exp(-beta * x));
    const double slope = FAULT == FAULT_SLOPE ? s : s + beta * x * s * (1 - s);
    put(outputs[0], i, get(inputs[0], i) * slope);
  }
  return NULL;
}

KERNEL(outer) {
  UNUSED;
  const int64_t width = inputs[1]->dl.shape[0];
  for (int64_t i = 0; i < count_of(outputs[0]); i++)
    put(outputs[0], i, get(inputs[0], i / width) * get(inputs[1], i % width));
  return NULL;
}

KERNEL(outer_gradient) {
  UNUSED; /* g, out, x, y -> grad_x, grad_y */
  const int64_t height = inputs[2]->dl.shape[0], width = inputs[3]->dl.shape[0];
  for (int64_t i = 0; i < height; i++) {
    double sum = 0;
    for (int64_t j = 0; j < width; j++) sum += get(inputs[0], i * width + j) * get(inputs[3], j);
    put(outputs[0], i, sum);
  }
  for (int64_t j = 0; j < width; j++) {
    double sum = 0;
    for (int64_t i = 0; i < height; i++) sum += get(inputs[0], i * width + j) * get(inputs[2], i);
    put(outputs[1], j, sum);
  }
  return NULL;
}

typedef struct attributes_stack {
  uint64_t struct_size;
  const void *extension;
  int64_t axis;
  int64_t repeats_count;
  const int64_t *repeats;
} attributes_stack;

/* Sum of all operands, absent ones left out, repeated in front; and how many there were. */
KERNEL(stacked) {
  UNUSED;
  const int64_t count = count_of(inputs[0]);
  int64_t *how_many = (int64_t *)start_of(outputs[1]);
  *how_many = 0;
  for (uint32_t k = 0; k < input_count; k++) *how_many += inputs[k] != NULL;
  for (int64_t i = 0; i < count_of(outputs[0]); i++) {
    double sum = 0;
    for (uint32_t k = 0; k < input_count; k++)
      if (inputs[k] != NULL) sum += get(inputs[k], i % count);
    put(outputs[0], i, sum);
  }
  return NULL;
}

static const da_kernel kernels[] = {
    ENTRY("acme.swish", swish),     ENTRY("acme.swish_gradient", swish_gradient),
    ENTRY("acme.outer", outer),     ENTRY("acme.outer_gradient", outer_gradient),
    ENTRY("acme.stacked", stacked), LIST_KERNELS,
};

static da_error *kernel_list(da_device *device, da_kernel_list *out_list) {
  (void)device;
  out_list->first = kernels;
  out_list->count = sizeof kernels / sizeof kernels[0];
  out_list->stride = sizeof(da_kernel);
  return NULL;
}

/* --- custom ops --- */

static da_error *infer_outer(const da_custom_op *op, const da_tensor *const *inputs, uint32_t input_count,
                             const void *attributes, uint32_t output_count, da_output_shape *out_shapes) {
  (void)op, (void)input_count, (void)attributes, (void)output_count;
#if FAULT == FAULT_INFER_FAILS
  return &broken;
#endif
  if (inputs[0]->dl.ndim != 1 || inputs[1]->dl.ndim != 1) return &not_vectors;
  out_shapes[0].rank = FAULT == FAULT_INFER_RANK ? 33 : 2;
  out_shapes[0].sizes[0] = FAULT == FAULT_INFER_SIZE ? -1 : inputs[0]->dl.shape[0];
  out_shapes[0].sizes[1] = FAULT == FAULT_INFER_TOO_LARGE ? INT64_MAX : inputs[1]->dl.shape[0];
  if (FAULT == FAULT_INFER_DTYPE) out_shapes[0].dtype = DA_INT8;
  return NULL;
}

static da_error *infer_outer_gradient(const da_custom_op *op, const da_tensor *const *inputs,
                                      uint32_t input_count, const void *attributes, uint32_t output_count,
                                      da_output_shape *out_shapes) {
  (void)op, (void)input_count, (void)attributes, (void)output_count;
  if (inputs[2]->dl.ndim != 1 || inputs[3]->dl.ndim != 1) return &not_vectors;
  if (inputs[0]->dl.ndim != 2 || inputs[0]->dl.shape[0] != inputs[2]->dl.shape[0] ||
      inputs[0]->dl.shape[1] != inputs[3]->dl.shape[0])
    return &invalid;
  same_as(inputs[2], &out_shapes[0]);
  same_as(inputs[3], &out_shapes[1]);
  return NULL;
}

/* The shape of x with the numbers of `repeats` inserted at `axis`, which the host counts from the front. */
static da_error *infer_stacked(const da_custom_op *op, const da_tensor *const *inputs, uint32_t input_count,
                               const void *attributes, uint32_t output_count, da_output_shape *out_shapes) {
  const attributes_stack *stack = (const attributes_stack *)attributes;
  (void)op, (void)output_count;
  for (uint32_t k = 1; k < input_count; k++)
    if (inputs[k] != NULL && count_of(inputs[k]) != count_of(inputs[0])) return &invalid;
  if (stack->axis != 0) return &invalid;
  for (int64_t k = 0; k < stack->repeats_count; k++)
    out_shapes[0].sizes[out_shapes[0].rank++] = stack->repeats[k];
  for (int32_t axis = 0; axis < inputs[0]->dl.ndim; axis++)
    out_shapes[0].sizes[out_shapes[0].rank++] = inputs[0]->dl.shape[axis];
  out_shapes[1].rank = 0;
  return NULL;
}

#if FAULT == FAULT_OTHER_BETA
#define SWISH "acme.swish(x: T, *, beta: float = 2.0) -> out: T"
#elif FAULT == FAULT_SCHEMA
#define SWISH "acme.swish(x: T, beta: float = 1.0) -> out: T"
#elif FAULT == FAULT_RESERVED
#define SWISH "device_api.swish(x: T, *, beta: float = 1.0) -> out: T"
#elif FAULT == FAULT_NULL_SCHEMA
#define SWISH NULL
#else
#define SWISH "acme.swish(x: T, *, beta: float = 1.0) -> out: T"
#endif
#if FAULT == FAULT_ARITY
#define GRADIENT "acme.swish_gradient(g: T, x: T, *, beta: float = 1.0) -> grad_x: T"
#elif FAULT == FAULT_GRADIENT_OUTPUT
#define GRADIENT "acme.swish_gradient(g: T, y: T, x: T, *, beta: float = 1.0) -> slope: T"
#else
#define GRADIENT "acme.swish_gradient(g: T, y: T, x: T, *, beta: float = 1.0) -> grad_x: T"
#endif

static da_custom_op ops[] = {
    {sizeof(da_custom_op),
     NULL,
     SWISH,
     "x times its sigmoid.",
     {FLOATS},
     "acme.swish_gradient",
     NULL,
     "deny",
     2,
     NULL},
    {sizeof(da_custom_op), NULL, GRADIENT, NULL, {FLOATS}, NULL, NULL, NULL, 2, NULL},
    {sizeof(da_custom_op),
     NULL,
     "acme.outer(x: T, y: T) -> out: T",
     NULL,
     {FLOATS},
     "acme.outer_gradient",
     NULL,
     NULL,
     1,
     infer_outer},
    {sizeof(da_custom_op),
     NULL,
     "acme.outer_gradient(g: T, out_: T, x: T, y: T) -> grad_x: T, grad_y: T",
     NULL,
     {FLOATS},
     NULL,
     NULL,
     NULL,
     4,
     infer_outer_gradient},
    {sizeof(da_custom_op),
     NULL,
     "acme.stacked(x: T, weight: T?, rest: T[], *, axis: axis = 0, repeats: ints = (2,)) -> out: T, count: "
     "int64",
     NULL,
     {FLOATS},
     NULL,
     "float",
     "promote",
     2,
     infer_stacked},
    LIST_OPS,
#if FAULT == FAULT_TWICE
    {sizeof(da_custom_op), NULL, "acme.swish(x: T) -> out: T", NULL, {FLOATS}, NULL, NULL, NULL, 0, NULL},
#endif
};

static da_error *custom_op_list(da_custom_op_list *out_list) {
#if FAULT == FAULT_LIST
  return &broken;
#endif
  if (FAULT == FAULT_UNKNOWN_GRADIENT) ops[0].gradient = "acme.nothing";
  if (FAULT == FAULT_SIZE) ops[2].struct_size = 40;
  if (FAULT == FAULT_TYPES) ops[2].types[1] = FLOATS;
  if (FAULT == FAULT_NO_TYPES) ops[2].types[0] = 0;
  if (FAULT == FAULT_AMP) ops[2].amp = "maybe";
  out_list->first = ops;
  out_list->count = sizeof ops / sizeof ops[0];
  out_list->stride = FAULT == FAULT_STRIDE ? 8 : sizeof(da_custom_op);
  return NULL;
}

/* --- the plugin --- */

static const da_device_interface devices = {sizeof(da_device_interface),
                                            NULL,
                                            DA_DEVICE_INTERFACE_VERSION,
                                            0,
                                            device_count,
                                            device_open,
                                            device_close,
                                            device_properties,
                                            NULL};
static const da_memory_interface memory = {sizeof(da_memory_interface),
                                           NULL,
                                           DA_MEMORY_INTERFACE_VERSION,
                                           0,
                                           memory_allocate,
                                           memory_free,
                                           memory_copy,
                                           NULL,
                                           NULL,
                                           NULL,
                                           NULL};
static const da_kernel_interface kernel = {sizeof(da_kernel_interface), NULL, DA_KERNEL_INTERFACE_VERSION, 0,
                                           kernel_list};
static const da_custom_op_interface custom_ops = {sizeof(da_custom_op_interface), NULL,
                                                  DA_CUSTOM_OP_INTERFACE_VERSION, 0, custom_op_list};

static da_error *initialize(const da_host *host) {
  (void)host;
  return NULL;
}

static da_error *shutdown(void) { return NULL; }

static const void *get_interface(const char *id, uint32_t min_version) {
  if (min_version > 1) return NULL;
  if (strcmp(id, DA_DEVICE_INTERFACE) == 0) return &devices;
  if (strcmp(id, DA_MEMORY_INTERFACE) == 0) return &memory;
  if (strcmp(id, DA_KERNEL_INTERFACE) == 0) return &kernel;
  if (strcmp(id, DA_CUSTOM_OP_INTERFACE) == 0) return &custom_ops;
  return NULL;
}

static const da_plugin plugin = {sizeof(da_plugin),
                                 NULL,
                                 DA_PLUGIN_MAGIC,
                                 DA_ABI_MAJOR,
                                 DA_ABI_MINOR,
                                 0,
                                 0,
                                 ACME_TYPE,
                                 "Acme",
                                 "1.0",
                                 ACME_TYPE,
                                 0,
                                 &da_layout,
                                 &errors,
                                 initialize,
                                 shutdown,
                                 get_interface};

DA_EXPORT const da_plugin *device_api_plugin(const da_plugin_request *request) {
  (void)request;
  return &plugin;
}
