/* A plugin with every interface, whose mistakes are switched on by name with naughty_set. Nothing is
 * computed: it is there to be called, rightly and wrongly, and crashes on neither. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device_api/device_api.h"

static char mode[64];
static const da_host *host;

DA_EXPORT void naughty_set(const char *name) { strncpy(mode, name, sizeof(mode) - 1); }

static int is(const char *name) { return strcmp(mode, name) == 0; }

/* --- errors: a ring that is never freed, so that a dead one can still be read --- */

struct da_error {
  int32_t code;
  const char *message;
};
static da_error ring[64];
static unsigned next_error;

static da_error *fail(int32_t code, const char *message) {
  da_error *error = &ring[next_error++ % 64];
  error->code = is("bad_code") ? 77 : code;
  error->message = is("no_message") ? NULL : is("bad_utf8") ? "\xff\xfe" : message;
  return error;
}

static int32_t error_code(const da_error *error) { return error == NULL ? 0 : error->code; }
static const char *error_message(const da_error *error) { return error == NULL ? "" : error->message; }
static void error_destroy(da_error *error) { (void)error; }
static const da_error_interface errors = {sizeof errors, NULL, error_code, error_message, error_destroy};

/* --- devices --- */

struct da_device {
  uint32_t index;
};
static da_device devices[3] = {{0}, {1}, {2}};

static da_error *device_count(uint32_t *out) {
  *out = 2;
  return NULL;
}

static da_error *device_open(uint32_t index, da_device **out) {
  if (index > 1) return fail(DA_STATUS_INVALID_ARGUMENT, "no such device");
  *out = is("shared_device") ? &devices[0] : is("moving_device") ? &devices[2] : &devices[index];
  return NULL;
}

static da_error *device_close(da_device *device) {
  (void)device;
  return NULL;
}

static da_error *device_properties(da_device *device, da_device_properties *out) {
  (void)device;
  out->name = "naughty";
  out->driver_version = out->runtime_version = "1";
  out->total_memory = 1 << 20;
  out->allocation_alignment = is("bad_properties") ? 48 : 64;
  out->flags = DA_DEVICE_HOST_VISIBLE;
  out->dtypes = DA_DTYPE_BIT(DA_FLOAT32) | DA_DTYPE_BIT(DA_INT64);
  out->max_rank = 4;
  out->dl_device_type = 12;
  return NULL;
}

static da_error *device_synchronize(da_device *device) {
  if (is("bad_async")) host->report_async_error(host->context, (da_device *)&ring, NULL, 5, "of nobody");
  if (is("good_async")) host->report_async_error(host->context, device, NULL, 5, "of the device");
  return NULL;
}

static const da_device_interface device = {
    sizeof device,     NULL, 1, 0, device_count, device_open, device_close, device_properties,
    device_synchronize};

/* --- memory --- */

static da_error *memory_allocate(da_device *on, int32_t kind, uint64_t bytes, void **out) {
  static char place[1 << 16] __attribute__((aligned(64)));
  (void)on;
  if (kind == DA_MEMORY_MANAGED) {
    if (is("writes_on_failure")) *out = place;
    return fail(DA_STATUS_UNIMPLEMENTED, "no managed memory");
  }
  if (is("no_output")) return NULL;
  if (is("same_memory")) {
    *out = place;
    return NULL;
  }
  *out = aligned_alloc(64, (bytes + 127) / 64 * 64);
  if (is("misaligned")) *out = (char *)*out + 4;
  return NULL;
}

static da_error *memory_free(da_device *on, int32_t kind, void *handle) {
  (void)on, (void)kind;
  if (mode[0] == '\0') free(handle);
  return NULL;
}

static da_error *memory_copy(da_device *on, da_stream *stream, const da_copy *copy) {
  (void)on, (void)stream;
  if (copy->bytes != 0)
    memmove((char *)copy->destination + copy->destination_offset,
            (const char *)copy->source + copy->source_offset, copy->bytes);
  return NULL;
}

static da_error *memory_set(da_device *on, da_stream *stream, void *handle, uint64_t offset, uint8_t value,
                            uint64_t bytes) {
  (void)on, (void)stream;
  if (bytes != 0) memset((char *)handle + offset, value, bytes);
  return NULL;
}

static da_error *memory_info(da_device *on, uint64_t *out_free, uint64_t *out_total) {
  (void)on;
  *out_free = is("bad_info") ? 2 << 20 : 1 << 19;
  *out_total = 1 << 20;
  return NULL;
}

