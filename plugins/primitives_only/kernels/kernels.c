/* The kernel interface: the list in kernels.h as data. */
#include "kernels.h"

#include "../interfaces.h"

#define KERNEL_ENTRY(op, first, second, flags) \
  {sizeof(da_kernel), NULL, #op, {(first), (second), 0, 0}, (flags), 0, 0, launch_##op, NULL, NULL, NULL},

static const da_kernel kernels[] = {KERNELS(KERNEL_ENTRY)};

static da_error *kernel_list(da_device *device, da_kernel_list *out_list) {
  (void)device;
  out_list->first = kernels;
  out_list->count = sizeof(kernels) / sizeof(kernels[0]);
  out_list->stride = sizeof(kernels[0]);
  return NULL;
}

const da_kernel_interface kernel_interface = {
    sizeof(da_kernel_interface), NULL, DA_KERNEL_INTERFACE_VERSION, 0, kernel_list,
};
