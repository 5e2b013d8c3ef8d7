/* Walking tensors of equal shape, whatever their strides, and the macros that write one loop per type. */
#ifndef TEMPLATE_DEVICE_ELEMENTWISE_H
#define TEMPLATE_DEVICE_ELEMENTWISE_H

#include "kernels.h"

#define MAX_OPERANDS 4

/* One row: `count` elements of each operand, from `at[k]` on, `step[k]` bytes apart. */
typedef void (*row_function)(int64_t count, char *const *at, const int64_t *step);

/* Calls `row` for every row of the operands; inputs first, then the one output. */
da_error *elementwise(row_function row, const da_tensor *const *inputs, uint32_t input_count,
                      const da_tensor *output);

/* The error of a launch with a type that the kernel does not claim. The host never does this. */
da_error *unclaimed_type(const char *op, int32_t dtype);

int64_t element_bytes(int32_t dtype);

/* Where a tensor's first element is. */
static inline char *first_element(const da_tensor *tensor) {
  return (char *)tensor->dl.data + tensor->dl.byte_offset;
}

/* Rows that compute `expression` from x, from x and y. */
#define UNARY_ROW(name, input_type, output_type, expression)              \
  static void name(int64_t count, char *const *at, const int64_t *step) { \
    for (int64_t i = 0; i < count; ++i) {                                 \
      const input_type x = *(const input_type *)(at[0] + i * step[0]);    \
      *(output_type *)(at[1] + i * step[1]) = (output_type)(expression);  \
    }                                                                     \
  }

#define BINARY_ROW(name, input_type, output_type, expression)             \
  static void name(int64_t count, char *const *at, const int64_t *step) { \
    for (int64_t i = 0; i < count; ++i) {                                 \
      const input_type x = *(const input_type *)(at[0] + i * step[0]);    \
      const input_type y = *(const input_type *)(at[1] + i * step[1]);    \
      *(output_type *)(at[2] + i * step[2]) = (output_type)(expression);  \
    }                                                                     \
  }

/* A launch that chooses the row by the type of the first input. A family without a type passes NULL for it.
 */
#define ELEMENTWISE_LAUNCH(op, bool_row, int32_row, int64_row, float_row, double_row) \
  LAUNCH(op) {                                                                        \
    ANY_PARAMETER_MAY_BE_UNUSED;                                                      \
    row_function row = NULL;                                                          \
    switch (inputs[0]->dtype) {                                                       \
      case DA_BOOL:                                                                   \
        row = bool_row;                                                               \
        break;                                                                        \
      case DA_INT32:                                                                  \
        row = int32_row;                                                              \
        break;                                                                        \
      case DA_INT64:                                                                  \
        row = int64_row;                                                              \
        break;                                                                        \
      case DA_FLOAT32:                                                                \
        row = float_row;                                                              \
        break;                                                                        \
      case DA_FLOAT64:                                                                \
        row = double_row;                                                             \
        break;                                                                        \
      default:                                                                        \
        break;                                                                        \
    }                                                                                 \
    return row == NULL ? unclaimed_type(#op, inputs[0]->dtype)                        \
                       : elementwise(row, inputs, input_count, outputs[0]);           \
  }

#endif
