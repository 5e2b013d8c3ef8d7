/* argsort_last: a stable merge sort of positions, row by row, with NaN last in both directions. */
#include <string.h>

#include "walk.h"

/* Sorts positions by their keys: merges sorted runs of growing width, from `order` to `merged` and back. The
 * right run goes first only where its key must stand before the left one's: that keeps equal ones in order.
 */
#define SORT(name, type)                                                                               \
  static void name(const void *row, int64_t *order, int64_t *merged, int64_t length, int descending) { \
    const type *keys = (const type *)row;                                                              \
    for (int64_t i = 0; i < length; ++i) {                                                             \
      order[i] = i;                                                                                    \
    }                                                                                                  \
    for (int64_t width = 1; width < length; width *= 2) {                                              \
      for (int64_t start = 0; start < length; start += 2 * width) {                                    \
        const int64_t middle = smaller(start + width, length);                                         \
        const int64_t end = smaller(middle + width, length);                                           \
        int64_t left = start, right = middle;                                                          \
        for (int64_t i = start; i < end; ++i) {                                                        \
          int take_right = right < end;                                                                \
          if (take_right && left < middle) {                                                           \
            const type x = keys[order[left]], y = keys[order[right]];                                  \
            take_right = (descending ? y > x : y < x) || (x != x && y == y);                           \
          }                                                                                            \
          merged[i] = take_right ? order[right++] : order[left++];                                     \
        }                                                                                              \
      }                                                                                                \
      memcpy(order, merged, (size_t)length * sizeof(int64_t));                                         \
    }                                                                                                  \
  }
SORT(sort_signed, int64_t)
SORT(sort_unsigned, uint64_t)
SORT(sort_real, double)

typedef void (*sort_function)(const void *row, int64_t *order, int64_t *merged, int64_t length,
                              int descending);
static const sort_function sorts[] = {sort_signed, sort_unsigned, sort_real};

LAUNCH(argsort_last) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const da_attributes_argsort_last *sort = (const da_attributes_argsort_last *)attributes;
  const row_view rows = rows_of(inputs[0]);
  /* Working memory comes from the host's caching allocator, and goes back to it by itself: a row of keys and
   * a row of positions, eight bytes each. */
  void *handle = NULL;
  uint64_t offset = 0;
  da_error *error = context->scratch(context->host_context, (uint64_t)rows.length * 16, &handle, &offset);
  if (error != NULL) {
    return error;
  }
  char *keys = (char *)handle + offset;
  int64_t *merged = (int64_t *)(keys + rows.length * 8);
  int64_t *order = (int64_t *)first_element(outputs[0]);
  for (int64_t i = 0; i < rows.count; ++i) {
    read_run(&rows, rows.data + i * rows.length * rows.bytes, 0, rows.length, keys);
    sorts[wide_of(rows.dtype)](keys, order + i * rows.length, merged, rows.length, sort->descending != 0);
  }
  return NULL;
}
