/* A well-formed plugin whose driver is missing: `initialize` fails, each time, with the reason. */
#include <string.h>

#include "device_api/device_api.h"

static int32_t code(const da_error *error) {
  (void)error;
  return DA_STATUS_UNAVAILABLE;
}
static const char *message(const da_error *error) {
  (void)error;
  return "no driver was found";
}
static void destroy(da_error *error) { (void)error; }
static const da_error_interface errors = {
    .struct_size = sizeof(errors), .code = code, .message = message, .destroy = destroy};
static da_error *initialize(const da_host *host) {
  (void)host;
  return (da_error *)&errors;
}
static da_error *shut(void) { return NULL; }
static da_error *count(uint32_t *out) {
  *out = 0;
  return NULL;
}
static da_error *open_it(uint32_t i, da_device **out) {
  (void)i, (void)out;
  return (da_error *)&errors;
}
static da_error *close_it(da_device *device) {
  (void)device;
  return NULL;
}
static da_error *facts(da_device *d, da_device_properties *p) {
  (void)d, (void)p;
  return NULL;
}
static da_error *allocate(da_device *d, int32_t k, uint64_t b, void **o) {
  (void)d, (void)k, (void)b, (void)o;
  return (da_error *)&errors;
}
static da_error *release(da_device *d, int32_t k, void *h) {
  (void)d, (void)k, (void)h;
  return NULL;
}
static da_error *copy(da_device *d, da_stream *s, const da_copy *c) {
  (void)d, (void)s, (void)c;
  return NULL;
}
static da_error *list(da_device *d, da_kernel_list *o) {
  (void)d;
  o->first = 0;
  o->count = 0;
  return NULL;
}
static const da_device_interface devices = {.struct_size = sizeof(devices),
                                            .version = 1,
                                            .count = count,
                                            .open = open_it,
                                            .close = close_it,
                                            .properties = facts};
static const da_memory_interface memory = {
    .struct_size = sizeof(memory), .version = 1, .allocate = allocate, .free = release, .copy = copy};
static const da_kernel_interface kernels = {.struct_size = sizeof(kernels), .version = 1, .list = list};
static const void *get(const char *id, uint32_t version) {
  if (version > 1) return NULL;
  if (!strcmp(id, DA_DEVICE_INTERFACE)) return &devices;
  if (!strcmp(id, DA_MEMORY_INTERFACE)) return &memory;
  if (!strcmp(id, DA_KERNEL_INTERFACE)) return &kernels;
  return NULL;
}
static const da_plugin descriptor = {.struct_size = sizeof(descriptor),
                                     .magic = DA_PLUGIN_MAGIC,
                                     .abi_major = DA_ABI_MAJOR,
                                     .abi_minor = DA_ABI_MINOR,
                                     .name = "broken_npu",
                                     .vendor = "tests",
                                     .version = "1",
                                     .device_type = "broken_npu",
                                     .layout = &da_layout,
                                     .errors = &errors,
                                     .initialize = initialize,
                                     .shutdown = shut,
                                     .get_interface = get};
DA_EXPORT const da_plugin *device_api_plugin(const da_plugin_request *request) {
  (void)request;
  return &descriptor;
}
