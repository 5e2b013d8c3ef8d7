/* Reductions over the last axis: (..., n) -> (...). */
#include <string.h>

#include "walk.h"

/* Folding in halves keeps the error of a sum at log2(n) roundings, where one long chain has n of them. */
#define TREE(name, type, member, empty, operation)                                             \
  static type name(const row_view *view, const char *row, int64_t from, int64_t count) {       \
    if (count > CHUNK) {                                                                       \
      const int64_t half = count / 2;                                                          \
      return name(view, row, from, half) operation name(view, row, from + half, count - half); \
    }                                                                                          \
    chunk part;                                                                                \
    part.member[0] = (empty);                                                                  \
    read_run(view, row, from, count, &part);                                                   \
    for (int64_t left = count, half; left > 1; left = half) {                                  \
      half = (left + 1) / 2;                                                                   \
      for (int64_t i = 0; i + half < left; ++i) {                                              \
        part.member[i] = part.member[i] operation part.member[i + half];                       \
      }                                                                                        \
    }                                                                                          \
    return part.member[0];                                                                     \
  }

/* A launch that folds each row, in the wide type of the elements. */
#define FOLD_LAUNCH(op, empty, operation)                                      \
  TREE(op##_integers, uint64_t, u, empty, operation)                           \
  TREE(op##_reals, double, r, empty, operation)                                \
  TREE(op##_complexes, double complex, z, empty, operation)                    \
  LAUNCH(op) {                                                                 \
    ANY_PARAMETER_MAY_BE_UNUSED;                                               \
    const row_view rows = rows_of(inputs[0]);                                  \
    char *result = first_element(outputs[0]);                                  \
    for (int64_t i = 0; i < rows.count; ++i) {                                 \
      const char *row = rows.data + i * rows.length * rows.bytes;              \
      chunk folded;                                                            \
      switch (wide_of(rows.dtype)) {                                           \
        case WIDE_REAL:                                                        \
          folded.r[0] = op##_reals(&rows, row, 0, rows.length);                \
          break;                                                               \
        case WIDE_COMPLEX:                                                     \
          folded.z[0] = op##_complexes(&rows, row, 0, rows.length);            \
          break;                                                               \
        default: /* integers wrap, so they are folded unsigned */              \
          folded.u[0] = op##_integers(&rows, row, 0, rows.length);             \
      }                                                                        \
      write_wide(rows.dtype, result + i * rows.bytes, rows.bytes, 1, &folded); \
    }                                                                          \
    return NULL;                                                               \
  }
FOLD_LAUNCH(reduce_sum, 0, +)
FOLD_LAUNCH(reduce_prod, 1, *)

/* any looks for a true element, all for a false one; what they find decides. */
static da_error *search(const da_tensor *input, const da_tensor *output, uint8_t sought) {
  const row_view rows = rows_of(input);
  for (int64_t i = 0; i < rows.count; ++i) {
    const uint8_t *row = (const uint8_t *)rows.data + i * rows.length;
    uint8_t result = !sought;
    for (int64_t j = 0; j < rows.length && result != sought; ++j) {
      result = row[j] != 0;
    }
    first_element(output)[i] = (char)result;
  }
  return NULL;
}

LAUNCH(reduce_any) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  return search(inputs[0], outputs[0], 1);
}

LAUNCH(reduce_all) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  return search(inputs[0], outputs[0], 0);
}

/* The position of the extreme: the first one wins, and a NaN (x != x) is more extreme than any number. */
#define POSITION(name, type, member, better)                                     \
  static int64_t name(const row_view *view, const char *row) {                   \
    chunk part;                                                                  \
    read_run(view, row, 0, 1, &part);                                            \
    type best = part.member[0];                                                  \
    int64_t position = 0;                                                        \
    for (int64_t from = 0; from < view->length && best == best; from += CHUNK) { \
      const int64_t count = smaller(CHUNK, view->length - from);                 \
      read_run(view, row, from, count, &part);                                   \
      for (int64_t i = 0; i < count && best == best; ++i) {                      \
        if (part.member[i] better best || part.member[i] != part.member[i]) {    \
          best = part.member[i];                                                 \
          position = from + i;                                                   \
        }                                                                        \
      }                                                                          \
    }                                                                            \
    return position;                                                             \
  }
POSITION(greatest_signed, int64_t, s, >)
POSITION(greatest_unsigned, uint64_t, u, >)
POSITION(greatest_real, double, r, >)
POSITION(least_signed, int64_t, s, <)
POSITION(least_unsigned, uint64_t, u, <)
POSITION(least_real, double, r, <)

typedef int64_t (*position_function)(const row_view *view, const char *row);
static const position_function greatest[] = {greatest_signed, greatest_unsigned, greatest_real};
static const position_function least[] = {least_signed, least_unsigned, least_real};

/* Writes the positions themselves, or the elements that stand there. */
static da_error *extremes(const position_function *by_wide, const da_tensor *input, const da_tensor *output,
                          int want_position) {
  const row_view rows = rows_of(input);
  const position_function position_of = by_wide[wide_of(rows.dtype)];
  char *result = first_element(output);
  for (int64_t i = 0; i < rows.count; ++i) {
    const char *row = rows.data + i * rows.length * rows.bytes;
    const int64_t position = position_of(&rows, row);
    if (want_position) {
      ((int64_t *)result)[i] = position;
    } else {
      memcpy(result + i * rows.bytes, row + position * rows.bytes, (size_t)rows.bytes);
    }
  }
  return NULL;
}

#define EXTREME_LAUNCH(op, by_wide, want_position)                  \
  LAUNCH(op) {                                                      \
    ANY_PARAMETER_MAY_BE_UNUSED;                                    \
    return extremes(by_wide, inputs[0], outputs[0], want_position); \
  }
EXTREME_LAUNCH(reduce_max, greatest, 0)
EXTREME_LAUNCH(reduce_min, least, 0)
EXTREME_LAUNCH(reduce_argmax, greatest, 1)
EXTREME_LAUNCH(reduce_argmin, least, 1)
