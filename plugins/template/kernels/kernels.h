/* The kernels of this plugin, in one list. To add a kernel, write `launch_<op>` in the file of its family and
 * give it a line below; to add an element type, add it to types.h and to the masks here. What is not listed,
 * the host composes from what is.
 */
#ifndef TEMPLATE_DEVICE_KERNELS_H
#define TEMPLATE_DEVICE_KERNELS_H

#include "device_api/device_api.h"

#define BOOL_TYPE DA_DTYPE_BIT(DA_BOOL)
#define INTEGER_TYPES (DA_DTYPE_BIT(DA_INT32) | DA_DTYPE_BIT(DA_INT64))
#define FLOAT_TYPES (DA_DTYPE_BIT(DA_FLOAT32) | DA_DTYPE_BIT(DA_FLOAT64))
#define NUMBER_TYPES (INTEGER_TYPES | FLOAT_TYPES)
#define ALL_TYPES (BOOL_TYPE | NUMBER_TYPES)

/* Elementwise kernels walk any strides; the others take contiguous tensors, which the host makes. */
#define ELEMENTWISE \
  (DA_KERNEL_STRIDED_INPUTS | DA_KERNEL_STRIDED_OUTPUTS | DA_KERNEL_IN_PLACE | DA_KERNEL_DETERMINISTIC)
#define STRIDED (DA_KERNEL_STRIDED_INPUTS | DA_KERNEL_STRIDED_OUTPUTS | DA_KERNEL_DETERMINISTIC)
#define CONTIGUOUS DA_KERNEL_DETERMINISTIC

