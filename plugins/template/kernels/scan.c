/* Running sums and products along the last axis; each element includes itself. */
#include "rows.h"

#define SCAN_CASE(dtype, type, wide, initial, operation)                    \
  case dtype:                                                               \
    for (int64_t row = 0; row < rows.count; ++row) {                        \
      const type *x = (const type *)rows.data + row * rows.length;          \
      type *result = (type *)first_element(outputs[0]) + row * rows.length; \
      wide running = (initial);                                             \
      for (int64_t i = 0; i < rows.length; ++i) {                           \
        running = running operation(wide) x[i];                             \
        result[i] = (type)running;                                          \
      }                                                                     \
    }                                                                       \
    return NULL;

/* Integers wrap, so they are computed unsigned; float32 runs in double. */
#define SCAN_LAUNCH(op, initial, operation)                      \
  LAUNCH(op) {                                                   \
    ANY_PARAMETER_MAY_BE_UNUSED;                                 \
    const row_view rows = rows_of(inputs[0]);                    \
    switch (inputs[0]->dtype) {                                  \
      SCAN_CASE(DA_INT32, int32_t, uint64_t, initial, operation) \
      SCAN_CASE(DA_INT64, int64_t, uint64_t, initial, operation) \
      SCAN_CASE(DA_FLOAT32, float, double, initial, operation)   \
      SCAN_CASE(DA_FLOAT64, double, double, initial, operation)  \
      default:                                                   \
        return unclaimed_type(#op, inputs[0]->dtype);            \
    }                                                            \
  }
SCAN_LAUNCH(scan_sum, 0, +)
SCAN_LAUNCH(scan_prod, 1, *)
