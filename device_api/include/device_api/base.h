/* device_api/base.h: names, numbers and the tensor descriptor that every interface shares.
 *
 * Conventions of all headers in this folder
 *   - Plain C99. Nothing here needs a host library: a plugin has no undefined host symbol.
 *   - Every struct that crosses the border opens with `struct_size` and `extension`. Whoever fills a
 *     struct zero-fills it and sets `struct_size = sizeof(that struct)` as its own header sees it. A
 *     reader accepts any size >= the frozen minimum (layout.h), treats a field as present when the size
 *     reaches its end, and ignores an unknown tail. `extension` is NULL until a chain is defined.
 *   - A function that can fail returns `da_error *`: NULL is success. Nothing may exit, abort, throw or
 *     longjmp across the border, in either direction.
 *   - `out_` parameters come last and are written only on success.
 *   - Everything the host passes by pointer (descriptors, shapes, attributes, strings) is valid until the
 *     call returns; a plugin copies what asynchronous work needs. Tensor memory lives until the stream
 *     has passed the work.
 *
 * Rules in brackets behind each function are read by tools (documentation, the validation layer):
 *   [mandatory] | [optional]   an optional slot may be NULL: the host degrades, once, visibly
 *   [thread-safe]              any thread, concurrently
 *   [sync: X]                  calls on one X are made by one thread at a time
 *   [order: none|host|stream]  nothing to order; done when the call returns; ordered on the stream argument
 *   [owner: ...]               who frees what the call produces
 *   [zero: ok|never]           zero sizes succeed and do nothing; or the host never passes one
 */
#ifndef DEVICE_API_BASE_H
#define DEVICE_API_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define DA_EXTERN_C extern "C"
#else
#define DA_EXTERN_C
#endif

#if defined(_WIN32)
#define DA_EXPORT DA_EXTERN_C __declspec(dllexport)
#else
#define DA_EXPORT DA_EXTERN_C __attribute__((visibility("default")))
#endif

/* The version of these headers. One major always loads, in both directions; a draft (major 0) too. */
#define DA_ABI_MAJOR 0
#define DA_ABI_MINOR 11

#define DA_MAX_RANK 32
#define DA_MAX_TYPE_VARIABLES 4

/* Status codes. 0x10000 and above belong to vendors. Fields that hold one are int32_t. */
enum da_status {
  DA_STATUS_INVALID = 0,
  DA_STATUS_UNIMPLEMENTED = 1, /* not offered: the host takes another way, and says so once */
  DA_STATUS_INVALID_ARGUMENT = 2,
  DA_STATUS_OUT_OF_MEMORY = 3, /* the host releases cached blocks and tries once more */
  DA_STATUS_UNAVAILABLE = 4,   /* no driver, no device, no permission: the message says which */
  DA_STATUS_INTERNAL = 5,
  DA_STATUS_TIMEOUT = 6,
  DA_STATUS_ABORTED = 7,
  DA_STATUS_DEVICE_LOST = 8, /* every later call on the device fails as well */
  DA_STATUS_OUT_OF_RANGE = 9,
  DA_STATUS_FAILED_PRECONDITION = 10,
  DA_STATUS_VENDOR = 0x10000
};

/* Element types. A kernel's claims are sets of these, written DA_DTYPE_BIT(a) | DA_DTYPE_BIT(b). */
enum da_dtype {
  DA_DTYPE_INVALID = 0,
  DA_BOOL = 1, /* one byte, 0 or 1 */
  DA_INT8 = 2,
  DA_INT16 = 3,
  DA_INT32 = 4,
  DA_INT64 = 5,
  DA_UINT8 = 6,
  DA_UINT16 = 7,
  DA_UINT32 = 8,
  DA_UINT64 = 9,
  DA_FLOAT16 = 10,
  DA_BFLOAT16 = 11,
  DA_FLOAT32 = 12,
  DA_FLOAT64 = 13,
  DA_COMPLEX64 = 14,
  DA_COMPLEX128 = 15,
  DA_FLOAT8_E4M3FN = 16, /* storage only */
  DA_FLOAT8_E5M2 = 17    /* storage only */
};
#define DA_DTYPE_BIT(dtype) (UINT64_C(1) << (dtype))

/* Opaque handles, owned by the plugin. The host never looks inside. */
typedef struct da_device da_device;
typedef struct da_stream da_stream;
typedef struct da_event da_event;
typedef struct da_error da_error;

/* The numbers of DLPack, so that the descriptor below is a DLTensor bit for bit. */
typedef struct da_dl_device {
  int32_t type; /* DLDeviceType: 1 CPU, 2 CUDA, ... 12 for devices without a code */
  int32_t id;
} da_dl_device;

typedef struct da_dl_dtype {
  uint8_t code; /* 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool, 10 e4m3fn, 12 e5m2 */
  uint8_t bits;
  uint16_t lanes; /* 1 */
} da_dl_dtype;

typedef struct da_dl_tensor {
  void *data; /* an opaque memory handle of the device: never add to it, use byte_offset */
  da_dl_device device;
  int32_t ndim;
  da_dl_dtype dtype;
  int64_t *shape;
  int64_t *strides; /* in elements, never NULL for ndim > 0; 0 and negative only where a kernel says so */
  uint64_t byte_offset;
} da_dl_tensor;

/* A tensor as kernels see it. */
typedef struct da_tensor {
  uint64_t struct_size;
  const void *extension;
  da_dl_tensor dl;
  int32_t dtype; /* enum da_dtype: the same fact as dl.dtype, ready for a switch */
  int32_t reserved;
} da_tensor;

/* How the host reads and destroys a plugin's errors. Reached through the plugin descriptor.
 * A plugin keeps one static out-of-memory error, so that failing never needs to allocate. */
typedef struct da_error_interface {
  uint64_t struct_size;
  const void *extension;
  /* enum da_status, or a vendor code. [mandatory] [thread-safe] [order: none] [owner: none] [zero: never] */
  int32_t (*code)(const da_error *error);
  /* What happened, to what, and why; UTF-8. [mandatory] [thread-safe] [order: none] [owner: the error] [zero:
   * never] */
  const char *(*message)(const da_error *error);
  /* Destroys an error; NULL is fine. [mandatory] [thread-safe] [order: host] [owner: none] [zero: ok] */
  void (*destroy)(da_error *error);
} da_error_interface;

#endif
