/* copy: any type to any type, any strides to any strides. */
#include "walk.h"

typedef struct copy_work {
  int32_t source;
  int32_t target;
} copy_work;

static void move_row(const void *work, int64_t count, char *const *at, const int64_t *step) {
  move_elements(element_bytes(((const copy_work *)work)->source), count, at[1], step[1], at[0], step[0]);
}

/* A double that rounds to any narrower type as the integer itself would: what is too long for a double is cut
 * off, and leaves the last bit set to say that something was there. */
static double unrounded(uint64_t magnitude) {
  const uint64_t low = (UINT64_C(1) << 11) - 1;
  if (magnitude >> 53 != 0) {
    magnitude = (magnitude & ~low) | ((magnitude & low) != 0 ? low + 1 : 0);
  }
  return (double)magnitude;
}

/* Integers as doubles; to float64 they are rounded here, to narrower types when they are written. */
static void reals_of_integers(const copy_work *copy, int64_t count, const chunk *from, double *to) {
  const int wide = copy->target == DA_FLOAT64 || copy->target == DA_COMPLEX128;
  const int has_sign = wide_of(copy->source) == WIDE_SIGNED;
  for (int64_t i = 0; i < count; ++i) {
    const int negative = has_sign && from->s[i] < 0;
    const uint64_t magnitude = negative ? 0 - from->u[i] : from->u[i];
    const double value = wide ? (double)magnitude : unrounded(magnitude);
    to[i] = negative ? -value : value;
  }
}

/* Truncates, saturates, and makes NaN zero; a plain cast of such values is undefined in C. `bits` are those
 * of the magnitude. */
static uint64_t integer_of_real(double value, int bits, int has_sign) {
  const double limit = 2.0 * (double)(UINT64_C(1) << (bits - 1)); /* the first number beyond */
  const uint64_t greatest = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  if (value >= limit) {
    return greatest;
  }
  if (value > -1) {
    return (uint64_t)(value < 0 ? 0 : value);
  }
  if (!(value <= -1) || !has_sign) {
    return 0;
  }
  return 0 - (value <= -limit ? greatest + 1 : (uint64_t)-value);
}

static void convert(const copy_work *copy, int64_t count, const chunk *from, chunk *to) {
  const enum wide source = wide_of(copy->source);
  const enum wide target = wide_of(copy->target);
  const int is_integer = source == WIDE_SIGNED || source == WIDE_UNSIGNED;
  double real[CHUNK];
  if (is_integer && (target == WIDE_REAL || target == WIDE_COMPLEX)) {
    reals_of_integers(copy, count, from, real);
  }
  const int bits = (int)element_bytes(copy->target) * 8;
  const int has_sign = copy->target <= DA_INT64;
  for (int64_t i = 0; i < count; ++i) {
    if (!is_integer) {
      real[i] = source == WIDE_COMPLEX ? creal(from->z[i]) : from->r[i];
    }
    if (target == WIDE_COMPLEX) {
      to->z[i] = make_complex(real[i], source == WIDE_COMPLEX ? cimag(from->z[i]) : 0);
    } else if (target == WIDE_REAL) {
      to->r[i] = real[i];
    } else if (is_integer) { /* the low bits are kept, and a bool is made when it is written */
      to->u[i] = from->u[i];
    } else if (copy->target == DA_BOOL) { /* NaN is not zero either */
      to->s[i] = source == WIDE_COMPLEX ? from->z[i] != 0 : real[i] != 0;
    } else {
      to->u[i] = integer_of_real(real[i], bits - has_sign, has_sign);
    }
  }
}

static void convert_row(const void *work, int64_t count, char *const *at, const int64_t *step) {
  const copy_work *copy = (const copy_work *)work;
  chunk source, target;
  for (int64_t from = 0; from < count; from += CHUNK) {
    const int64_t part = smaller(CHUNK, count - from);
    read_wide(copy->source, at[0] + from * step[0], step[0], part, &source);
    convert(copy, part, &source, &target);
    write_wide(copy->target, at[1] + from * step[1], step[1], part, &target);
  }
}

LAUNCH(copy) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const copy_work work = {inputs[0]->dtype, outputs[0]->dtype};
  return for_each_row(work.source == work.target ? move_row : convert_row, &work, inputs, input_count,
                      outputs[0]);
}
