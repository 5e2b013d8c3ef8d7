/* Reductions over the last axis: (..., n) -> (...). */
#include "rows.h"

/* One type's case of a launch: each row of `type` becomes one `output_type`, by a function of it and its
 * length. */
#define REDUCE_CASE(dtype, function, type, output_type)                                                  \
  case dtype:                                                                                            \
    for (int64_t row = 0; row < rows.count; ++row) {                                                     \
      ((output_type *)result)[row] = function((const type *)rows.data + row * rows.length, rows.length); \
    }                                                                                                    \
    return NULL;
#define BOOL_CASE(op, output_type) REDUCE_CASE(DA_BOOL, op##_uint8_t, uint8_t, output_type)
#define INT32_CASE(op, output_type) REDUCE_CASE(DA_INT32, op##_int32_t, int32_t, output_type)
#define INT64_CASE(op, output_type) REDUCE_CASE(DA_INT64, op##_int64_t, int64_t, output_type)
#define FLOAT_CASE(op, output_type) REDUCE_CASE(DA_FLOAT32, op##_float, float, output_type)
#define DOUBLE_CASE(op, output_type) REDUCE_CASE(DA_FLOAT64, op##_double, double, output_type)

#define REDUCE_LAUNCH(op, cases)                                                                \
  LAUNCH(op) {                                                                                  \
    ANY_PARAMETER_MAY_BE_UNUSED;                                                                \
    const row_view rows = rows_of(inputs[0]);                                                   \
    char *result = first_element(outputs[0]);                                                   \
    switch (inputs[0]->dtype) { cases default : return unclaimed_type(#op, inputs[0]->dtype); } \
  }

/* Adding up in halves keeps the error at log2(n) roundings, where one long chain has n of them. */
#define PAIRWISE_SUM(type, wide)                                                 \
  static wide pairwise_##type(const type *x, int64_t count) {                    \
    if (count > 16) {                                                            \
      const int64_t half = count / 2;                                            \
      return pairwise_##type(x, half) + pairwise_##type(x + half, count - half); \
    }                                                                            \
    wide sum = 0;                                                                \
    for (int64_t i = 0; i < count; ++i) {                                        \
      sum += x[i];                                                               \
    }                                                                            \
    return sum;                                                                  \
  }                                                                              \
  static type reduce_sum_##type(const type *x, int64_t count) { return (type)pairwise_##type(x, count); }
PAIRWISE_SUM(float, double)
PAIRWISE_SUM(double, double)

/* Integers wrap, so they are computed unsigned. */
#define FOLD(name, type, wide, initial, operation)          \
  static type name##_##type(const type *x, int64_t count) { \
    wide result = (initial);                                \
    for (int64_t i = 0; i < count; ++i) {                   \
      result = result operation(wide) x[i];                 \
    }                                                       \
    return (type)result;                                    \
  }
FOLD(reduce_sum, int32_t, uint64_t, 0, +)
FOLD(reduce_sum, int64_t, uint64_t, 0, +)
FOLD(reduce_prod, int32_t, uint64_t, 1, *)
FOLD(reduce_prod, int64_t, uint64_t, 1, *)
FOLD(reduce_prod, float, double, 1, *)
FOLD(reduce_prod, double, double, 1, *)
FOLD(reduce_any, uint8_t, uint8_t, 0, |)
FOLD(reduce_all, uint8_t, uint8_t, 1, &)

/* The position of the extreme: the first one wins, and a NaN (x != x) is more extreme than any number. */
#define POSITION(op, type, better)                              \
  static int64_t op##_##type(const type *x, int64_t count) {    \
    int64_t best = 0;                                           \
    for (int64_t i = 1; i < count && x[best] == x[best]; ++i) { \
      if (x[i] better x[best] || x[i] != x[i]) {                \
        best = i;                                               \
      }                                                         \
    }                                                           \
    return best;                                                \
  }
#define EXTREME(type)                                                                               \
  POSITION(reduce_argmax, type, >)                                                                  \
  POSITION(reduce_argmin, type, <)                                                                  \
  static type reduce_max_##type(const type *x, int64_t n) { return x[reduce_argmax_##type(x, n)]; } \
  static type reduce_min_##type(const type *x, int64_t n) { return x[reduce_argmin_##type(x, n)]; }
EXTREME(uint8_t)
EXTREME(int32_t)
EXTREME(int64_t)
EXTREME(float)
EXTREME(double)

/* Sums, products and extremes have the type of what they reduce; positions are int64. */
#define NUMBER_CASES(op) \
  INT32_CASE(op, int32_t) INT64_CASE(op, int64_t) FLOAT_CASE(op, float) DOUBLE_CASE(op, double)
#define POSITION_CASES(op) \
  BOOL_CASE(op, int64_t)   \
  INT32_CASE(op, int64_t) INT64_CASE(op, int64_t) FLOAT_CASE(op, int64_t) DOUBLE_CASE(op, int64_t)
REDUCE_LAUNCH(reduce_sum, NUMBER_CASES(reduce_sum))
REDUCE_LAUNCH(reduce_prod, NUMBER_CASES(reduce_prod))
REDUCE_LAUNCH(reduce_any, BOOL_CASE(reduce_any, uint8_t))
REDUCE_LAUNCH(reduce_all, BOOL_CASE(reduce_all, uint8_t))
REDUCE_LAUNCH(reduce_max, BOOL_CASE(reduce_max, uint8_t) NUMBER_CASES(reduce_max))
REDUCE_LAUNCH(reduce_min, BOOL_CASE(reduce_min, uint8_t) NUMBER_CASES(reduce_min))
REDUCE_LAUNCH(reduce_argmax, POSITION_CASES(reduce_argmax))
REDUCE_LAUNCH(reduce_argmin, POSITION_CASES(reduce_argmin))
