/* gather_rows: the rows of a matrix that an index names, in its order. */
#include <string.h>

#include "rows.h"

LAUNCH(gather_rows) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const row_view x = rows_of(inputs[0]);
  const int64_t *index = (const int64_t *)first_element(inputs[1]);
  const size_t row_bytes = (size_t)(x.length * x.bytes);
  char *result = first_element(outputs[0]);
  da_error *error = check_index("gather_rows", inputs[1], x.count);
  for (int64_t i = 0; error == NULL && i < inputs[1]->dl.shape[0]; ++i) {
    memcpy(result + (size_t)i * row_bytes, x.data + (size_t)index[i] * row_bytes, row_bytes);
  }
  return error;
}
