/* copy: any type to any type, any strides to any strides. An element travels as an int64 or as a double, both
 * of which hold every value of their kind exactly, so that nothing is rounded twice. */
#include <math.h>

#include "elementwise.h"

/* Truncates, saturates, and makes NaN zero; a plain cast of such values is undefined in C. `limit` is the
 * first power of two beyond the type. */
#define FLOAT_TO_INTEGER(name, type, minimum, maximum, limit) \
  static type name(double value) {                            \
    if (value != value) {                                     \
      return 0;                                               \
    }                                                         \
    if (value >= (limit)) {                                   \
      return maximum;                                         \
    }                                                         \
    return value < -(limit) ? minimum : (type)value;          \
  }
FLOAT_TO_INTEGER(to_int32, int32_t, INT32_MIN, INT32_MAX, 2147483648.0)
FLOAT_TO_INTEGER(to_int64, int64_t, INT64_MIN, INT64_MAX, 9223372036854775808.0)

/* The rows from one type to all five. */
#define COPY_ROWS(type, as_int32, as_int64)             \
  UNARY_ROW(type##_to_bool, type, uint8_t, x != 0)      \
  UNARY_ROW(type##_to_int32, type, int32_t, as_int32)   \
  UNARY_ROW(type##_to_int64, type, int64_t, as_int64)   \
  UNARY_ROW(type##_to_float, type, float, x)            \
  UNARY_ROW(type##_to_double, type, double, x)          \
  static row_function rows_from_##type(int32_t dtype) { \
    switch (dtype) {                                    \
      case DA_BOOL:                                     \
        return type##_to_bool;                          \
      case DA_INT32:                                    \
        return type##_to_int32;                         \
      case DA_INT64:                                    \
        return type##_to_int64;                         \
      case DA_FLOAT32:                                  \
        return type##_to_float;                         \
      case DA_FLOAT64:                                  \
        return type##_to_double;                        \
      default:                                          \
        return NULL;                                    \
    }                                                   \
  }
COPY_ROWS(uint8_t, x, x)
COPY_ROWS(int32_t, x, x)
COPY_ROWS(int64_t, (int32_t)(uint32_t)(uint64_t)x, x)
COPY_ROWS(float, to_int32(x), to_int64(x))
COPY_ROWS(double, to_int32(x), to_int64(x))

LAUNCH(copy) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const int32_t target = outputs[0]->dtype;
  row_function row = NULL;
  switch (inputs[0]->dtype) {
    case DA_BOOL:
      row = rows_from_uint8_t(target);
      break;
    case DA_INT32:
      row = rows_from_int32_t(target);
      break;
    case DA_INT64:
      row = rows_from_int64_t(target);
      break;
    case DA_FLOAT32:
      row = rows_from_float(target);
      break;
    case DA_FLOAT64:
      row = rows_from_double(target);
      break;
    default:
      break;
  }
  return row == NULL ? unclaimed_type("copy", inputs[0]->dtype)
                     : elementwise(row, inputs, input_count, outputs[0]);
}
