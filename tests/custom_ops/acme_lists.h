/* Custom ops of acme.c with lists: chunks cuts a vector into n equal parts, joined puts vectors one behind
 * the other, and each has its gradient. Included once, behind the helpers on elements and shapes.
 */
typedef struct attributes_chunks {
  uint64_t struct_size;
  const void *extension;
  int64_t n;
} attributes_chunks;

/* Copies elements of `inputs`, in their order, into `outputs`, in theirs. */
static void poured(const da_tensor *const *inputs, uint32_t input_count, const da_tensor *const *outputs) {
  int64_t place = 0;
  for (uint32_t k = 0; k < input_count; k++) {
    for (int64_t i = 0; i < count_of(inputs[k]); i++) {
      while (place == count_of(outputs[0])) outputs++, place = 0;
      put(outputs[0], place++, get(inputs[k], i));
    }
  }
}

KERNEL(chunks) {
  UNUSED;
  poured(inputs, 1, outputs);
  return NULL;
}

KERNEL(chunks_gradient) {
  UNUSED; /* x, g... -> grad_x */
  poured(inputs + 1, input_count - 1, outputs);
  return NULL;
}

KERNEL(joined) {
  UNUSED;
  poured(inputs, input_count, outputs);
  return NULL;
}

KERNEL(joined_gradient) {
  UNUSED; /* g, y, x, rest... -> grad_x, grad_rest... */
  poured(inputs, 1, outputs);
  return NULL;
}

static da_error *infer_chunks(const da_custom_op *op, const da_tensor *const *inputs, uint32_t input_count,
                              const void *attributes, uint32_t output_count, da_output_shape *out_shapes) {
  const int64_t n = ((const attributes_chunks *)attributes)->n;
  (void)op, (void)input_count;
  if (inputs[0]->dl.ndim != 1 || n != output_count || inputs[0]->dl.shape[0] % n != 0) return &not_vectors;
  for (uint32_t k = 0; k < output_count; k++) {
    out_shapes[k].rank = 1;
    out_shapes[k].sizes[0] = inputs[0]->dl.shape[0] / n;
  }
  return NULL;
}

static da_error *infer_chunks_gradient(const da_custom_op *op, const da_tensor *const *inputs,
                                       uint32_t input_count, const void *attributes, uint32_t output_count,
                                       da_output_shape *out_shapes) {
  (void)op, (void)attributes, (void)output_count;
  int64_t size = 0;
  for (uint32_t k = 1; k < input_count; k++) {
    if (inputs[k]->dl.ndim != 1) return &not_vectors;
    size += inputs[k]->dl.shape[0];
  }
  if (inputs[0]->dl.ndim != 1 || inputs[0]->dl.shape[0] != size) return &invalid;
  same_as(inputs[0], &out_shapes[0]);
  return NULL;
}

static da_error *infer_joined(const da_custom_op *op, const da_tensor *const *inputs, uint32_t input_count,
                              const void *attributes, uint32_t output_count, da_output_shape *out_shapes) {
  (void)op, (void)attributes, (void)output_count;
  out_shapes[0].rank = 1;
  for (uint32_t k = 0; k < input_count; k++) {
    if (inputs[k]->dl.ndim != 1) return &not_vectors;
    out_shapes[0].sizes[0] += inputs[k]->dl.shape[0];
  }
  return NULL;
}

static da_error *infer_joined_gradient(const da_custom_op *op, const da_tensor *const *inputs,
                                       uint32_t input_count, const void *attributes, uint32_t output_count,
                                       da_output_shape *out_shapes) {
  (void)op, (void)attributes;
  int64_t size = 0;
  if (output_count != input_count - 2) return &invalid;
  for (uint32_t k = 2; k < input_count; k++) {
    if (inputs[k]->dl.ndim != 1) return &not_vectors;
    size += inputs[k]->dl.shape[0];
    same_as(inputs[k], &out_shapes[k - 2]);
  }
  if (inputs[0]->dl.ndim != 1 || inputs[0]->dl.shape[0] != size) return &invalid;
  return NULL;
}

#if FAULT == FAULT_ENDLESS_LIST
#define CHUNKS "acme.chunks(x: T, *, n: int = 2) -> parts: T[]"
#else
#define CHUNKS "acme.chunks(x: T, *, n: int = 2) -> parts: T[n]"
#endif
#if FAULT == FAULT_LIST_GRADIENT
#define CHUNKS_GRADIENT "acme.chunks_gradient(x: T, g: T, *, n: int = 2) -> grad_x: T"
#else
#define CHUNKS_GRADIENT "acme.chunks_gradient(x: T, g: T[], *, n: int = 2) -> grad_x: T"
#endif
#define OP(schema, gradient, infer) \
  {sizeof(da_custom_op), NULL, schema, NULL, {FLOATS}, gradient, NULL, NULL, 0, infer}
#define LIST_OPS                                                                                      \
  OP(CHUNKS, "acme.chunks_gradient", infer_chunks), OP(CHUNKS_GRADIENT, NULL, infer_chunks_gradient), \
      OP("acme.joined(x: T, rest: T[]) -> out: T", "acme.joined_gradient", infer_joined),             \
      OP("acme.joined_gradient(g: T, y: T, x: T, rest: T[]) -> grad_x: T, grad_rest: T[rest]", NULL,  \
         infer_joined_gradient)
#define LIST_KERNELS                                                            \
  ENTRY("acme.chunks", chunks), ENTRY("acme.chunks_gradient", chunks_gradient), \
      ENTRY("acme.joined", joined), ENTRY("acme.joined_gradient", joined_gradient)
