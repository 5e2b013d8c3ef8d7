/* fill and iota: tensors out of attributes. */
#include <string.h>

#include "elementwise.h"

static int64_t element_count(const da_tensor *tensor) {
  int64_t count = 1;
  for (int32_t axis = 0; axis < tensor->dl.ndim; ++axis) {
    count *= tensor->dl.shape[axis];
  }
  return count;
}

LAUNCH(fill) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const da_attributes_fill *fill = (const da_attributes_fill *)attributes;
  const int64_t bytes = element_bytes(outputs[0]->dtype);
  const int64_t count = element_count(outputs[0]);
  char *at = first_element(outputs[0]);
  for (int64_t i = 0; i < count; ++i) {
    memcpy(at + i * bytes, fill->value, (size_t)bytes);
  }
  return NULL;
}

/* Integers wrap, so they are computed unsigned; floats are computed in double and rounded once. */
#define IOTA(type, expression)            \
  for (int64_t i = 0; i < count; ++i) {   \
    ((type *)at)[i] = (type)(expression); \
  }

LAUNCH(iota) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const da_attributes_iota *iota = (const da_attributes_iota *)attributes;
  const uint64_t start = (uint64_t)iota->start;
  const uint64_t step = (uint64_t)iota->step;
  const int64_t count = element_count(outputs[0]);
  char *at = first_element(outputs[0]);
  switch (outputs[0]->dtype) {
    case DA_INT32:
      IOTA(int32_t, (uint32_t)(start + (uint64_t)i * step)) return NULL;
    case DA_INT64:
      IOTA(int64_t, start + (uint64_t)i * step) return NULL;
    case DA_FLOAT32:
      IOTA(float, iota->start_float + (double)i * iota->step_float) return NULL;
    case DA_FLOAT64:
      IOTA(double, iota->start_float + (double)i * iota->step_float) return NULL;
    default:
      return unclaimed_type("iota", outputs[0]->dtype);
  }
}
