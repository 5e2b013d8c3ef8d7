/* A device in host memory for the tests of the core: a few kernels, every call counted, faults on request.
 *
 * The tests reach the tables through `table` and the counters and faults through `control`, both exported.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device_api/device_api.h"

struct control {
  int64_t allocations;
  int64_t frees;
  int64_t live_bytes;
  int64_t capacity;            /* 0: no limit */
  int64_t fail_allocation;     /* the n-th from now fails with OUT_OF_MEMORY */
  int64_t kernel_memory_fails; /* so many launches of add fail with OUT_OF_MEMORY */
  int64_t prepared;
  int64_t released;
  int64_t launches;
  int64_t copies;
  int64_t scratch_bytes; /* taken by each launch of "scratching" */
  int64_t silent_errors; /* message() gives NULL */
  int64_t broken_list;   /* list() gives a kernel without launch */
  int64_t synchronizations;
};

DA_EXPORT struct control control;
struct control control;

struct da_error {
  int32_t code;
  char text[120];
};
static da_error out_of_memory = {DA_STATUS_OUT_OF_MEMORY, "the test device is full"};
static const da_host *host;

static da_error *make_error(int32_t code, const char *text) {
  da_error *error = malloc(sizeof(da_error));
  error->code = code;
  snprintf(error->text, sizeof(error->text), "%s", text);
  return error;
}
static int32_t error_code(const da_error *error) { return error->code; }
static const char *error_message(const da_error *error) { return control.silent_errors ? NULL : error->text; }
static void error_destroy(da_error *error) {
  if (error != &out_of_memory) free(error);
}
static const da_error_interface errors = {sizeof(errors), NULL, error_code, error_message, error_destroy};

struct da_device {
  int index;
};
struct da_stream {
  int number;
};
static da_device the_devices[2] = {{0}, {1}};
static da_stream the_stream;

static da_error *allocate(da_device *device, int32_t kind, uint64_t bytes, void **out_handle) {
  (void)device;
  (void)kind;
  if (control.fail_allocation > 0 && --control.fail_allocation == 0) return &out_of_memory;
  if (control.capacity != 0 && control.live_bytes + (int64_t)bytes > control.capacity) return &out_of_memory;
  uint64_t *memory = NULL;
  if (posix_memalign((void **)&memory, 64, 64 + bytes) != 0) return &out_of_memory;
  memory[0] = bytes;
  memset(memory + 8, 0xA5, bytes); /* fresh memory is no zeros */
  control.allocations += 1;
  control.live_bytes += (int64_t)bytes;
  *out_handle = memory + 8;
  return NULL;
}
static da_error *release(da_device *device, int32_t kind, void *handle) {
  (void)device;
  (void)kind;
  if (handle == NULL) return NULL;
  uint64_t *memory = (uint64_t *)handle - 8;
  control.frees += 1;
  control.live_bytes -= (int64_t)memory[0];
  free(memory);
  return NULL;
}
static da_error *copy(da_device *device, da_stream *stream, const da_copy *request) {
  (void)device;
  (void)stream;
  control.copies += 1;
  memcpy((char *)request->destination + request->destination_offset,
         (const char *)request->source + request->source_offset, request->bytes);
  return NULL;
}
static da_error *info(da_device *device, uint64_t *out_free, uint64_t *out_total) {
  (void)device;
  *out_total = (uint64_t)control.capacity;
  *out_free = (uint64_t)(control.capacity - control.live_bytes);
  return NULL;
}
static const da_memory_interface memory = {.struct_size = sizeof(memory),
                                           .version = 1,
                                           .allocate = allocate,
                                           .free = release,
                                           .copy = copy,
                                           .info = info};

static da_error *count(uint32_t *out_count) {
  *out_count = 2;
  return NULL;
}
static da_error *open_device(uint32_t index, da_device **out_device) {
  *out_device = &the_devices[index];
  return NULL;
}
static da_error *close_device(da_device *device) {
  (void)device;
  return NULL;
}
static da_error *properties(da_device *device, da_device_properties *out) {
  (void)device;
  (void)out;
  return NULL;
}
static da_error *synchronize(da_device *device) {
  (void)device;
  control.synchronizations += 1;
  return NULL;
}
static const da_device_interface device_table = {.struct_size = sizeof(device_table),
                                                 .version = 1,
                                                 .count = count,
                                                 .open = open_device,
                                                 .close = close_device,
                                                 .properties = properties,
                                                 .synchronize = synchronize};

