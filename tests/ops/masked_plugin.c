/* A plugin that is the reference CPU with less: kernels are left out, strides refused, ranks and dtypes
 * limited, as the macros below say. It opens a copy of the reference library of its own and hands its tables
 * on, so that tests of decomposition and fallback have a device that lacks something and computes right. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "device_api/device_api.h"

#ifndef MASK_DEVICE_TYPE
#define MASK_DEVICE_TYPE "masked"
#endif
#ifndef MASK_ONLY /* ",op,op," : these kernels and no others; empty: all */
#define MASK_ONLY ""
#endif
#ifndef MASK_HIDDEN /* ",op,op," : all but these */
#define MASK_HIDDEN ","
#endif
#ifndef MASK_CONTIGUOUS /* 1: no kernel but copy takes strided inputs */
#define MASK_CONTIGUOUS 0
#endif
#ifndef MASK_WITHOUT_FLAGS /* enum da_kernel_flag bits that kernels do not claim */
#define MASK_WITHOUT_FLAGS 0
#endif
#ifndef MASK_REFUSED /* ",op,op," : listed, but `supports` says no */
#define MASK_REFUSED ","
#endif
#ifndef MASK_DECLINED /* ",op,op," : listed, but `prepare` says UNIMPLEMENTED */
#define MASK_DECLINED ","
#endif
#ifndef MASK_MAX_RANK
#define MASK_MAX_RANK 32
#endif
#ifndef MASK_WITHOUT_DTYPES /* DA_DTYPE_BITs that kernels do not claim */
#define MASK_WITHOUT_DTYPES 0
#endif
#ifndef MASK_UNHELD_DTYPES /* DA_DTYPE_BITs that memory does not hold */
#define MASK_UNHELD_DTYPES 0
#endif
#ifndef MASK_RANDOM /* 0: no random interface */
#define MASK_RANDOM 1
#endif

static const da_plugin *base;
static da_kernel *kernels;
static uint64_t kernel_count;
static da_kernel_interface kernel_table;
static da_device_interface device_table;

static int listed(const char *list, const char *op) {
  char pattern[128];
  if (strlen(op) + 3 > sizeof(pattern)) return 0;
  strcpy(pattern, ",");
  strcat(pattern, op);
  strcat(pattern, ",");
  return strstr(list, pattern) != NULL;
}

/* Errors of this file, told apart from those of the base by their address. */
static char declined_error;

static int32_t code_of(const da_error *error) {
  return (const char *)error == &declined_error ? DA_STATUS_UNIMPLEMENTED : base->errors->code(error);
}

static const char *message_of(const da_error *error) {
  return (const char *)error == &declined_error ? "declined in prepare" : base->errors->message(error);
}

static void destroy_error(da_error *error) {
  if ((char *)error != &declined_error) base->errors->destroy(error);
}

static const da_error_interface errors = {
    .struct_size = sizeof(da_error_interface),
    .code = code_of,
    .message = message_of,
    .destroy = destroy_error,
};

static da_error *refuse(da_device *device, const da_kernel *kernel, const da_tensor *const *inputs,
                        uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                        const void *attributes, int32_t *out_supported) {
  (void)device, (void)kernel, (void)inputs, (void)input_count;
  (void)outputs, (void)output_count, (void)attributes;
  *out_supported = 0;
  return NULL;
}

static da_error *decline(da_device *device, const da_kernel *kernel, const da_tensor *const *inputs,
                         uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                         const void *attributes, void **out_state) {
  (void)device, (void)kernel, (void)inputs, (void)input_count;
  (void)outputs, (void)output_count, (void)attributes, (void)out_state;
  return (da_error *)&declined_error;
}

static void release(void *state) { (void)state; }

static int kept(const da_kernel *kernel) {
  if (MASK_ONLY[0] != 0 && !listed(MASK_ONLY, kernel->op)) return 0;
  return !listed(MASK_HIDDEN, kernel->op);
}

static da_error *list(da_device *device, da_kernel_list *out_list) {
  const da_kernel_interface *original = base->get_interface(DA_KERNEL_INTERFACE, 1);
  da_error *error = original->list(device, out_list);
  if (error != NULL) return error;
  if (kernels == NULL) {
    kernels = calloc((size_t)out_list->count + 1, sizeof(da_kernel));
    for (uint64_t i = 0; i < out_list->count; ++i) {
      const da_kernel *kernel = (const da_kernel *)((const char *)out_list->first + i * out_list->stride);
      if (!kept(kernel)) continue;
      da_kernel *copy = &kernels[kernel_count++];
      *copy = *kernel;
      if (listed(MASK_REFUSED, kernel->op)) copy->supports = refuse;
      if (listed(MASK_DECLINED, kernel->op)) {
        copy->prepare = decline;
        copy->release = release;
      }
      if (strcmp(kernel->op, "copy") == 0) continue;
      copy->flags &= ~(uint64_t)(MASK_WITHOUT_FLAGS);
      if (MASK_CONTIGUOUS) copy->flags &= ~(uint64_t)DA_KERNEL_STRIDED_INPUTS;
      for (int v = 0; v < DA_MAX_TYPE_VARIABLES; ++v) copy->dtypes[v] &= ~(uint64_t)(MASK_WITHOUT_DTYPES);
    }
  }
  out_list->first = kernels;
  out_list->count = kernel_count;
  out_list->stride = sizeof(da_kernel);
  return NULL;
}

static da_error *properties(da_device *device, da_device_properties *out_properties) {
  const da_device_interface *original = base->get_interface(DA_DEVICE_INTERFACE, 1);
  da_error *error = original->properties(device, out_properties);
  if (error != NULL) return error;
  out_properties->max_rank = MASK_MAX_RANK;
  out_properties->dtypes &= ~(uint64_t)(MASK_UNHELD_DTYPES);
  return NULL;
}

static da_error *initialize(const da_host *host) { return base->initialize(host); }
static da_error *shutdown_plugin(void) { return base->shutdown(); }

static const void *get_interface(const char *id, uint32_t min_version) {
  const void *original = base->get_interface(id, min_version);
  if (original == NULL) return NULL;
  if (strcmp(id, DA_KERNEL_INTERFACE) == 0) {
    memcpy(&kernel_table, original, sizeof(kernel_table));
    kernel_table.list = list;
    return &kernel_table;
  }
  if (strcmp(id, DA_DEVICE_INTERFACE) == 0) {
    memcpy(&device_table, original, sizeof(device_table));
    device_table.properties = properties;
    return &device_table;
  }
  if (strcmp(id, DA_RANDOM_INTERFACE) == 0 && !MASK_RANDOM) return NULL;
  return original;
}

DA_EXPORT const da_plugin *device_api_plugin(const da_plugin_request *request) {
  static da_plugin descriptor;
  if (base == NULL) {
    void *library = dlopen(MASK_BASE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return NULL;
    da_plugin_entry entry;
    *(void **)&entry = dlsym(library, DA_PLUGIN_ENTRY);
    base = entry == NULL ? NULL : entry(request);
    if (base == NULL) return NULL;
    memcpy(&descriptor, base, sizeof(descriptor));
    descriptor.name = MASK_DEVICE_TYPE;
    descriptor.device_type = MASK_DEVICE_TYPE;
    descriptor.errors = &errors;
    descriptor.initialize = initialize;
    descriptor.shutdown = shutdown_plugin;
    descriptor.get_interface = get_interface;
  }
  return &descriptor;
}
