/* Running sums and products along the last axis; each element includes itself. */
#include "walk.h"

/* Turns the elements of a chunk into running results, from what came before them; gives the last one. */
#define RUN(name, type, member, operation)                     \
  static type name(int64_t count, chunk *part, type running) { \
    for (int64_t i = 0; i < count; ++i) {                      \
      running = running operation part->member[i];             \
      part->member[i] = running;                               \
    }                                                          \
    return running;                                            \
  }

#define SCAN_LAUNCH(op, empty, operation)                                                                \
  RUN(op##_integers, uint64_t, u, operation)                                                             \
  RUN(op##_reals, double, r, operation)                                                                  \
  RUN(op##_complexes, double complex, z, operation)                                                      \
  LAUNCH(op) {                                                                                           \
    ANY_PARAMETER_MAY_BE_UNUSED;                                                                         \
    const row_view rows = rows_of(inputs[0]);                                                            \
    const enum wide wide = wide_of(rows.dtype);                                                          \
    chunk part;                                                                                          \
    for (int64_t i = 0; i < rows.count; ++i) {                                                           \
      const int64_t start = i * rows.length * rows.bytes;                                                \
      uint64_t integer = (empty);                                                                        \
      double real = (empty);                                                                             \
      double complex number = (empty);                                                                   \
      for (int64_t from = 0; from < rows.length; from += CHUNK) {                                        \
        const int64_t count = smaller(CHUNK, rows.length - from);                                        \
        read_run(&rows, rows.data + start, from, count, &part);                                          \
        if (wide == WIDE_REAL) {                                                                         \
          real = op##_reals(count, &part, real);                                                         \
        } else if (wide == WIDE_COMPLEX) {                                                               \
          number = op##_complexes(count, &part, number);                                                 \
        } else { /* integers wrap, so they run unsigned */                                               \
          integer = op##_integers(count, &part, integer);                                                \
        }                                                                                                \
        write_wide(rows.dtype, first_element(outputs[0]) + start + from * rows.bytes, rows.bytes, count, \
                   &part);                                                                               \
      }                                                                                                  \
    }                                                                                                    \
    return NULL;                                                                                         \
  }
SCAN_LAUNCH(scan_sum, 0, +)
SCAN_LAUNCH(scan_prod, 1, *)
