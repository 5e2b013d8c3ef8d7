/* where: one of two tensors, element by element. */
#include "elementwise.h"

#define WHERE_ROW(type)                                                           \
  static void where_##type(int64_t count, char *const *at, const int64_t *step) { \
    for (int64_t i = 0; i < count; ++i) {                                         \
      const int from_x = *(const uint8_t *)(at[0] + i * step[0]) != 0;            \
      const char *chosen = from_x ? at[1] + i * step[1] : at[2] + i * step[2];    \
      *(type *)(at[3] + i * step[3]) = *(const type *)chosen;                     \
    }                                                                             \
  }
/* Only the width matters: a choice moves bits. */
WHERE_ROW(uint8_t)
WHERE_ROW(uint32_t)
WHERE_ROW(uint64_t)

LAUNCH(where) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  switch (element_bytes(outputs[0]->dtype)) {
    case 1:
      return elementwise(where_uint8_t, inputs, input_count, outputs[0]);
    case 4:
      return elementwise(where_uint32_t, inputs, input_count, outputs[0]);
    default:
      return elementwise(where_uint64_t, inputs, input_count, outputs[0]);
  }
}
