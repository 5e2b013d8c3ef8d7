/* Numbers as kernels compute with them. Seventeen element types are read into one of four wide types and
 * written back from it, so that each op is written once per wide type, not once per element type:
 *
 *   bool, int8 to int64, uint8 to uint32   int64_t         every value fits; the low bits are those of any
 *   uint64                                 uint64_t        narrower result, so writing wraps as it must
 *   float8, float16 to float64             double          one operation in double and one rounding give the
 *   complex64, complex128                  double complex  same bits as the operation in the type itself
 */
#ifndef PRIMITIVES_ONLY_NUMBERS_H
#define PRIMITIVES_ONLY_NUMBERS_H

#include <complex.h>
#include <stdint.h>

#include "device_api/base.h"

enum wide { WIDE_SIGNED, WIDE_UNSIGNED, WIDE_REAL, WIDE_COMPLEX, WIDE_COUNT };

enum wide wide_of(int32_t dtype);
int64_t element_bytes(int32_t dtype);

/* So many elements at a time: they stay in the nearest cache. */
#define CHUNK 128

/* Elements in the wide type of their dtype. Signed and unsigned ones may be taken for each other's bits. */
typedef union chunk {
  int64_t s[CHUNK];
  uint64_t u[CHUNK];
  double r[CHUNK];
  double complex z[CHUNK];
} chunk;

/* Reads `count` elements of `dtype`, `step` bytes apart, into an array of its wide type; and writes them. */
void read_wide(int32_t dtype, const char *at, int64_t step, int64_t count, void *wide);
void write_wide(int32_t dtype, char *at, int64_t step, int64_t count, const void *wide);

/* Moves elements of any type as they are; `bytes` is the size of one. */
void move_elements(int64_t bytes, int64_t count, char *to, int64_t to_step, const char *from,
                   int64_t from_step);

/* A sign, an exponent and a fraction in at most 16 bits. */
typedef struct small_format {
  int exponent_bits;
  int fraction_bits;
  int has_infinity; /* without: all ones is the one NaN, and the rest of the greatest exponent are numbers */
} small_format;

extern const small_format float16_format;
extern const small_format bfloat16_format;

double decode_small(const small_format *format, uint32_t code);
/* Rounds to nearest, ties to even. */
uint32_t encode_small(const small_format *format, double value);

/* C99 has no other way that keeps infinities and zeros of both signs apart. */
static inline double complex make_complex(double real, double imaginary) {
  union {
    double parts[2];
    double complex z;
  } both = {{real, imaginary}};
  return both.z;
}

#endif
