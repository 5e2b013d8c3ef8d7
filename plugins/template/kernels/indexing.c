/* gather_rows and scatter_rows: the rows of a matrix that an index names. */
#include <string.h>

#include "../error.h"
#include "rows.h"

/* Every index is looked at before any row moves, so that a bad one leaves nothing half done. */
static da_error *check_index(const char *op, const int64_t *index, int64_t count, int64_t row_count) {
  for (int64_t i = 0; i < count; ++i) {
    if (index[i] < 0 || index[i] >= row_count) {
      return make_error(DA_STATUS_OUT_OF_RANGE, "%s: index %lld at position %lld, where there are %lld rows",
                        op, (long long)index[i], (long long)i, (long long)row_count);
    }
  }
  return NULL;
}

LAUNCH(gather_rows) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const row_view x = rows_of(inputs[0]);
  const int64_t *index = (const int64_t *)first_element(inputs[1]);
  const int64_t count = inputs[1]->dl.shape[0];
  const size_t row_bytes = (size_t)(x.length * element_bytes(inputs[0]->dtype));
  char *result = first_element(outputs[0]);
  da_error *error = check_index("gather_rows", index, count, x.count);
  for (int64_t i = 0; error == NULL && i < count; ++i) {
    memcpy(result + (size_t)i * row_bytes, x.data + (size_t)index[i] * row_bytes, row_bytes);
  }
  return error;
}

#define ADD_ROW(dtype, type, wide)                                                               \
  case dtype:                                                                                    \
    for (int64_t j = 0; j < length; ++j) {                                                       \
      ((type *)result)[j] = (type)((wide)((type *)result)[j] + (wide)((const type *)update)[j]); \
    }                                                                                            \
    return NULL;

static da_error *add_row(int32_t dtype, char *result, const char *update, int64_t length) {
  switch (dtype) {
    ADD_ROW(DA_INT32, int32_t, uint32_t)
    ADD_ROW(DA_INT64, int64_t, uint64_t)
    ADD_ROW(DA_FLOAT32, float, float)
    ADD_ROW(DA_FLOAT64, double, double)
    default:
      return unclaimed_type("scatter_rows with addition", dtype);
  }
}

LAUNCH(scatter_rows) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const da_attributes_scatter_rows *scatter = (const da_attributes_scatter_rows *)attributes;
  const row_view x = rows_of(inputs[0]);
  const int64_t *index = (const int64_t *)first_element(inputs[1]);
  const int64_t count = inputs[1]->dl.shape[0];
  const char *updates = first_element(inputs[2]);
  const size_t row_bytes = (size_t)(x.length * element_bytes(inputs[0]->dtype));
  char *result = first_element(outputs[0]);
  da_error *error = check_index("scatter_rows", index, count, x.count);
  if (error != NULL) {
    return error;
  }
  memcpy(result, x.data, (size_t)x.count * row_bytes);
  for (int64_t i = 0; error == NULL && i < count; ++i) {
    char *row = result + (size_t)index[i] * row_bytes;
    const char *update = updates + (size_t)i * row_bytes;
    if (scatter->reduction == DA_SCATTER_ROWS_REDUCTION_ADD) {
      error = add_row(outputs[0]->dtype, row, update, x.length);
    } else {
      memcpy(row, update, row_bytes);
    }
  }
  return error;
}
