/* batch_matmul: (..., m, k) times (..., k, n). */
#include <string.h>

#include "walk.h"

/* sums += factor * row, element by element. */
#define ADD_PRODUCTS(name, type, member)                                                                \
  static void name(int64_t count, const chunk *factors, int64_t which, const chunk *row, chunk *sums) { \
    const type factor = factors->member[which];                                                         \
    for (int64_t i = 0; i < count; ++i) {                                                               \
      sums->member[i] += factor * row->member[i];                                                       \
    }                                                                                                   \
  }
ADD_PRODUCTS(add_integers, uint64_t, u)
ADD_PRODUCTS(add_reals, double, r)
ADD_PRODUCTS(add_complexes, double complex, z)

typedef void (*add_function)(int64_t count, const chunk *factors, int64_t which, const chunk *row,
                             chunk *sums);
static const add_function add_products[] = {add_integers, add_integers, add_reals, add_complexes};

/* One row of the result, a chunk of columns at a time, so that the innermost loop runs along rows of y.
 * Without an inner dimension the result is zeros. */
static void multiply_row(const row_view *view, const char *x, const char *y, char *result, int64_t inner,
                         int64_t columns) {
  const add_function add = add_products[wide_of(view->dtype)];
  chunk factors, row, sums;
  for (int64_t column = 0; column < columns; column += CHUNK) {
    const int64_t count = smaller(CHUNK, columns - column);
    memset(&sums, 0, sizeof(sums));
    for (int64_t k = 0; k < inner; ++k) {
      if (k % CHUNK == 0) {
        read_run(view, x, k, smaller(CHUNK, inner - k), &factors);
      }
      read_run(view, y, k * columns + column, count, &row);
      add(count, &factors, k % CHUNK, &row, &sums);
    }
    write_wide(view->dtype, result + column * view->bytes, view->bytes, count, &sums);
  }
}

LAUNCH(batch_matmul) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const row_view x = rows_of(inputs[0]), y = rows_of(inputs[1]), result = rows_of(outputs[0]);
  const int64_t rows_per_matrix = outputs[0]->dl.shape[outputs[0]->dl.ndim - 2];
  for (int64_t row = 0; row < result.count; ++row) {
    const int64_t matrix = row / rows_per_matrix;
    multiply_row(&x, x.data + row * x.length * x.bytes, y.data + matrix * x.length * y.length * y.bytes,
                 result.data + row * result.length * result.bytes, x.length, result.length);
  }
  return NULL;
}
