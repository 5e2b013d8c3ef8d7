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
      if (strcmp(kernel->op, "copy") == 0) continue;
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
    descriptor.initialize = initialize;
    descriptor.shutdown = shutdown_plugin;
    descriptor.get_interface = get_interface;
  }
  return &descriptor;
}
