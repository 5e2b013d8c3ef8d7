/* The kernels of this plugin, in one list: all primitives of the op set (ops.h), for every element type that
 * each may have, and nothing else.
 */
#ifndef PRIMITIVES_ONLY_KERNELS_H
#define PRIMITIVES_ONLY_KERNELS_H

#include "device_api/device_api.h"

#define BOOL_TYPE DA_DTYPE_BIT(DA_BOOL)
#define SIGNED_TYPES \
  (DA_DTYPE_BIT(DA_INT8) | DA_DTYPE_BIT(DA_INT16) | DA_DTYPE_BIT(DA_INT32) | DA_DTYPE_BIT(DA_INT64))
#define UNSIGNED_TYPES \
  (DA_DTYPE_BIT(DA_UINT8) | DA_DTYPE_BIT(DA_UINT16) | DA_DTYPE_BIT(DA_UINT32) | DA_DTYPE_BIT(DA_UINT64))
#define INTEGER_TYPES (SIGNED_TYPES | UNSIGNED_TYPES)
#define FLOAT_TYPES \
  (DA_DTYPE_BIT(DA_FLOAT16) | DA_DTYPE_BIT(DA_BFLOAT16) | DA_DTYPE_BIT(DA_FLOAT32) | DA_DTYPE_BIT(DA_FLOAT64))
#define COMPLEX_TYPES (DA_DTYPE_BIT(DA_COMPLEX64) | DA_DTYPE_BIT(DA_COMPLEX128))
#define STORED_TYPES (DA_DTYPE_BIT(DA_FLOAT8_E4M3FN) | DA_DTYPE_BIT(DA_FLOAT8_E5M2))

#define BITS_TYPES (BOOL_TYPE | INTEGER_TYPES)
#define REAL_TYPES (INTEGER_TYPES | FLOAT_TYPES)
#define ORDERED_TYPES (BOOL_TYPE | REAL_TYPES)
#define FIELD_TYPES (FLOAT_TYPES | COMPLEX_TYPES)
#define NUMBER_TYPES (INTEGER_TYPES | FIELD_TYPES)
#define VALUE_TYPES (BOOL_TYPE | NUMBER_TYPES)
#define ALL_TYPES (VALUE_TYPES | STORED_TYPES)

/* Elementwise kernels walk any strides; the others take contiguous tensors, which the host makes. */
#define ELEMENTWISE \
  (DA_KERNEL_STRIDED_INPUTS | DA_KERNEL_STRIDED_OUTPUTS | DA_KERNEL_IN_PLACE | DA_KERNEL_DETERMINISTIC)
#define STRIDED (DA_KERNEL_STRIDED_INPUTS | DA_KERNEL_STRIDED_OUTPUTS | DA_KERNEL_DETERMINISTIC)
#define CONTIGUOUS DA_KERNEL_DETERMINISTIC