/* Calls `visit` for each element with the byte addresses of all operands. */
#define MAX_OPERANDS 3
static char *address(const da_tensor *tensor, const int64_t *index, int64_t size) {
  int64_t offset = 0;
  for (int32_t d = 0; d < tensor->dl.ndim; ++d) offset += index[d] * tensor->dl.strides[d];
  return (char *)tensor->dl.data + tensor->dl.byte_offset + offset * size;
}
static int next(int64_t *index, const da_tensor *tensor) {
  for (int32_t d = tensor->dl.ndim - 1; d >= 0; --d) {
    if (++index[d] < tensor->dl.shape[d]) return 1;
    index[d] = 0;
  }
  return 0;
}

static da_error *add(void *state, const da_kernel_context *context, const da_tensor *const *inputs,
                     uint32_t n, const da_tensor *const *outputs, uint32_t m, const void *attributes) {
  (void)state;
  (void)context;
  (void)n;
  (void)m;
  (void)attributes;
  if (control.kernel_memory_fails > 0) {
    control.kernel_memory_fails -= 1;
    return &out_of_memory;
  }
  control.launches += 1;
  int64_t index[DA_MAX_RANK] = {0};
  do {
    if (inputs[0]->dtype == DA_FLOAT32) {
      *(float *)address(outputs[0], index, 4) =
          *(float *)address(inputs[0], index, 4) + *(float *)address(inputs[1], index, 4);
    } else {
      *(int32_t *)address(outputs[0], index, 4) =
          (int32_t)(*(uint32_t *)address(inputs[0], index, 4) + *(uint32_t *)address(inputs[1], index, 4));
    }
  } while (next(index, outputs[0]));
  return NULL;
}

static da_error *add_flat(void *state, const da_kernel_context *context, const da_tensor *const *inputs,
                          uint32_t n, const da_tensor *const *outputs, uint32_t m, const void *attributes) {
  (void)state;
  (void)context;
  (void)n;
  (void)m;
  (void)attributes;
  const float *a = (const float *)((const char *)inputs[0]->dl.data + inputs[0]->dl.byte_offset);
  const float *b = (const float *)((const char *)inputs[1]->dl.data + inputs[1]->dl.byte_offset);
  float *out = (float *)((char *)outputs[0]->dl.data + outputs[0]->dl.byte_offset);
  int64_t size = 1;
  for (int32_t d = 0; d < outputs[0]->dl.ndim; ++d) size *= outputs[0]->dl.shape[d];
  for (int64_t i = 0; i < size; ++i) out[i] = a[i] + b[i];
  return NULL;
}

static int32_t element_size(const da_tensor *tensor) { return tensor->dl.dtype.bits / 8; }

struct fill_attributes {
  uint64_t struct_size;
  const void *extension;
  uint64_t value[2];
};
static da_error *fill(void *state, const da_kernel_context *context, const da_tensor *const *inputs,
                      uint32_t n, const da_tensor *const *outputs, uint32_t m, const void *attributes) {
  (void)state;
  (void)context;
  (void)inputs;
  (void)n;
  (void)m;
  const struct fill_attributes *given = attributes;
  int64_t index[DA_MAX_RANK] = {0};
  do {
    memcpy(address(outputs[0], index, element_size(outputs[0])), given->value,
           (size_t)element_size(outputs[0]));
  } while (next(index, outputs[0]));
  return NULL;
}

static da_error *copy_elements(void *state, const da_kernel_context *context, const da_tensor *const *inputs,
                               uint32_t n, const da_tensor *const *outputs, uint32_t m,
                               const void *attributes) {
  (void)state;
  (void)context;
  (void)n;
  (void)m;
  (void)attributes;
  int64_t index[DA_MAX_RANK] = {0};
  const int32_t size = element_size(outputs[0]);
  do {
    memcpy(address(outputs[0], index, size), address(inputs[0], index, size), (size_t)size);
  } while (next(index, outputs[0]));
  return NULL;
}

/* Reads a number through a relocated pointer, to show that pointers arrive: {size, extension, count,
 * numbers}. */
