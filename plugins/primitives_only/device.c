/* The device interface: one synchronous device whose memory is host memory. */
#include <string.h>

#include "error.h"
#include "interfaces.h"

/* Memory holds elements of every type; kernels.h says what is computed with which. */
#define HELD_TYPES ((DA_DTYPE_BIT(DA_FLOAT8_E5M2) << 1) - DA_DTYPE_BIT(DA_BOOL))

struct da_device {
  uint32_t index;
};

static da_device the_device = {0};

static da_error *device_count(uint32_t *out_count) {
  *out_count = 1;
  return NULL;
}

static da_error *device_open(uint32_t index, da_device **out_device) {
  if (index != 0) {
    return make_error(DA_STATUS_INVALID_ARGUMENT, "there is one device; no device has number %u",
                      (unsigned)index);
  }
  *out_device = &the_device;
  return NULL;
}

static da_error *device_close(da_device *device) {
  (void)device;
  return NULL;
}

static da_error *device_properties(da_device *device, da_device_properties *out_properties) {
  (void)device;
  da_device_properties known;
  memset(&known, 0, sizeof(known));
  known.name = "Primitives only (scalar C)";
  known.driver_version = "none";
  known.runtime_version = "none";
  known.total_memory = DEVICE_MEMORY_BYTES;
  known.allocation_alignment = 16;
  known.flags = DA_DEVICE_HOST_VISIBLE | DA_DEVICE_DETERMINISTIC;
  known.dtypes = HELD_TYPES;
  known.max_rank = DA_MAX_RANK;
  known.compute_units = 1;
  known.dl_device_type = 1;
  /* An older host knows fewer fields, a newer one more: fill those that both know, keep the caller's size. */
  known.struct_size = out_properties->struct_size;
  size_t size = known.struct_size < sizeof(known) ? (size_t)known.struct_size : sizeof(known);
  memcpy(out_properties, &known, size);
  return NULL;
}

const da_device_interface device_interface = {
    sizeof(da_device_interface),
    NULL,
    DA_DEVICE_INTERFACE_VERSION,
    0,
    device_count,
    device_open,
    device_close,
    device_properties,
    NULL, /* synchronize: every call is finished when it returns */
};
