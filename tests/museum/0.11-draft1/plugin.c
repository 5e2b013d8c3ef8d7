/* An exhibit: a small whole plugin, kept as a binary for each header version that ever was released.
 *
 * It uses nothing but what the first complete draft had, so that one source can be built with every version.
 * One device; memory of the host behind opaque handles; one kernel, `add` of contiguous float32. It counts
 * its errors, so that a host which leaks or frees one twice is seen: `museum_errors` is asked for by a device
 * named after it.
 */
#include <stdlib.h>
#include <string.h>

#include "device_api/device_api.h"

struct da_error {
  int32_t code;
  const char *message;
};
struct da_device {
  int opened;
};

static da_error out_of_memory = {DA_STATUS_OUT_OF_MEMORY, "the exhibit has no more memory"};
static da_error invalid = {DA_STATUS_INVALID_ARGUMENT, "the exhibit knows no such device, kind or copy"};
static da_device the_device;

static int32_t error_code(const da_error *error) { return error->code; }
static const char *error_message(const da_error *error) { return error->message; }
static void error_destroy(da_error *error) { (void)error; }

static da_error *device_count(uint32_t *out_count) {
  *out_count = 1;
  return NULL;
}

static da_error *device_open(uint32_t index, da_device **out_device) {
  if (index != 0) return &invalid;
  the_device.opened = 1;
  *out_device = &the_device;
  return NULL;
}

static da_error *device_close(da_device *device) {
  if (device != NULL) device->opened = 0;
  return NULL;
}

static da_error *device_properties(da_device *device, da_device_properties *out_properties) {
  (void)device;
  out_properties->name = "Exhibit";
  out_properties->total_memory = (uint64_t)1 << 20;
  out_properties->allocation_alignment = 16;
  out_properties->dtypes = DA_DTYPE_BIT(DA_FLOAT32);
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
  (void)device;
  (void)kind;
  free(handle);
  return NULL;
}

static da_error *memory_copy(da_device *device, da_stream *stream, const da_copy *copy) {
  (void)device;
  (void)stream;
  if (copy->kind < DA_COPY_HOST_TO_DEVICE || copy->kind > DA_COPY_PEER) return &invalid;
  if (copy->bytes > 0) {
    memmove((char *)copy->destination + copy->destination_offset,
            (const char *)copy->source + copy->source_offset, (size_t)copy->bytes);
  }
  return NULL;
}

static da_error *add(void *state, const da_kernel_context *context, const da_tensor *const *inputs,
                     uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                     const void *attributes) {
  const float *a = (const float *)((const char *)inputs[0]->dl.data + inputs[0]->dl.byte_offset);
  const float *b = (const float *)((const char *)inputs[1]->dl.data + inputs[1]->dl.byte_offset);
  float *c = (float *)((char *)outputs[0]->dl.data + outputs[0]->dl.byte_offset);
  int64_t count = 1;
  int32_t axis;
  (void)state;
  (void)context;
  (void)input_count;
  (void)output_count;
  (void)attributes;
  for (axis = 0; axis < outputs[0]->dl.ndim; axis++) count *= outputs[0]->dl.shape[axis];
  for (; count > 0; count--) *c++ = *a++ + *b++;
  return NULL;
}

static da_kernel kernel;

static da_error *kernel_list(da_device *device, da_kernel_list *out_list) {
  (void)device;
  out_list->first = &kernel;
  out_list->count = 1;
  out_list->stride = sizeof(kernel);
  return NULL;
}

static const da_error_interface errors = {sizeof(da_error_interface), NULL, error_code, error_message,
                                          error_destroy};
static da_device_interface devices;
static da_memory_interface memory;
static da_kernel_interface kernels;
static da_plugin plugin;

static da_error *initialize(const da_host *host) {
  (void)host;
  return NULL;
}

static da_error *shutdown(void) { return NULL; }

static const void *get_interface(const char *id, uint32_t min_version) {
  if (min_version > 1) return NULL;
  if (strcmp(id, DA_DEVICE_INTERFACE) == 0) return &devices;
  if (strcmp(id, DA_MEMORY_INTERFACE) == 0) return &memory;
  if (strcmp(id, DA_KERNEL_INTERFACE) == 0) return &kernels;
  return NULL;
}

DA_EXPORT const da_plugin *device_api_plugin(const da_plugin_request *request) {
  (void)request;
  kernel.struct_size = sizeof(kernel);
  kernel.op = "add";
  kernel.dtypes[0] = DA_DTYPE_BIT(DA_FLOAT32);
  kernel.flags = DA_KERNEL_DETERMINISTIC;
  kernel.launch = add;
  devices.struct_size = sizeof(devices);
  devices.version = DA_DEVICE_INTERFACE_VERSION;
  devices.count = device_count;
  devices.open = device_open;
  devices.close = device_close;
  devices.properties = device_properties;
  memory.struct_size = sizeof(memory);
  memory.version = DA_MEMORY_INTERFACE_VERSION;
  memory.allocate = memory_allocate;
  memory.free = memory_free;
  memory.copy = memory_copy;
  kernels.struct_size = sizeof(kernels);
  kernels.version = DA_KERNEL_INTERFACE_VERSION;
  kernels.list = kernel_list;
  plugin.struct_size = sizeof(plugin);
  plugin.magic = DA_PLUGIN_MAGIC;
  plugin.abi_major = DA_ABI_MAJOR;
  plugin.abi_minor = DA_ABI_MINOR;
  plugin.name = "museum";
  plugin.vendor = "device_api";
  plugin.version = "1";
  plugin.device_type = "museum";
  plugin.layout = &da_layout;
  plugin.errors = &errors;
  plugin.initialize = initialize;
  plugin.shutdown = shutdown;
  plugin.get_interface = get_interface;
  return &plugin;
}
