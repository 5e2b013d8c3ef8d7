/* A layer that gives the plugin below it a custom op: acme.doubled(x), by the plugin's own kernel `add`, so
 * that it runs in the order of the plugin's streams and in its captures.
 */
#include <stdlib.h>
#include <string.h>

#include "device_api/device_api.h"

static const da_plugin *below;
static const da_kernel_interface *kernels_below;
static da_plugin plugin;
static da_kernel_interface kernels;
static da_kernel *list; /* the kernels of the plugin, and ours */
static uint64_t count;
static const da_kernel *add;

static da_error *launch(void *state, const da_kernel_context *context, const da_tensor *const *inputs,
                        uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                        const void *attributes) {
  const da_tensor *const twice[] = {inputs[0], inputs[0]};
  (void)input_count;
  return add->launch(state, context, twice, 2, outputs, output_count, attributes);
}

static da_error *prepare(da_device *device, const da_kernel *kernel, const da_tensor *const *inputs,
                         uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                         const void *attributes, void **out_state) {
  const da_tensor *const twice[] = {inputs[0], inputs[0]};
  (void)kernel;
  (void)input_count;
  return add->prepare(device, add, twice, 2, outputs, output_count, attributes, out_state);
}

static da_error *list_kernels(da_device *device, da_kernel_list *out_list) {
  da_error *error = kernels_below->list(device, out_list);
  if (error != NULL) return error;
  if (list == NULL) {
    count = out_list->count + 1;
    list = calloc(count, sizeof *list);
    const char *first = (const char *)out_list->first;
    for (uint64_t i = 0; i + 1 < count; ++i) {
      const da_kernel *each = (const da_kernel *)(first + i * out_list->stride);
      memcpy(&list[i], each, each->struct_size < sizeof *list ? each->struct_size : sizeof *list);
      list[i].struct_size = sizeof *list;
      if (strcmp(each->op, "add") == 0 && (each->dtypes[0] & DA_DTYPE_BIT(DA_FLOAT32)) != 0) add = each;
    }
    list[count - 1] = *add;
    list[count - 1].op = "acme.doubled";
    list[count - 1].launch = launch;
    list[count - 1].prepare = add->prepare == NULL ? NULL : prepare;
    list[count - 1].supports = NULL;
  }
  out_list->first = list;
  out_list->count = count;
  out_list->stride = sizeof *list;
  return NULL;
}

static const da_custom_op ops[] = {{.struct_size = sizeof(da_custom_op),
                                    .schema = "acme.doubled(x: T) -> out: T",
                                    .types = {DA_DTYPE_BIT(DA_FLOAT32)}}};

static da_error *list_ops(da_custom_op_list *out_list) {
  out_list->first = ops;
  out_list->count = 1;
  out_list->stride = sizeof ops[0];
  return NULL;
}

static const da_custom_op_interface custom_ops = {sizeof custom_ops, NULL, DA_CUSTOM_OP_INTERFACE_VERSION, 0,
                                                  list_ops};

static const void *get_interface(const char *id, uint32_t min_version) {
  if (strcmp(id, DA_CUSTOM_OP_INTERFACE) == 0) return &custom_ops;
  const void *table = below->get_interface(id, min_version);
  if (table == NULL || strcmp(id, DA_KERNEL_INTERFACE) != 0) return table;
  kernels_below = table;
  kernels.struct_size = sizeof kernels;
  kernels.version = kernels_below->version;
  kernels.list = list_kernels;
  return &kernels;
}

DA_EXPORT const da_plugin *device_api_layer(const da_plugin *next, const char *options) {
  if (below != NULL || (options != NULL && options[0] != '\0')) return NULL;
  below = next;
  memcpy(&plugin, next, next->struct_size < sizeof plugin ? next->struct_size : sizeof plugin);
  plugin.struct_size = sizeof plugin;
  plugin.get_interface = get_interface;
  return &plugin;
}
