/* device_api/plugin.h: the one symbol a plugin exports, and the descriptor it returns.
 *
 * A complete plugin in outline:
 *
 *     static const da_plugin descriptor = {
 *         .struct_size = sizeof(da_plugin), .magic = DA_PLUGIN_MAGIC,
 *         .abi_major = DA_ABI_MAJOR, .abi_minor = DA_ABI_MINOR,
 *         .name = "acme", .vendor = "Acme Inc.", .version = "1.0.0", .device_type = "acme_npu",
 *         .layout = &da_layout, .errors = &errors,
 *         .initialize = initialize, .shutdown = shutdown, .get_interface = get_interface};
 *
 *     DA_EXPORT const da_plugin *device_api_plugin(const da_plugin_request *request) {
 *       (void)request;
 *       return &descriptor;
 *     }
 *
 * The query is pure: it touches no device, starts no thread, opens no library and logs nothing, because
 * the host calls it only to learn who the plugin is. Work begins with `initialize`.
 */
#ifndef DEVICE_API_PLUGIN_H
#define DEVICE_API_PLUGIN_H

#include "device_api/base.h"
#include "device_api/host.h"

#define DA_PLUGIN_ENTRY "device_api_plugin"
#define DA_PLUGIN_MAGIC UINT64_C(0x4950415f45434956) /* "VICE_API" read as little-endian bytes */

/* What the compiler of the plugin made of these headers; compared with what the host made of them.
 * layout.h defines `da_layout`: point at it. */
typedef struct da_struct_layout {
  const char *name;
  uint32_t size;
  uint32_t field_count;
  const uint32_t *offsets;
} da_struct_layout;

typedef struct da_layout_table {
  uint64_t struct_size;
  const void *extension;
  const da_struct_layout *structs;
  uint64_t struct_count;
} da_layout_table;

/* What the host says about itself in the query. */
typedef struct da_plugin_request {
  uint64_t struct_size;
  const void *extension;
  uint32_t host_major;
  uint32_t host_minor;
} da_plugin_request;

/* Feature bits, for lists of plugins before anything is initialised. */
#define DA_FEATURE_ASYNCHRONOUS (UINT64_C(1) << 0) /* has the stream interface */
#define DA_FEATURE_COLLECTIVES (UINT64_C(1) << 1)
#define DA_FEATURE_GRAPHS (UINT64_C(1) << 2)

typedef struct da_plugin {
  uint64_t struct_size;
  const void *extension;
  uint64_t magic;     /* DA_PLUGIN_MAGIC */
  uint32_t abi_major; /* of the headers the plugin was built with */
  uint32_t abi_minor;
  uint32_t min_host_minor; /* oldest host minor of this major it accepts */
  uint32_t reserved;
  const char *name; /* of the plugin: [a-z0-9_-]+ */
  const char *vendor;
  const char *version;     /* of the plugin, any text */
  const char *device_type; /* the "npu" of "npu:0": [a-z][a-z0-9_]* */
  uint64_t features;
  const da_layout_table *layout;
  const da_error_interface *errors;
  /* Makes the plugin ready: drivers are opened here. `host` lives until shutdown returns. Called at most
   * once with success; after a failure it may be called again.
   * [mandatory] [sync: plugin] [order: host] [owner: none] [zero: never] */
  da_error *(*initialize)(const da_host *host);
  /* Ends everything, bounded in time; a second call does nothing.
   * [mandatory] [sync: plugin] [order: host] [owner: none] [zero: never] */
  da_error *(*shutdown)(void);
  /* The table of an interface ("device_api.device", ...), or NULL when it is not implemented in at least
   * `min_version`. Static for the life of the process; may be called before `initialize`.
   * [mandatory] [thread-safe] [order: none] [owner: plugin, for ever] [zero: never] */
  const void *(*get_interface)(const char *id, uint32_t min_version);
} da_plugin;

/* The exported symbol. NULL refuses the host; a plugin that would rather explain returns its descriptor
 * and fails in `initialize`. */
typedef const da_plugin *(*da_plugin_entry)(const da_plugin_request *request);

#endif
