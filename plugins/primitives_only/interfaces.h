/* The interfaces that this plugin implements, one source file each. */
#ifndef PRIMITIVES_ONLY_INTERFACES_H
#define PRIMITIVES_ONLY_INTERFACES_H

#include "device_api/device_api.h"

/* Bytes of memory that the device has. */
#define DEVICE_MEMORY_BYTES (UINT64_C(8) << 30)

extern const da_device_interface device_interface; /* device.c */
extern const da_memory_interface memory_interface; /* memory.c */
extern const da_kernel_interface kernel_interface; /* kernels/kernels.c */

#endif
