/* batch_matmul: (..., m, k) times (..., k, n). */
#include "rows.h"

/* Row by row of x, so that the innermost loop runs along contiguous rows of y and of the result. Without an
 * inner dimension the result is zeros. */
#define MULTIPLY(type, wide)                                                                                 \
  static void multiply_##type(const type *x, const type *y, type *result, int64_t m, int64_t k, int64_t n) { \
    for (int64_t row = 0; row < m; ++row, result += n) {                                                     \
      for (int64_t column = 0; column < n; ++column) {                                                       \
        result[column] = 0;                                                                                  \
      }                                                                                                      \
      for (int64_t inner = 0; inner < k; ++inner) {                                                          \
        const wide factor = (wide)x[row * k + inner];                                                        \
        for (int64_t column = 0; column < n; ++column) {                                                     \
          result[column] = (type)((wide)result[column] + factor * (wide)y[inner * n + column]);              \
        }                                                                                                    \
      }                                                                                                      \
    }                                                                                                        \
  }
MULTIPLY(int32_t, uint32_t)
MULTIPLY(int64_t, uint64_t)
MULTIPLY(float, float)
MULTIPLY(double, double)

#define MATMUL_CASE(dtype, type)                                                   \
  case dtype:                                                                      \
    for (int64_t batch = 0; batch < batches; ++batch) {                            \
      multiply_##type((const type *)first_element(inputs[0]) + batch * m * k,      \
                      (const type *)first_element(inputs[1]) + batch * k * n,      \
                      (type *)first_element(outputs[0]) + batch * m * n, m, k, n); \
    }                                                                              \
    return NULL;

LAUNCH(batch_matmul) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const int32_t rank = outputs[0]->dl.ndim;
  const int64_t m = outputs[0]->dl.shape[rank - 2];
  const int64_t n = outputs[0]->dl.shape[rank - 1];
  const int64_t k = inputs[0]->dl.shape[rank - 1];
  int64_t batches = 1;
  for (int32_t axis = 0; axis < rank - 2; ++axis) {
    batches *= outputs[0]->dl.shape[axis];
  }
  switch (outputs[0]->dtype) {
    MATMUL_CASE(DA_INT32, int32_t)
    MATMUL_CASE(DA_INT64, int64_t)
    MATMUL_CASE(DA_FLOAT32, float)
    MATMUL_CASE(DA_FLOAT64, double)
    default:
      return unclaimed_type("batch_matmul", outputs[0]->dtype);
  }
}
