/* What the layer library exports. Text that it returns is freed with da_layers_free. */
#ifndef DEVICE_API_LAYERS_LIBRARY_H
#define DEVICE_API_LAYERS_LIBRARY_H

#include "device_api/plugin.h"

/* A built-in layer over `next`, as a descriptor that looks like a plugin's. `options` is
 * "key=value;key=value". NULL, with a message, when it cannot be made. */
DA_EXPORT const da_plugin *da_layers_wrap(const da_plugin *next, const char *layer, const char *options,
                                          char *out_message, uint64_t message_size);
/* Forgets a layer that nobody uses any more; its tables are gone. 0 when `layer` is none. */
DA_EXPORT int32_t da_layers_release(const da_plugin *layer);
/* What a layer knows, as JSON; NULL when `layer` is none. */
DA_EXPORT const char *da_layers_report(const da_plugin *layer);
DA_EXPORT void da_layers_free(const char *text);
/* Forgets what `report` would give. 0 when `layer` is none. */
DA_EXPORT int32_t da_layers_reset(const da_plugin *layer);
/* Changes options of a layer; 0, with a message, when that is impossible. */
DA_EXPORT int32_t da_layers_configure(const da_plugin *layer, const char *options, char *out_message,
                                      uint64_t message_size);

#endif