struct list_attributes {
  uint64_t struct_size;
  const void *extension;
  int64_t count;
  const int64_t *numbers;
};
static da_error *sum_list(void *state, const da_kernel_context *context, const da_tensor *const *inputs,
                          uint32_t n, const da_tensor *const *outputs, uint32_t m, const void *attributes) {
  (void)state;
  (void)context;
  (void)inputs;
  (void)n;
  (void)m;
  const struct list_attributes *given = attributes;
  int64_t total = 0;
  for (int64_t i = 0; i < given->count; ++i) total += given->numbers[i];
  *(int64_t *)((char *)outputs[0]->dl.data + outputs[0]->dl.byte_offset) = total;
  return NULL;
}

static da_error *failing(void *state, const da_kernel_context *context, const da_tensor *const *inputs,
                         uint32_t n, const da_tensor *const *outputs, uint32_t m, const void *attributes) {
  (void)state;
  (void)context;
  (void)inputs;
  (void)n;
  (void)outputs;
  (void)m;
  return make_error((int32_t)((const struct fill_attributes *)attributes)->value[0], "vendor text 0x2A");
}

static da_error *scratching(void *state, const da_kernel_context *context, const da_tensor *const *inputs,
                            uint32_t n, const da_tensor *const *outputs, uint32_t m, const void *attributes) {
  (void)state;
  (void)inputs;
  (void)n;
  (void)m;
  (void)attributes;
  void *handle = NULL;
  uint64_t offset = 0;
  da_error *error =
      context->scratch(context->host_context, (uint64_t)control.scratch_bytes, &handle, &offset);
  if (error != NULL) return error;
  memset((char *)handle + offset, 0, (size_t)control.scratch_bytes);
  *(float *)((char *)outputs[0]->dl.data + outputs[0]->dl.byte_offset) = 7;
  return NULL;
}

static da_error *prepare(da_device *device, const da_kernel *kernel, const da_tensor *const *inputs,
                         uint32_t n, const da_tensor *const *outputs, uint32_t m, const void *attributes,
                         void **out_state) {
  (void)device;
  (void)kernel;
  (void)inputs;
  (void)n;
  (void)m;
  (void)attributes;
  if (outputs[0]->dl.ndim > 2) return make_error(DA_STATUS_UNIMPLEMENTED, "at most two dimensions");
  if (outputs[0]->dl.data != NULL) return make_error(DA_STATUS_INTERNAL, "prepare got data");
  control.prepared += 1;
  *out_state = malloc(sizeof(float));
  **(float **)out_state = 42;
  return NULL;
}
static void end_state(void *state) {
  control.released += 1;
  free(state);
}
static da_error *launch_prepared(void *state, const da_kernel_context *context,
                                 const da_tensor *const *inputs, uint32_t n, const da_tensor *const *outputs,
                                 uint32_t m, const void *attributes) {
  (void)context;
  (void)inputs;
  (void)n;
  (void)m;
  (void)attributes;
  *(float *)((char *)outputs[0]->dl.data + outputs[0]->dl.byte_offset) = *(float *)state;
  return NULL;
}
static da_error *supports(da_device *device, const da_kernel *kernel, const da_tensor *const *inputs,
                          uint32_t n, const da_tensor *const *outputs, uint32_t m, const void *attributes,
                          int32_t *out_supported) {
  (void)device;
  (void)kernel;
  (void)inputs;
  (void)n;
  (void)m;
  (void)attributes;
  *out_supported = outputs[0]->dl.ndim <= 2;
  return NULL;
}

/* Sleeps, so that other threads must be able to run meanwhile; logs from the launch. */
static da_error *sleepy(void *state, const da_kernel_context *context, const da_tensor *const *inputs,
                        uint32_t n, const da_tensor *const *outputs, uint32_t m, const void *attributes) {
  (void)state;
  (void)inputs;
  (void)n;
  (void)m;
  (void)attributes;
  (void)outputs;
  usleep(200000);
  if (host != NULL) {
    host->log(host->context, DA_LOG_WARNING, "sleepy woke up");
    host->report_async_error(host->context, context->device, context->stream, DA_STATUS_INTERNAL,
                             "the queue stopped");
  }
  return NULL;
}