static da_error *memory_wrap(da_device *on, void *address, uint64_t bytes, void **out) {
  (void)on, (void)bytes;
  *out = address;
  return NULL;
}

static da_error *memory_unwrap(da_device *on, void *handle) {
  (void)on, (void)handle;
  return NULL;
}

static const da_memory_interface memory = {
    sizeof memory, NULL,       1,           0,           memory_allocate, memory_free,
    memory_copy,   memory_set, memory_info, memory_wrap, memory_unwrap};

/* --- kernels --- */

static da_error *launch(void *state, const da_kernel_context *context, const da_tensor *const *inputs,
                        uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                        const void *attributes) {
  void *handle;
  uint64_t offset;
  (void)state, (void)inputs, (void)input_count, (void)outputs, (void)output_count, (void)attributes;
  return is("scratch") ? context->scratch(context->host_context, 16, &handle, &offset) : NULL;
}

static da_error *prepare(da_device *on, const da_kernel *kernel, const da_tensor *const *inputs,
                         uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                         const void *attributes, void **out_state) {
  static char states[8];
  static unsigned next;
  (void)on, (void)kernel, (void)inputs, (void)input_count, (void)outputs, (void)output_count,
      (void)attributes;
  *out_state = &states[next++ % 8];
  return NULL;
}

static void release(void *state) { (void)state; }

static da_error *supports(da_device *on, const da_kernel *kernel, const da_tensor *const *inputs,
                          uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                          const void *attributes, int32_t *out) {
  (void)on, (void)kernel, (void)inputs, (void)input_count, (void)outputs, (void)output_count,
      (void)attributes;
  *out = is("bad_supports") ? 7 : 1;
  return NULL;
}

#define ANY (DA_DTYPE_BIT(DA_FLOAT32) | DA_DTYPE_BIT(DA_INT64))
static const da_kernel kernels[] = {
    {sizeof(da_kernel), NULL, "add", {ANY}, 0, 0, 0, launch, prepare, release, supports},
    {sizeof(da_kernel), NULL, "copy", {ANY, ANY}, 7, 0, 0, launch, NULL, NULL, NULL},
    {sizeof(da_kernel),
     NULL,
     "momentum_step",
     {DA_DTYPE_BIT(DA_FLOAT32)},
     DA_KERNEL_IN_PLACE_PAIRS,
     0,
     0,
     launch,
     NULL,
     NULL,
     NULL},
};
static const da_kernel bad_kernels[] = {
    {sizeof(da_kernel), NULL, NULL, {ANY}, 0, 0, 0, launch, NULL, NULL, NULL},
    {sizeof(da_kernel), NULL, "copy", {ANY, ANY}, 7, 0, 0, launch, NULL, NULL, NULL},
};

static da_error *kernel_list(da_device *on, da_kernel_list *out) {
  (void)on;
  out->first = is("bad_kernel") ? bad_kernels : is("moving_list") ? kernels + 1 : kernels;
  out->count = is("moving_list") ? 1 : is("bad_kernel") ? 2 : 3;
  out->stride = is("bad_list") ? 8 : sizeof(da_kernel);
  return NULL;
}

static const da_kernel_interface kernel = {sizeof kernel, NULL, 1, 0, kernel_list};

/* --- streams: everything is done at once --- */

struct da_stream {
  int32_t priority;
};
struct da_event {
  uint64_t flags;
};
static da_stream streams[16];
static da_event events[16];
static unsigned next_stream, next_event;

static da_error *stream_create(da_device *on, int32_t priority, da_stream **out) {
  (void)on;
  *out = is("same_stream") ? &streams[0] : &streams[1 + next_stream++ % 15];
  (*out)->priority = priority;
  return NULL;
}

static da_error *on_stream(da_device *on, da_stream *stream) {
  (void)on, (void)stream;
  return NULL;
}

static da_error *stream_query(da_device *on, da_stream *stream, int32_t *out) {
  (void)on, (void)stream;
  *out = is("bad_query") ? 2 : 1;
  return NULL;
}

static da_error *stream_wait_event(da_device *on, da_stream *stream, da_event *event) {
  (void)on, (void)stream, (void)event;
  return NULL;
}

