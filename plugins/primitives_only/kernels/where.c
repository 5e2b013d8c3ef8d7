/* where: one of two tensors, element by element. Only the width of an element matters: a choice moves bits.
 */
#include "walk.h"

static void choose_row(const void *work, int64_t count, char *const *at, const int64_t *step) {
  const int64_t bytes = *(const int64_t *)work;
  for (int64_t i = 0; i < count; ++i) {
    const int from_x = *(const uint8_t *)(at[0] + i * step[0]) != 0;
    move_elements(bytes, 1, at[3] + i * step[3], 0, from_x ? at[1] + i * step[1] : at[2] + i * step[2], 0);
  }
}

LAUNCH(where) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const int64_t bytes = element_bytes(outputs[0]->dtype);
  return for_each_row(choose_row, &bytes, inputs, input_count, outputs[0]);
}