/* X(op, types of the first type variable, types of the second (0: the op has one), flags) */
#define KERNELS(X)                                             \
  X(copy, ALL_TYPES, ALL_TYPES, STRIDED)                       \
  X(fill, ALL_TYPES, 0, CONTIGUOUS)                            \
  X(iota, NUMBER_TYPES, 0, CONTIGUOUS)                         \
  /* unary */                                                  \
  X(negative, NUMBER_TYPES, 0, ELEMENTWISE)                    \
  X(abs, NUMBER_TYPES, 0, ELEMENTWISE)                         \
  X(sign, NUMBER_TYPES, 0, ELEMENTWISE)                        \
  X(square, NUMBER_TYPES, 0, ELEMENTWISE)                      \
  X(sqrt, FLOAT_TYPES, 0, ELEMENTWISE)                         \
  X(reciprocal, FLOAT_TYPES, 0, ELEMENTWISE)                   \
  X(exp, FLOAT_TYPES, 0, ELEMENTWISE)                          \
  X(exp2, FLOAT_TYPES, 0, ELEMENTWISE)                         \
  X(expm1, FLOAT_TYPES, 0, ELEMENTWISE)                        \
  X(log, FLOAT_TYPES, 0, ELEMENTWISE)                          \
  X(log1p, FLOAT_TYPES, 0, ELEMENTWISE)                        \
  X(log2, FLOAT_TYPES, 0, ELEMENTWISE)                         \
  X(log10, FLOAT_TYPES, 0, ELEMENTWISE)                        \
  X(sin, FLOAT_TYPES, 0, ELEMENTWISE)                          \
  X(cos, FLOAT_TYPES, 0, ELEMENTWISE)                          \
  X(tan, FLOAT_TYPES, 0, ELEMENTWISE)                          \
  X(asin, FLOAT_TYPES, 0, ELEMENTWISE)                         \
  X(acos, FLOAT_TYPES, 0, ELEMENTWISE)                         \
  X(atan, FLOAT_TYPES, 0, ELEMENTWISE)                         \
  X(sinh, FLOAT_TYPES, 0, ELEMENTWISE)                         \
  X(cosh, FLOAT_TYPES, 0, ELEMENTWISE)                         \
  X(tanh, FLOAT_TYPES, 0, ELEMENTWISE)                         \
  X(asinh, FLOAT_TYPES, 0, ELEMENTWISE)                        \
  X(acosh, FLOAT_TYPES, 0, ELEMENTWISE)                        \
  X(atanh, FLOAT_TYPES, 0, ELEMENTWISE)                        \
  X(erf, FLOAT_TYPES, 0, ELEMENTWISE)                          \
  X(erfc, FLOAT_TYPES, 0, ELEMENTWISE)                         \
  X(floor, FLOAT_TYPES, 0, ELEMENTWISE)                        \
  X(ceil, FLOAT_TYPES, 0, ELEMENTWISE)                         \
  X(trunc, FLOAT_TYPES, 0, ELEMENTWISE)                        \
  X(round, FLOAT_TYPES, 0, ELEMENTWISE)                        \
  X(logical_not, BOOL_TYPE, 0, ELEMENTWISE)                    \
  X(bitwise_invert, BOOL_TYPE | INTEGER_TYPES, 0, ELEMENTWISE) \
  X(isnan, FLOAT_TYPES, 0, STRIDED)                            \
  X(isinf, FLOAT_TYPES, 0, STRIDED)                            \
  X(isfinite, FLOAT_TYPES, 0, STRIDED)                         \
  X(signbit, FLOAT_TYPES, 0, STRIDED)                          \
  /* binary */                                                 \
  X(add, NUMBER_TYPES, 0, ELEMENTWISE)                         \
  X(subtract, NUMBER_TYPES, 0, ELEMENTWISE)                    \
  X(multiply, NUMBER_TYPES, 0, ELEMENTWISE)                    \
  X(divide, FLOAT_TYPES, 0, ELEMENTWISE)                       \
  X(floor_divide, NUMBER_TYPES, 0, ELEMENTWISE)                \
  X(remainder, NUMBER_TYPES, 0, ELEMENTWISE)                   \
  X(pow, NUMBER_TYPES, 0, ELEMENTWISE)                         \
  X(maximum, ALL_TYPES, 0, ELEMENTWISE)                        \
  X(minimum, ALL_TYPES, 0, ELEMENTWISE)                        \
  X(atan2, FLOAT_TYPES, 0, ELEMENTWISE)                        \
  X(hypot, FLOAT_TYPES, 0, ELEMENTWISE)                        \
  X(copysign, FLOAT_TYPES, 0, ELEMENTWISE)                     \
  X(nextafter, FLOAT_TYPES, 0, ELEMENTWISE)                    \
  X(logaddexp, FLOAT_TYPES, 0, ELEMENTWISE)                    \
  X(bitwise_and, BOOL_TYPE | INTEGER_TYPES, 0, ELEMENTWISE)    \
  X(bitwise_or, BOOL_TYPE | INTEGER_TYPES, 0, ELEMENTWISE)     \
  X(bitwise_xor, BOOL_TYPE | INTEGER_TYPES, 0, ELEMENTWISE)    \
  X(bitwise_left_shift, INTEGER_TYPES, 0, ELEMENTWISE)         \
  X(bitwise_right_shift, INTEGER_TYPES, 0, ELEMENTWISE)        \
  X(logical_and, BOOL_TYPE, 0, ELEMENTWISE)                    \
  X(logical_or, BOOL_TYPE, 0, ELEMENTWISE)                     \
  X(logical_xor, BOOL_TYPE, 0, ELEMENTWISE)                    \
  X(equal, ALL_TYPES, 0, STRIDED)                              \
  X(not_equal, ALL_TYPES, 0, STRIDED)                          \
  X(less, ALL_TYPES, 0, STRIDED)                               \
  X(less_equal, ALL_TYPES, 0, STRIDED)                         \
  X(greater, ALL_TYPES, 0, STRIDED)                            \
  X(greater_equal, ALL_TYPES, 0, STRIDED)                      \
  X(where, ALL_TYPES, 0, STRIDED)                              \
  /* over the last axis */                                     \
  X(reduce_sum, NUMBER_TYPES, 0, CONTIGUOUS)                   \
  X(reduce_prod, NUMBER_TYPES, 0, CONTIGUOUS)                  \
  X(reduce_max, ALL_TYPES, 0, CONTIGUOUS)                      \
  X(reduce_min, ALL_TYPES, 0, CONTIGUOUS)                      \
  X(reduce_any, BOOL_TYPE, 0, CONTIGUOUS)                      \
  X(reduce_all, BOOL_TYPE, 0, CONTIGUOUS)                      \
  X(reduce_argmax, ALL_TYPES, 0, CONTIGUOUS)                   \
  X(reduce_argmin, ALL_TYPES, 0, CONTIGUOUS)                   \
  X(scan_sum, NUMBER_TYPES, 0, CONTIGUOUS)                     \
  X(scan_prod, NUMBER_TYPES, 0, CONTIGUOUS)                    \
  X(argsort_last, ALL_TYPES, 0, CONTIGUOUS)                    \
  /* matrices and rows */                                      \
  X(batch_matmul, NUMBER_TYPES, 0, CONTIGUOUS)                 \
  X(gather_rows, ALL_TYPES, 0, CONTIGUOUS)                     \
  X(scatter_rows, ALL_TYPES, 0, CONTIGUOUS)                    \
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
