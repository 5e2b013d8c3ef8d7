/* device_api/custom_op.h: ops that the op set does not know, declared by the plugin. Optional.
 *
 * A declaration is data: a schema, the dtypes of its type variables, and the name of the op that is its
 * gradient. Its kernels stand in the ordinary list of kernels, under the name of the schema. Such an op is
 * planned, cached and recorded like those of the op set, and is found as `custom_ops.acme.swish`.
 *
 *     static const da_custom_op ops[] = {
 *         {.struct_size = sizeof(da_custom_op),
 *          .schema = "acme.swish(x: T, *, beta: float = 1.0) -> out: T",
 *          .types = {DA_DTYPE_BIT(DA_FLOAT32)}, .gradient = "acme.swish_gradient"},
 *         {.struct_size = sizeof(da_custom_op),
 *          .schema = "acme.swish_gradient(g: T, y: T, x: T, *, beta: float = 1.0) -> grad_x: T",
 *          .types = {DA_DTYPE_BIT(DA_FLOAT32)}},
 *     };
 *
 * The language of schemas is in the documentation, with the fields of the attributes. A gradient op takes the
 * gradients of the outputs, the outputs and the inputs, in the order of the schema, and attributes of the
 * same names and kinds; its output "grad_x" is the gradient of input x, and an input without such an output
 * has none.
 */
#ifndef DEVICE_API_CUSTOM_OP_H
#define DEVICE_API_CUSTOM_OP_H

#include "device_api/base.h"

#define DA_CUSTOM_OP_INTERFACE "device_api.custom_op"
#define DA_CUSTOM_OP_INTERFACE_VERSION 1

/* One output as `infer` tells it. The host zero-fills it and sets `dtype`. */
typedef struct da_output_shape {
  uint64_t struct_size;
  const void *extension;
  int32_t dtype; /* enum da_dtype: what the schema says; infer leaves it alone */
  int32_t rank;  /* 0 to DA_MAX_RANK */
  int64_t sizes[DA_MAX_RANK];
} da_output_shape;

/* One op. The array it stands in is static. */
typedef struct da_custom_op {
  uint64_t struct_size;
  const void *extension;
  const char *schema; /* "vendor.name(inputs, *, attributes) -> outputs", UTF-8 */
  const char *doc;    /* one line for people, or NULL */
  /* One DA_DTYPE_BIT set for each type variable of the schema, in the order in which they appear; the rest 0.
   */
  uint64_t types[DA_MAX_TYPE_VARIABLES];
  const char *gradient;  /* an op of this list, of the op set or of a plugin in use; NULL: none */
  const char *promotion; /* "common", "float", "number", "first", "truth" or "none"; NULL: "common" */
  const char *amp;       /* "allow", "deny", "promote" or "neutral"; NULL: "neutral" */
  double ulp;            /* error of floating results that is within bounds, in units in the last place */
  /* The shapes of the outputs, from inputs without data (an absent one is NULL, a list is flattened at the
   * end) and the attributes as kernels get them. INVALID_ARGUMENT refuses shapes, with the reason in its
   * message. NULL: inputs broadcast together, and every output has their shape. [optional] [thread-safe]
   * [order: none] [owner: none] [zero: ok] */
  da_error *(*infer)(const struct da_custom_op *op, const da_tensor *const *inputs, uint32_t input_count,
                     const void *attributes, uint32_t output_count, da_output_shape *out_shapes);
} da_custom_op;

/* `stride` is sizeof(da_custom_op) as the plugin sees it, so that entries can grow. */
typedef struct da_custom_op_list {
  uint64_t struct_size;
  const void *extension;
  const da_custom_op *first;
  uint64_t count;
  uint64_t stride;
} da_custom_op_list;

typedef struct da_custom_op_interface {
  uint64_t struct_size;
  const void *extension;
  uint32_t version;
  uint32_t reserved;
  /* The ops of this plugin, the same at every call. Asked for once, when the plugin has been initialised.
   * [mandatory] [thread-safe] [order: none] [owner: plugin, for ever] [zero: ok] */
  da_error *(*list)(da_custom_op_list *out_list);
} da_custom_op_interface;

#endif
