/* Ways through the elements of tensors. */
#ifndef PRIMITIVES_ONLY_WALK_H
#define PRIMITIVES_ONLY_WALK_H

#include "../error.h"
#include "kernels.h"
#include "numbers.h"

#define MAX_OPERANDS 4

/* One row of tensors of equal shape: `count` elements of each, from `at[k]` on, `step[k]` bytes apart. */
typedef void (*row_function)(const void *work, int64_t count, char *const *at, const int64_t *step);

/* Calls `row(work, ...)` for every row of the operands, whatever their strides; the inputs first, then the
 * output. */
da_error *for_each_row(row_function row, const void *work, const da_tensor *const *inputs,
                       uint32_t input_count, const da_tensor *output);

/* Computes `count` results of x, or of x and y, each in its own wide type. */
typedef void (*loop)(int64_t count, const chunk *x, const chunk *y, chunk *result);

/* The loops of an op by the wide type of its first input; NULL where the op has none. */
typedef struct loops {
  loop by_wide[WIDE_COUNT];
} loops;

/* Runs an op of one or two inputs, element by element. */
da_error *elementwise(const char *op, const loops *loops, const da_tensor *const *inputs,
                      uint32_t input_count, const da_tensor *output);

/* The error of a launch with a type that the kernel does not claim. The host never does this. */
da_error *unclaimed_type(const char *op, int32_t dtype);

/* A loop whose result `expression` is made of x; or of x and y. Members: s, u, r, z of a chunk. */
#define LOOP(name, type, from, to, expression)                                                 \
  static void name(int64_t count, const chunk *x_chunk, const chunk *y_chunk, chunk *result) { \
    (void)y_chunk;                                                                             \
    for (int64_t i = 0; i < count; ++i) {                                                      \
      const type x = x_chunk->from[i];                                                         \
      result->to[i] = (expression);                                                            \
    }                                                                                          \
  }

#define LOOP_OF_TWO(name, type, from, to, expression)                                          \
  static void name(int64_t count, const chunk *x_chunk, const chunk *y_chunk, chunk *result) { \
    for (int64_t i = 0; i < count; ++i) {                                                      \
      const type x = x_chunk->from[i];                                                         \
      const type y = y_chunk->from[i];                                                         \
      result->to[i] = (expression);                                                            \
    }                                                                                          \
  }

/* A launch with the four loops, in the order of enum wide. */
#define ELEMENTWISE_LAUNCH(op, signed_loop, unsigned_loop, real_loop, complex_loop)          \
  LAUNCH(op) {                                                                               \
    ANY_PARAMETER_MAY_BE_UNUSED;                                                             \
    static const loops op##_loops = {{signed_loop, unsigned_loop, real_loop, complex_loop}}; \
    return elementwise(#op, &op##_loops, inputs, input_count, outputs[0]);                   \
  }

/* Where a tensor's first element is. */
static inline char *first_element(const da_tensor *tensor) {
  return (char *)tensor->dl.data + tensor->dl.byte_offset;
}

static inline int64_t element_count(const da_tensor *tensor) {
  int64_t count = 1;
  for (int32_t axis = 0; axis < tensor->dl.ndim; ++axis) {
    count *= tensor->dl.shape[axis];
  }
  return count;
}

/* A contiguous tensor (..., length) as rows of its last axis; one element is a row of its own. */
typedef struct row_view {
  char *data;
  int32_t dtype;
  int64_t bytes; /* of one element */
  int64_t length;
  int64_t count;
} row_view;

static inline row_view rows_of(const da_tensor *tensor) {
  const int32_t rank = tensor->dl.ndim;
  row_view rows = {first_element(tensor), tensor->dtype, element_bytes(tensor->dtype), 1, 1};
  rows.length = rank > 0 ? tensor->dl.shape[rank - 1] : 1;
  for (int32_t axis = 0; axis + 1 < rank; ++axis) {
    rows.count *= tensor->dl.shape[axis];
  }
  return rows;
}

/* Reads elements [from, from + count) of a contiguous run of them. */
static inline void read_run(const row_view *view, const char *run, int64_t from, int64_t count, void *wide) {
  read_wide(view->dtype, run + from * view->bytes, view->bytes, count, wide);
}

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

#endif
