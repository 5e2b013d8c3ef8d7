/* Tensors seen as rows of their last axis, for kernels that take contiguous operands. */
#ifndef TEMPLATE_DEVICE_ROWS_H
#define TEMPLATE_DEVICE_ROWS_H

#include "elementwise.h"

/* A tensor (..., length) as `count` rows; the last axis is there, since the host gives rank 1 at least. */
typedef struct row_view {
  char *data;
  int64_t count;
  int64_t length;
} row_view;

static inline row_view rows_of(const da_tensor *tensor) {
  row_view rows = {first_element(tensor), 1, 1};
  for (int32_t axis = 0; axis + 1 < tensor->dl.ndim; ++axis) {
    rows.count *= tensor->dl.shape[axis];
  }
  if (tensor->dl.ndim > 0) {
    rows.length = tensor->dl.shape[tensor->dl.ndim - 1];
  }
  return rows;
}

#endif
