/* A layer: takes the descriptor of a plugin (or of the layer below) and gives one of its own.
 *
 * This one limits the device memory that a program may hold, and logs the greatest amount at the end:
 *
 *     DEVICE_API_LAYERS="/path/libexample_layer.so(limit=1000000)" python program.py
 *
 * Three things are shown, which every layer needs: replacing functions of an interface and passing the rest
 * through, returning errors of its own, and seeing the start and the end of the plugin.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_api/device_api.h"

/* --- what lies below ------------------------------------------------------------------------------------ */

/* Table functions are not told whose table they stand in. One static set of functions therefore serves one
 * plugin; device_api_layer declines a second one. */
static const da_plugin *next;
static const da_host *host;
static const da_memory_interface *next_memory;
static da_plugin plugin;
static da_memory_interface memory;

static uint64_t limit = UINT64_MAX;
static _Atomic uint64_t held;
static _Atomic uint64_t greatest;

/* --- errors --------------------------------------------------------------------------------------------- */

/* The host reads errors through the descriptor's table, so a layer with errors of its own has a table of its
 * own, which tells them from those of the plugin. A static error needs no memory, and destroying it does
 * nothing. */
static char over_limit;

static int is_own(const da_error *error) { return (const void *)error == (const void *)&over_limit; }

static int32_t error_code(const da_error *error) {
  return is_own(error) ? DA_STATUS_OUT_OF_MEMORY : next->errors->code(error);
}

static const char *error_message(const da_error *error) {
  return is_own(error) ? "the limit of the example layer would be passed" : next->errors->message(error);
}

static void error_destroy(da_error *error) {
  if (!is_own(error)) next->errors->destroy(error);
}

static const da_error_interface errors = {sizeof errors, NULL, error_code, error_message, error_destroy};

/* --- memory --------------------------------------------------------------------------------------------- */

/* Handles are passed through as they are. Sizes are remembered beside them, in a table of open addressing. */
#define SLOTS 4096
static struct {
  _Atomic(void *) handle;
  uint64_t bytes;
} sizes[SLOTS];

static void remember(void *handle, uint64_t bytes) {
  for (size_t i = 0; i < SLOTS; ++i) {
    void *expected = NULL;
    if (!atomic_compare_exchange_strong(&sizes[i].handle, &expected, handle)) continue;
    sizes[i].bytes = bytes;
    return;
  }
}

static uint64_t forget(void *handle) {
  for (size_t i = 0; i < SLOTS; ++i) {
    void *expected = handle;
    const uint64_t bytes = sizes[i].bytes;
    if (atomic_compare_exchange_strong(&sizes[i].handle, &expected, NULL)) return bytes;
  }
  return 0;
}

static da_error *memory_allocate(da_device *device, int32_t kind, uint64_t bytes, void **out_handle) {
  const uint64_t now = atomic_fetch_add(&held, bytes) + bytes;
  if (now > limit || now < bytes) {
    atomic_fetch_sub(&held, bytes);
    return (da_error *)&over_limit;
  }
  da_error *error = next_memory->allocate(device, kind, bytes, out_handle);
  if (error != NULL) {
    atomic_fetch_sub(&held, bytes);
    return error;
  }
  if (*out_handle != NULL) remember(*out_handle, bytes);
  uint64_t most = atomic_load(&greatest);
  while (now > most && !atomic_compare_exchange_weak(&greatest, &most, now)) {
  }
  return NULL;
}

static da_error *memory_free(da_device *device, int32_t kind, void *handle) {
  /* Forgotten first: as soon as the plugin has freed it, another thread may be given the same handle. */
  const uint64_t bytes = handle == NULL ? 0 : forget(handle);
  da_error *error = next_memory->free(device, kind, handle);
  if (error == NULL) {
    atomic_fetch_sub(&held, bytes);
  } else if (bytes != 0) {
    remember(handle, bytes);
  }
  return error;
}

/* --- the descriptor ------------------------------------------------------------------------------------- */

static da_error *initialize(const da_host *given) {
  host = given;
  return next->initialize(given);
}

static da_error *shut_down(void) {
  if (host != NULL) {
    char line[80];
    snprintf(line, sizeof line, "example layer: at most %llu bytes were held",
             (unsigned long long)atomic_load(&greatest));
    host->log(host->context, DA_LOG_INFO, line);
  }
  da_error *error = next->shutdown();
  if (error == NULL) host = NULL;
  return error;
}

static const void *get_interface(const char *id, uint32_t min_version) {
  const void *table = next->get_interface(id, min_version);
  if (table == NULL || strcmp(id, DA_MEMORY_INTERFACE) != 0) return table;
  if (next_memory == NULL) {
    /* The table below may be shorter or longer than the one in this layer's headers. What this layer does
     * not know is left out; what the plugin does not have stays zero, which means "not implemented". */
    const da_memory_interface *below = table;
    memset(&memory, 0, sizeof memory);
    memcpy(&memory, below, below->struct_size < sizeof memory ? below->struct_size : sizeof memory);
    memory.struct_size = sizeof memory;
    memory.allocate = memory_allocate;
    memory.free = memory_free;
    next_memory = below;
  }
  return &memory;
}

/* The one exported symbol. `options` is "key=value;key=value". NULL declines. `below` lives for ever. */
DA_EXPORT const da_plugin *device_api_layer(const da_plugin *below, const char *options) {
  if (next != NULL) return NULL;
  if (options != NULL && options[0] != '\0') {
    char *end = NULL;
    if (strncmp(options, "limit=", 6) != 0) return NULL;
    limit = strtoull(options + 6, &end, 10);
    if (end == options + 6 || *end != '\0') return NULL;
  }
  next = below;
  memset(&plugin, 0, sizeof plugin);
  memcpy(&plugin, below, below->struct_size < sizeof plugin ? below->struct_size : sizeof plugin);
  plugin.struct_size = sizeof plugin;
  plugin.errors = &errors;
  plugin.initialize = initialize;
  plugin.shutdown = shut_down;
  plugin.get_interface = get_interface;
  return &plugin;
}
