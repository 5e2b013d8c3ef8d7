/* What gather_rows and scatter_rows share: rows of a matrix that an index names. */
#ifndef PRIMITIVES_ONLY_ROWS_H
#define PRIMITIVES_ONLY_ROWS_H

#include "walk.h"

/* Every index is looked at before any row moves, so that a bad one leaves nothing half done. */
static inline da_error *check_index(const char *op, const da_tensor *index, int64_t row_count) {
  const int64_t *at = (const int64_t *)first_element(index);
  for (int64_t i = 0; i < index->dl.shape[0]; ++i) {
    if (at[i] < 0 || at[i] >= row_count) {
      return make_error(DA_STATUS_OUT_OF_RANGE, "%s: index %lld at position %lld, where there are %lld rows",
                        op, (long long)at[i], (long long)i, (long long)row_count);
    }
  }
  return NULL;
}

#endif
