/* The plugin itself: who it is, and where its interfaces are. The only file with an exported symbol. */
#include <string.h>

#include "device_api/layout.h"
#include "error.h"
#include "interfaces.h"

/* There is no driver to open. */
static da_error *initialize(const da_host *host) {
  (void)host;
  return NULL;
}

static da_error *shutdown(void) { return NULL; }

static const void *get_interface(const char *id, uint32_t min_version) {
  if (strcmp(id, DA_DEVICE_INTERFACE) == 0 && min_version <= device_interface.version) {
    return &device_interface;
  }
  if (strcmp(id, DA_MEMORY_INTERFACE) == 0 && min_version <= memory_interface.version) {
    return &memory_interface;
  }
  if (strcmp(id, DA_KERNEL_INTERFACE) == 0 && min_version <= kernel_interface.version) {
    return &kernel_interface;
  }
  return NULL;
}

static const da_plugin descriptor = {
    sizeof(da_plugin),
    NULL,
    DA_PLUGIN_MAGIC,
    DA_ABI_MAJOR,
    DA_ABI_MINOR,
    9, /* the oldest host minor that will do */
    0,
    "primitives_only", /* name */
    "device_api",      /* vendor */
    "0.1.0",           /* version */
    "primitives",      /* device type: the string users write */
    0,                 /* features: no streams, collectives or graphs */
    &da_layout,
    &errors,
    initialize,
    shutdown,
    get_interface,
};

DA_EXPORT const da_plugin *device_api_plugin(const da_plugin_request *request) {
  (void)request;
  return &descriptor;
}