/* X(op, types of the first type variable, types of the second (0: the op has one), flags) */
#define KERNELS(X)                                      \
  X(fill, ALL_TYPES, 0, CONTIGUOUS)                     \
  X(iota, REAL_TYPES, 0, CONTIGUOUS)                    \
  X(copy, ALL_TYPES, ALL_TYPES, STRIDED)                \
  /* unary */                                           \
  X(negative, NUMBER_TYPES, 0, ELEMENTWISE)             \
  X(abs, NUMBER_TYPES, 0, STRIDED)                      \
  X(sign, NUMBER_TYPES, 0, ELEMENTWISE)                 \
  X(square, NUMBER_TYPES, 0, ELEMENTWISE)               \
  X(sqrt, FIELD_TYPES, 0, ELEMENTWISE)                  \
  X(reciprocal, FIELD_TYPES, 0, ELEMENTWISE)            \
  X(exp, FIELD_TYPES, 0, ELEMENTWISE)                   \
  X(exp2, FLOAT_TYPES, 0, ELEMENTWISE)                  \
  X(expm1, FIELD_TYPES, 0, ELEMENTWISE)                 \
  X(log, FIELD_TYPES, 0, ELEMENTWISE)                   \
  X(log1p, FIELD_TYPES, 0, ELEMENTWISE)                 \
  X(log2, FIELD_TYPES, 0, ELEMENTWISE)                  \
  X(log10, FIELD_TYPES, 0, ELEMENTWISE)                 \
  X(sin, FIELD_TYPES, 0, ELEMENTWISE)                   \
  X(cos, FIELD_TYPES, 0, ELEMENTWISE)                   \
  X(tan, FIELD_TYPES, 0, ELEMENTWISE)                   \
  X(asin, FIELD_TYPES, 0, ELEMENTWISE)                  \
  X(acos, FIELD_TYPES, 0, ELEMENTWISE)                  \
  X(atan, FIELD_TYPES, 0, ELEMENTWISE)                  \
  X(sinh, FIELD_TYPES, 0, ELEMENTWISE)                  \
  X(cosh, FIELD_TYPES, 0, ELEMENTWISE)                  \
  X(tanh, FIELD_TYPES, 0, ELEMENTWISE)                  \
  X(asinh, FIELD_TYPES, 0, ELEMENTWISE)                 \
  X(acosh, FIELD_TYPES, 0, ELEMENTWISE)                 \
  X(atanh, FIELD_TYPES, 0, ELEMENTWISE)                 \
  X(erf, FLOAT_TYPES, 0, ELEMENTWISE)                   \
  X(erfc, FLOAT_TYPES, 0, ELEMENTWISE)                  \
  X(floor, REAL_TYPES, 0, ELEMENTWISE)                  \
  X(ceil, REAL_TYPES, 0, ELEMENTWISE)                   \
  X(trunc, REAL_TYPES, 0, ELEMENTWISE)                  \
  X(round, NUMBER_TYPES, 0, ELEMENTWISE)                \
  X(isnan, NUMBER_TYPES, 0, STRIDED)                    \
  X(isinf, NUMBER_TYPES, 0, STRIDED)                    \
  X(isfinite, NUMBER_TYPES, 0, STRIDED)                 \
  X(signbit, FLOAT_TYPES, 0, STRIDED)                   \
  X(real, COMPLEX_TYPES, 0, STRIDED)                    \
  X(imag, COMPLEX_TYPES, 0, STRIDED)                    \
  X(conj, NUMBER_TYPES, 0, ELEMENTWISE)                 \
  X(logical_not, BOOL_TYPE, 0, ELEMENTWISE)             \
  X(bitwise_invert, BITS_TYPES, 0, ELEMENTWISE)         \
  /* binary */                                          \
  X(add, NUMBER_TYPES, 0, ELEMENTWISE)                  \
  X(subtract, NUMBER_TYPES, 0, ELEMENTWISE)             \
  X(multiply, NUMBER_TYPES, 0, ELEMENTWISE)             \
  X(divide, FIELD_TYPES, 0, ELEMENTWISE)                \
  X(floor_divide, REAL_TYPES, 0, ELEMENTWISE)           \
  X(remainder, REAL_TYPES, 0, ELEMENTWISE)              \
  X(pow, NUMBER_TYPES, 0, ELEMENTWISE)                  \
  X(maximum, ORDERED_TYPES, 0, ELEMENTWISE)             \
  X(minimum, ORDERED_TYPES, 0, ELEMENTWISE)             \
  X(atan2, FLOAT_TYPES, 0, ELEMENTWISE)                 \
  X(hypot, FLOAT_TYPES, 0, ELEMENTWISE)                 \
  X(copysign, FLOAT_TYPES, 0, ELEMENTWISE)              \
  X(nextafter, FLOAT_TYPES, 0, ELEMENTWISE)             \
  X(logaddexp, FLOAT_TYPES, 0, ELEMENTWISE)             \
  X(equal, VALUE_TYPES, 0, STRIDED)                     \
  X(not_equal, VALUE_TYPES, 0, STRIDED)                 \
  X(less, ORDERED_TYPES, 0, STRIDED)                    \
  X(less_equal, ORDERED_TYPES, 0, STRIDED)              \
  X(greater, ORDERED_TYPES, 0, STRIDED)                 \
  X(greater_equal, ORDERED_TYPES, 0, STRIDED)           \
  X(logical_and, BOOL_TYPE, 0, ELEMENTWISE)             \
  X(logical_or, BOOL_TYPE, 0, ELEMENTWISE)              \
  X(logical_xor, BOOL_TYPE, 0, ELEMENTWISE)             \
  X(bitwise_and, BITS_TYPES, 0, ELEMENTWISE)            \
  X(bitwise_or, BITS_TYPES, 0, ELEMENTWISE)             \
  X(bitwise_xor, BITS_TYPES, 0, ELEMENTWISE)            \
  X(bitwise_left_shift, INTEGER_TYPES, 0, ELEMENTWISE)  \
  X(bitwise_right_shift, INTEGER_TYPES, 0, ELEMENTWISE) \
  X(where, VALUE_TYPES, 0, STRIDED)                     \
  /* over the last axis */                              \
  X(reduce_sum, NUMBER_TYPES, 0, CONTIGUOUS)            \
  X(reduce_prod, NUMBER_TYPES, 0, CONTIGUOUS)           \
  X(reduce_max, ORDERED_TYPES, 0, CONTIGUOUS)           \
  X(reduce_min, ORDERED_TYPES, 0, CONTIGUOUS)           \
  X(reduce_any, BOOL_TYPE, 0, CONTIGUOUS)               \
  X(reduce_all, BOOL_TYPE, 0, CONTIGUOUS)               \
  X(reduce_argmax, ORDERED_TYPES, 0, CONTIGUOUS)        \
  X(reduce_argmin, ORDERED_TYPES, 0, CONTIGUOUS)        \
  X(scan_sum, NUMBER_TYPES, 0, CONTIGUOUS)              \
  X(scan_prod, NUMBER_TYPES, 0, CONTIGUOUS)             \
  X(argsort_last, ORDERED_TYPES, 0, CONTIGUOUS)         \
  /* matrices and rows */                               \
  X(batch_matmul, NUMBER_TYPES, 0, CONTIGUOUS)          \
  X(gather_rows, ALL_TYPES, 0, CONTIGUOUS)              \
  X(scatter_rows, ALL_TYPES, 0, CONTIGUOUS)             \
  X(compact, 0, 0, CONTIGUOUS)

/* What every launch function looks like. */
#define LAUNCH(op)                                                                                     \
  da_error *launch_##op(void *state, const da_kernel_context *context, const da_tensor *const *inputs, \
                        uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,  \
                        const void *attributes)

/* C wants every parameter named, and the compiler every parameter used. */
#define ANY_PARAMETER_MAY_BE_UNUSED                                                               \
  (void)state, (void)context, (void)inputs, (void)input_count, (void)outputs, (void)output_count, \
      (void)attributes

#define DECLARE_KERNEL(op, first, second, flags) LAUNCH(op);
KERNELS(DECLARE_KERNEL)
#undef DECLARE_KERNEL

#endif
