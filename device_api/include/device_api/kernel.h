/* device_api/kernel.h: the kernels of a plugin. Mandatory.
 *
 * The op set (ops.h, and the op reference in the documentation) says what each op means. The host does
 * promotion, broadcasting, views, axes and output shapes; a kernel sees equal shapes (a broadcast operand
 * has stride 0) and the dtypes that it claimed. What a plugin does not offer is composed from the
 * primitives that it does.
 *
 *     static const da_kernel kernels[] = {
 *         {.struct_size = sizeof(da_kernel), .op = "add", .dtypes = {DA_DTYPE_BIT(DA_FLOAT32)},
 *          .flags = DA_KERNEL_DETERMINISTIC | DA_KERNEL_IN_PLACE, .launch = add_f32},
 *     };
 */
#ifndef DEVICE_API_KERNEL_H
#define DEVICE_API_KERNEL_H

#include "device_api/base.h"

#define DA_KERNEL_INTERFACE "device_api.kernel"
#define DA_KERNEL_INTERFACE_VERSION 1

enum da_kernel_flag {
  DA_KERNEL_FLAG_NONE = 0,
  DA_KERNEL_STRIDED_INPUTS = 1,  /* inputs of any strides, 0 and negative too; else row-major contiguous */
  DA_KERNEL_STRIDED_OUTPUTS = 2, /* outputs of any strides that do not overlap themselves */
  DA_KERNEL_IN_PLACE = 4,        /* output 0 may be exactly (same memory, strides, dtype) one of the inputs */
  DA_KERNEL_DETERMINISTIC = 8,   /* same inputs, same bits */
  DA_KERNEL_IN_PLACE_PAIRS = 16  /* each output may be exactly the input that ops.h pairs it with */
};

enum da_context_flag {
  DA_CONTEXT_FLAG_NONE = 0,
  DA_CONTEXT_DETERMINISTIC = 1 /* the caller asked for same inputs, same bits */
};

/* What a launch runs in. Valid until the launch returns. */
typedef struct da_kernel_context {
  uint64_t struct_size;
  const void *extension;
  da_device *device;
  da_stream *stream;    /* NULL: synchronous */
  uint64_t flags;       /* enum da_context_flag */
  uint64_t random_seed; /* Philox 4x32-10 key and counter for ops that draw random numbers */
  uint64_t random_offset;
  void *host_context; /* first argument of the functions below */
  /* Memory that lives until the stream has passed this launch, from the host's caching allocator. Its error
   * belongs to the host: a kernel returns it as it is, and neither reads nor destroys it.
   * [mandatory] [sync: launch] [order: stream] [owner: host] [zero: ok] */
  da_error *(*scratch)(void *host_context, uint64_t bytes, void **out_handle, uint64_t *out_offset);
} da_kernel_context;

typedef da_error *(*da_kernel_launch)(void *state, const da_kernel_context *context,
                                      const da_tensor *const *inputs, uint32_t input_count,
                                      const da_tensor *const *outputs, uint32_t output_count,
                                      const void *attributes);

/* One kernel: an op for sets of dtypes. The array it stands in is static. */
typedef struct da_kernel {
  uint64_t struct_size;
  const void *extension;
  const char *op; /* name in the op set */
  /* One DA_DTYPE_BIT set for each type variable of the op, in the order of its entry (T, U, ...). */
  uint64_t dtypes[DA_MAX_TYPE_VARIABLES];
  uint64_t flags;   /* enum da_kernel_flag */
  int32_t priority; /* of several that fit, the greatest wins; 0 is normal */
  int32_t reserved;
  /* Enqueues the work on context->stream. An absent optional input is a NULL entry. The host never
   * launches when every output is empty. `state` is what `prepare` made, or NULL when nothing was prepared: a
   * kernel that cannot work so declines with UNIMPLEMENTED.
   * [mandatory] [thread-safe] [order: stream] [owner: none] [zero: never] */
  da_kernel_launch launch;
  /* Called once per plan (shapes, strides, dtypes, attributes), with tensors that have no data: choose an
   * algorithm, compile, fold dimensions. UNIMPLEMENTED: this kernel does not take these after all.
   * [optional] [thread-safe] [order: host] [owner: host, until release] [zero: never] */
  da_error *(*prepare)(da_device *device, const struct da_kernel *kernel, const da_tensor *const *inputs,
                       uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                       const void *attributes, void **out_state);
  /* Frees a state; present when prepare is. [optional] [thread-safe] [order: host] [owner: none] [zero: ok]
   */
  void (*release)(void *state);
  /* A closer answer than `dtypes` and `flags`: 1 when this kernel takes these tensors, else 0.
   * [optional] [thread-safe] [order: none] [owner: none] [zero: ok] */
  da_error *(*supports)(da_device *device, const struct da_kernel *kernel, const da_tensor *const *inputs,
                        uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                        const void *attributes, int32_t *out_supported);
} da_kernel;

/* `stride` is sizeof(da_kernel) as the plugin sees it, so that entries can grow. */
typedef struct da_kernel_list {
  uint64_t struct_size;
  const void *extension;
  const da_kernel *first;
  uint64_t count;
  uint64_t stride;
} da_kernel_list;

typedef struct da_kernel_interface {
  uint64_t struct_size;
  const void *extension;
  uint32_t version;
  uint32_t reserved;
  /* The kernels of this device. [mandatory] [thread-safe] [order: none] [owner: plugin, for ever] [zero: ok]
   */
  da_error *(*list)(da_device *device, da_kernel_list *out_list);
} da_kernel_interface;

#endif
