/* iota: counting. Integers wrap, so they are computed unsigned; floats are computed in double and rounded
 * once.
 */
#include "walk.h"

LAUNCH(iota) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const da_attributes_iota *iota = (const da_attributes_iota *)attributes;
  const int32_t dtype = outputs[0]->dtype;
  const int64_t bytes = element_bytes(dtype);
  const int64_t count = element_count(outputs[0]);
  chunk numbers;
  for (int64_t from = 0; from < count; from += CHUNK) {
    const int64_t part = smaller(CHUNK, count - from);
    for (int64_t i = 0; i < part; ++i) {
      if (wide_of(dtype) == WIDE_REAL) {
        numbers.r[i] = iota->start_float + (double)(from + i) * iota->step_float;
      } else {
        numbers.u[i] = (uint64_t)iota->start + (uint64_t)(from + i) * (uint64_t)iota->step;
      }
    }
    write_wide(dtype, first_element(outputs[0]) + from * bytes, bytes, part, &numbers);
  }
  return NULL;
}
