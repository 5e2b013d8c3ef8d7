/* scatter_rows: a matrix with rows replaced, or with rows added to its own. */
#include <string.h>

#include "rows.h"

/* Each addition rounds to the element type, as one after the other would. */
static void add_row(const row_view *view, char *row, const char *update) {
  chunk sums, terms;
  for (int64_t from = 0; from < view->length; from += CHUNK) {
    const int64_t count = smaller(CHUNK, view->length - from);
    read_run(view, row, from, count, &sums);
    read_run(view, update, from, count, &terms);
    for (int64_t i = 0; i < count; ++i) {
      switch (wide_of(view->dtype)) {
        case WIDE_REAL:
          sums.r[i] += terms.r[i];
          break;
        case WIDE_COMPLEX:
          sums.z[i] += terms.z[i];
          break;
        default:
          sums.u[i] += terms.u[i];
      }
    }
    write_wide(view->dtype, row + from * view->bytes, view->bytes, count, &sums);
  }
}

LAUNCH(scatter_rows) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const da_attributes_scatter_rows *scatter = (const da_attributes_scatter_rows *)attributes;
  const row_view x = rows_of(inputs[0]);
  const int64_t *index = (const int64_t *)first_element(inputs[1]);
  const char *updates = first_element(inputs[2]);
  const size_t row_bytes = (size_t)(x.length * x.bytes);
  char *result = first_element(outputs[0]);
  da_error *error = check_index("scatter_rows", inputs[1], x.count);
  if (error != NULL) {
    return error;
  }
  memcpy(result, x.data, (size_t)x.count * row_bytes);
  for (int64_t i = 0; i < inputs[1]->dl.shape[0]; ++i) {
    char *row = result + (size_t)index[i] * row_bytes;
    const char *update = updates + (size_t)i * row_bytes;
    if (scatter->reduction == DA_SCATTER_ROWS_REDUCTION_ADD) {
      add_row(&x, row, update);
    } else {
      memcpy(row, update, row_bytes);
    }
  }
  return NULL;
}