#define F32 DA_DTYPE_BIT(DA_FLOAT32)
#define ANY (~UINT64_C(0))
static const da_kernel kernels[] = {
    {.struct_size = sizeof(da_kernel),
     .op = "add",
     .dtypes = {F32 | DA_DTYPE_BIT(DA_INT32)},
     .flags = DA_KERNEL_STRIDED_INPUTS | DA_KERNEL_STRIDED_OUTPUTS | DA_KERNEL_IN_PLACE,
     .launch = add},
    {.struct_size = sizeof(da_kernel),
     .op = "fill",
     .dtypes = {ANY},
     .flags = DA_KERNEL_STRIDED_OUTPUTS,
     .launch = fill},
    {.struct_size = sizeof(da_kernel),
     .op = "copy",
     .dtypes = {ANY, ANY},
     .flags = DA_KERNEL_STRIDED_INPUTS | DA_KERNEL_STRIDED_OUTPUTS,
     .launch = copy_elements},
    {.struct_size = sizeof(da_kernel), .op = "failing", .dtypes = {ANY}, .launch = failing},
    {.struct_size = sizeof(da_kernel), .op = "scratching", .dtypes = {F32}, .launch = scratching},
    {.struct_size = sizeof(da_kernel),
     .op = "prepared",
     .dtypes = {F32},
     .priority = 5,
     .launch = launch_prepared,
     .prepare = prepare,
     .release = end_state,
     .supports = supports},
    {.struct_size = sizeof(da_kernel), .op = "sum_list", .dtypes = {ANY}, .launch = sum_list},
    {.struct_size = sizeof(da_kernel), .op = "sleepy", .dtypes = {F32}, .launch = sleepy},
    {.struct_size = sizeof(da_kernel), .op = "add_flat", .dtypes = {F32}, .launch = add_flat},
};
static da_kernel broken;
static da_error *list(da_device *device, da_kernel_list *out) {
  (void)device;
  out->first = kernels;
  out->count = sizeof(kernels) / sizeof(kernels[0]);
  out->stride = sizeof(da_kernel);
  if (control.broken_list) {
    broken = kernels[0];
    broken.launch = NULL;
    out->first = &broken;
    out->count = 1;
  }
  return NULL;
}
static const da_kernel_interface kernel_table = {
    .struct_size = sizeof(kernel_table), .version = 1, .list = list};

static da_error *random_bits(da_device *device, da_stream *stream, uint64_t seed, uint64_t offset,
                             void *handle, uint64_t byte_offset, uint64_t size) {
  (void)device;
  (void)stream;
  uint32_t *out = (uint32_t *)((char *)handle + byte_offset);
  for (uint64_t i = 0; i < size; ++i) out[i] = (uint32_t)(seed * 1000 + offset * 4 + i);
  return NULL;
}
static const da_random_interface random_table = {
    .struct_size = sizeof(random_table), .version = 1, .bits = random_bits};

static da_error *stream_create(da_device *device, int32_t priority, da_stream **out_stream) {
  (void)device;
  (void)priority;
  *out_stream = &the_stream;
  return NULL;
}
static da_error *stream_none(da_device *device, da_stream *stream) {
  (void)device;
  (void)stream;
  control.synchronizations += 1;
  return NULL;
}
static da_error *event_create(da_device *device, uint64_t flags, da_event **out_event) {
  (void)device;
  (void)flags;
  *out_event = (da_event *)&the_stream;
  return NULL;
}
static da_error *event_none(da_device *device, da_event *event) {
  (void)device;
  (void)event;
  return NULL;
}
static da_error *event_record(da_device *device, da_event *event, da_stream *stream) {
  (void)stream;
  return event_none(device, event);
}
static da_error *event_query(da_device *device, da_event *event, int32_t *out_done) {
  *out_done = 1;
  return event_none(device, event);
}
static da_error *event_synchronize(da_device *device, da_event *event, uint64_t timeout_ns) {
  (void)timeout_ns;
  return event_none(device, event);
}
static const da_stream_interface stream_table = {.struct_size = sizeof(stream_table),
                                                 .version = 1,
                                                 .create = stream_create,
                                                 .destroy = stream_none,
                                                 .synchronize = stream_none,
                                                 .event_create = event_create,
                                                 .event_destroy = event_none,
                                                 .event_record = event_record,
                                                 .event_query = event_query,
                                                 .event_synchronize = event_synchronize};

DA_EXPORT const void *table(const char *name) {
  if (strcmp(name, "memory") == 0) return &memory;
  if (strcmp(name, "kernel") == 0) return &kernel_table;
  if (strcmp(name, "device") == 0) return &device_table;
  if (strcmp(name, "stream") == 0) return &stream_table;
  if (strcmp(name, "random") == 0) return &random_table;
  if (strcmp(name, "errors") == 0) return &errors;
  return NULL;
}
DA_EXPORT da_device *device_handle(int index) { return &the_devices[index]; }
DA_EXPORT void set_host(const da_host *services) { host = services; }
