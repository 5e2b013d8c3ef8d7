/* argsort_last: a stable merge sort of positions, row by row, with NaN last in both directions. */
#include <string.h>

#include "rows.h"

/* Whether the element at position b must come before the one at a, which stands before it now. */
typedef int (*must_swap)(const char *row, int64_t a, int64_t b);

#define ORDER(type)                                                    \
  static int rises_##type(const char *row, int64_t a, int64_t b) {     \
    const type x = ((const type *)row)[a], y = ((const type *)row)[b]; \
    return y < x || (x != x && y == y);                                \
  }                                                                    \
  static int falls_##type(const char *row, int64_t a, int64_t b) {     \
    const type x = ((const type *)row)[a], y = ((const type *)row)[b]; \
    return y > x || (x != x && y == y);                                \
  }
ORDER(uint8_t)
ORDER(int32_t)
ORDER(int64_t)
ORDER(float)
ORDER(double)

static must_swap order_of(int32_t dtype, int descending) {
  switch (dtype) {
    case DA_BOOL:
      return descending ? falls_uint8_t : rises_uint8_t;
    case DA_INT32:
      return descending ? falls_int32_t : rises_int32_t;
    case DA_INT64:
      return descending ? falls_int64_t : rises_int64_t;
    case DA_FLOAT32:
      return descending ? falls_float : rises_float;
    case DA_FLOAT64:
      return descending ? falls_double : rises_double;
    default:
      return NULL;
  }
}

/* Merges sorted runs of growing width, from `order` through `scratch` and back. */
static void merge_sort(const char *row, int64_t *order, int64_t *scratch, int64_t length, must_swap swap) {
  for (int64_t i = 0; i < length; ++i) {
    order[i] = i;
  }
  for (int64_t width = 1; width < length; width *= 2) {
    for (int64_t start = 0; start < length; start += 2 * width) {
      const int64_t middle = start + width < length ? start + width : length;
      const int64_t end = middle + width < length ? middle + width : length;
      int64_t left = start, right = middle;
      for (int64_t i = start; i < end; ++i) {
        const int take_right = right < end && (left == middle || swap(row, order[left], order[right]));
        scratch[i] = take_right ? order[right++] : order[left++];
      }
    }
    memcpy(order, scratch, (size_t)length * sizeof(int64_t));
  }
}

LAUNCH(argsort_last) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const da_attributes_argsort_last *sort = (const da_attributes_argsort_last *)attributes;
  const row_view rows = rows_of(inputs[0]);
  const must_swap swap = order_of(inputs[0]->dtype, sort->descending != 0);
  if (swap == NULL) {
    return unclaimed_type("argsort_last", inputs[0]->dtype);
  }
  /* Working memory comes from the host's caching allocator, and goes back to it by itself. */
  void *handle = NULL;
  uint64_t offset = 0;
  da_error *error =
      context->scratch(context->host_context, (uint64_t)rows.length * sizeof(int64_t), &handle, &offset);
  if (error != NULL) {
    return error;
  }
  int64_t *scratch = (int64_t *)((char *)handle + offset);
  const int64_t row_bytes = rows.length * element_bytes(inputs[0]->dtype);
  int64_t *order = (int64_t *)first_element(outputs[0]);
  for (int64_t row = 0; row < rows.count; ++row) {
    merge_sort(rows.data + row * row_bytes, order + row * rows.length, scratch, rows.length, swap);
  }
  return NULL;
}
