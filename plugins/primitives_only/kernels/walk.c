/* The walk over the rows of tensors with equal shapes and any strides, and the ops that compute along it. */
#include "walk.h"

da_error *unclaimed_type(const char *op, int32_t dtype) {
  return make_error(DA_STATUS_INVALID_ARGUMENT, "%s was launched with dtype %d, which it does not claim", op,
                    (int)dtype);
}

da_error *for_each_row(row_function row, const void *work, const da_tensor *const *inputs,
                       uint32_t input_count, const da_tensor *output) {
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
    row(work, row_length, at, step);
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

typedef struct elementwise_work {
  loop compute;
  uint32_t input_count;
  int32_t input_dtype;
  int32_t output_dtype;
} elementwise_work;

/* Every chunk is read before it is written, so the output may be an input. */
static void compute_row(const void *work, int64_t count, char *const *at, const int64_t *step) {
  const elementwise_work *op = (const elementwise_work *)work;
  const uint32_t output = op->input_count;
  chunk first, second, result;
  for (int64_t from = 0; from < count; from += CHUNK) {
    const int64_t part = smaller(CHUNK, count - from);
    read_wide(op->input_dtype, at[0] + from * step[0], step[0], part, &first);
    const chunk *other = &first;
    if (op->input_count == 2) {
      read_wide(op->input_dtype, at[1] + from * step[1], step[1], part, &second);
      other = &second;
    }
    op->compute(part, &first, other, &result);
    write_wide(op->output_dtype, at[output] + from * step[output], step[output], part, &result);
  }
}

da_error *elementwise(const char *op, const loops *loops, const da_tensor *const *inputs,
                      uint32_t input_count, const da_tensor *output) {
  const elementwise_work work = {loops->by_wide[wide_of(inputs[0]->dtype)], input_count, inputs[0]->dtype,
                                 output->dtype};
  if (work.compute == NULL) {
    return unclaimed_type(op, inputs[0]->dtype);
  }
  return for_each_row(compute_row, &work, inputs, input_count, output);
}