static da_error *stream_add_callback(da_device *on, da_stream *stream, const da_callback *callback) {
  (void)on, (void)stream;
  if (is("callback_never")) return NULL;
  if (is("destroy_early") && callback->destroy != NULL) callback->destroy(callback->user_data);
  callback->function(callback->user_data, 0);
  if (is("callback_twice")) callback->function(callback->user_data, 0);
  if (callback->destroy != NULL && !is("destroy_early")) callback->destroy(callback->user_data);
  if (is("destroy_twice")) callback->destroy(callback->user_data);
  return NULL;
}

static da_error *stream_wrap(da_device *on, void *native, da_stream **out) {
  (void)native;
  return stream_create(on, 0, out);
}

static da_error *event_create(da_device *on, uint64_t flags, da_event **out) {
  (void)on;
  *out = &events[next_event++ % 16];
  (*out)->flags = flags;
  return NULL;
}

static da_error *event_destroy(da_device *on, da_event *event) {
  (void)on, (void)event;
  return NULL;
}

static da_error *event_record(da_device *on, da_event *event, da_stream *stream) {
  (void)on, (void)event, (void)stream;
  return NULL;
}

static da_error *event_query(da_device *on, da_event *event, int32_t *out) {
  (void)on, (void)event;
  *out = 1;
  return NULL;
}

static da_error *event_synchronize(da_device *on, da_event *event, uint64_t timeout) {
  (void)on, (void)event, (void)timeout;
  return NULL;
}

static da_error *event_elapsed(da_device *on, da_event *start, da_event *end, double *out) {
  (void)on, (void)start, (void)end;
  *out = is("bad_elapsed") ? NAN : 5.0;
  return NULL;
}

static const da_stream_interface stream = {sizeof stream,
                                           NULL,
                                           1,
                                           0,
                                           stream_create,
                                           on_stream,
                                           on_stream,
                                           stream_query,
                                           stream_wait_event,
                                           stream_add_callback,
                                           stream_wrap,
                                           event_create,
                                           event_destroy,
                                           event_record,
                                           event_query,
                                           event_synchronize,
                                           event_elapsed};

#include "naughty_optional.h"

/* --- the descriptor --- */

DA_EXPORT void naughty_log(int32_t level, const char *message) { host->log(host->context, level, message); }

DA_EXPORT void naughty_span(void) {
  if (host->trace_begin != NULL) host->trace_end(host->context, host->trace_begin(host->context, "span"));
}

static da_error *initialize(const da_host *given) {
  if (is("refuses")) return fail(DA_STATUS_UNAVAILABLE, "no driver");
  host = given;
  return NULL;
}

static da_error *shut_down(void) { return NULL; }

static const void *get_interface(const char *id, uint32_t min_version) {
  static da_memory_interface moved;
  (void)min_version;
  if (strcmp(id, DA_DEVICE_INTERFACE) == 0) return &device;
  if (strcmp(id, DA_MEMORY_INTERFACE) == 0) {
    moved = memory;
    return is("moving_table") ? &moved : &memory;
  }
  if (strcmp(id, DA_KERNEL_INTERFACE) == 0) return &kernel;
  if (strcmp(id, DA_STREAM_INTERFACE) == 0) return &stream;
  if (strcmp(id, DA_RANDOM_INTERFACE) == 0) {
    random_table.version = is("bad_table") ? 0 : 1;
    return &random_table;
  }
  if (strcmp(id, DA_CAPTURE_INTERFACE) == 0) return &capture;
  if (strcmp(id, DA_COLLECTIVE_INTERFACE) == 0) return &collective;
  if (strcmp(id, DA_GRAPH_INTERFACE) == 0) return &graph;
  if (strcmp(id, DA_PROFILER_INTERFACE) == 0) return &profiler;
  if (strcmp(id, DA_CUSTOM_OP_INTERFACE) == 0) return &custom_op;
  return NULL;
}

static const da_plugin descriptor = {.struct_size = sizeof(da_plugin),
                                     .magic = DA_PLUGIN_MAGIC,
                                     .abi_major = DA_ABI_MAJOR,
                                     .abi_minor = DA_ABI_MINOR,
                                     .name = "naughty",
                                     .vendor = "Tests",
                                     .version = "1.0",
                                     .device_type = "naughty",
                                     .layout = &da_layout,
                                     .errors = &errors,
                                     .initialize = initialize,
                                     .shutdown = shut_down,
                                     .get_interface = get_interface};

DA_EXPORT const da_plugin *device_api_plugin(const da_plugin_request *request) {
  (void)request;
  return &descriptor;
}
