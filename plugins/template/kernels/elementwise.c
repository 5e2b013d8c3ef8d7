/* The walk over the rows of tensors with equal shapes and any strides. */
#include "elementwise.h"

#include "../error.h"

int64_t element_bytes(int32_t dtype) {
  switch (dtype) {
    case DA_BOOL:
      return 1;
    case DA_INT32:
    case DA_FLOAT32:
      return 4;
    default:
      return 8;
  }
}

da_error *unclaimed_type(const char *op, int32_t dtype) {
  return make_error(DA_STATUS_INVALID_ARGUMENT, "%s was launched with dtype %d, which it does not claim", op,
                    (int)dtype);
}

da_error *elementwise(row_function row, const da_tensor *const *inputs, uint32_t input_count,
                      const da_tensor *output) {
  const da_tensor *operands[MAX_OPERANDS] = {NULL, NULL, NULL, NULL};
  char *at[MAX_OPERANDS] = {NULL, NULL, NULL, NULL};
  int64_t bytes[MAX_OPERANDS] = {0, 0, 0, 0};
  int64_t step[MAX_OPERANDS] = {0, 0, 0, 0};
  int64_t index[DA_MAX_RANK] = {0};
  const uint32_t operand_count = input_count + 1;
  const int32_t rank = output->dl.ndim;
  for (uint32_t k = 0; k < operand_count; ++k) {
    operands[k] = k < input_count ? inputs[k] : output;
    at[k] = first_element(operands[k]);
    bytes[k] = element_bytes(operands[k]->dtype);
    step[k] = rank > 0 ? operands[k]->dl.strides[rank - 1] * bytes[k] : 0;
  }
  const int64_t row_length = rank > 0 ? output->dl.shape[rank - 1] : 1;
  for (;;) {
    row(row_length, at, step);
    /* The next row: count up like an odometer, the last axis but one first. */
    int32_t axis = rank - 2;
    for (; axis >= 0; --axis) {
      const int64_t length = output->dl.shape[axis];
      ++index[axis];
      const int64_t moved = index[axis] < length ? 1 : 1 - length;
      for (uint32_t k = 0; k < operand_count; ++k) {
        at[k] += moved * operands[k]->dl.strides[axis] * bytes[k];
      }
      if (index[axis] < length) {
        break;
      }
      index[axis] = 0;
    }
    if (axis < 0) {
      return NULL;
    }
  }
}
