/* The interfaces of the naughty plugin that a plugin may leave out: random, capture, collectives, graphs,
 * profiler, custom ops. Included in the middle of naughty.c, whose mistakes and helpers it uses. */
/* --- random, capture --- */

static da_error *random_bits(da_device *on, da_stream *at, uint64_t seed, uint64_t offset, void *handle,
                             uint64_t byte_offset, uint64_t count) {
  (void)on, (void)at, (void)seed, (void)offset;
  if (count != 0) memset((char *)handle + byte_offset, 0, count * 4);
  return NULL;
}
static da_random_interface random_table = {sizeof random_table, NULL, 1, 0, random_bits};

struct da_capture {
  int unused;
};
static da_capture captures[4];
static unsigned next_capture;

static da_error *capture_end(da_device *on, da_stream *at, da_capture **out) {
  (void)on, (void)at;
  *out = &captures[next_capture++ % 4];
  return NULL;
}

static da_error *capture_replay(da_capture *capture, da_stream *at) {
  (void)capture, (void)at;
  return NULL;
}

static da_error *capture_destroy(da_capture *capture) {
  (void)capture;
  return NULL;
}

static const da_capture_interface capture = {
    sizeof capture, NULL, 1, 0, on_stream, capture_end, stream_query, capture_replay, capture_destroy};

/* --- collectives of one rank --- */

struct da_communicator {
  int unused;
};
static da_communicator communicators[4];
static unsigned next_communicator;

static da_error *unique_id(da_unique_id *out) {
  memset(out->bytes, 1, sizeof out->bytes);
  return NULL;
}

static da_error *communicator_create(da_device *on, const da_communicator_options *options,
                                     da_communicator **out) {
  (void)on, (void)options;
  *out = &communicators[next_communicator++ % 4];
  return NULL;
}

static da_error *communicator_only(da_communicator *communicator) {
  (void)communicator;
  return NULL;
}

static da_error *communicator_split(da_communicator *communicator, int32_t color, int32_t key,
                                    da_communicator **out) {
  (void)communicator, (void)key;
  *out = color < 0 ? NULL : &communicators[next_communicator++ % 4];
  return NULL;
}

static da_error *all_reduce(da_communicator *c, da_stream *s, const da_tensor *i, const da_tensor *o,
                            int32_t r) {
  (void)c, (void)s, (void)i, (void)o, (void)r;
  return NULL;
}

static da_error *reduce(da_communicator *c, da_stream *s, const da_tensor *i, const da_tensor *o, int32_t r,
                        uint32_t root) {
  (void)root;
  return all_reduce(c, s, i, o, r);
}

static da_error *broadcast(da_communicator *c, da_stream *s, const da_tensor *i, const da_tensor *o,
                           uint32_t root) {
  (void)root;
  return all_reduce(c, s, i, o, 1);
}

static da_error *all_gather(da_communicator *c, da_stream *s, const da_tensor *i, const da_tensor *const *o) {
  (void)o;
  return all_reduce(c, s, i, i, 1);
}

static da_error *reduce_scatter(da_communicator *c, da_stream *s, const da_tensor *const *i,
                                const da_tensor *o, int32_t r) {
  (void)i;
  return all_reduce(c, s, o, o, r);
}

static da_error *all_to_all(da_communicator *c, da_stream *s, const da_tensor *const *i,
                            const da_tensor *const *o) {
  (void)c, (void)s, (void)i, (void)o;
  return NULL;
}

static da_error *gather(da_communicator *c, da_stream *s, const da_tensor *i, const da_tensor *const *o,
                        uint32_t root) {
  (void)root;
  return all_gather(c, s, i, o);
}

static da_error *scatter(da_communicator *c, da_stream *s, const da_tensor *const *i, const da_tensor *o,
                         uint32_t root) {
  (void)root;
  return reduce_scatter(c, s, i, o, 1);
}

static da_error *send_or_receive(da_communicator *c, da_stream *s, const da_tensor *t, uint32_t peer) {
  (void)peer;
  return all_reduce(c, s, t, t, 1);
}

static da_error *barrier(da_communicator *c, da_stream *s) {
  (void)c, (void)s;
  return NULL;
}

static const da_collective_interface collective = {sizeof collective,
                                                   NULL,
                                                   1,
                                                   0,
                                                   unique_id,
                                                   communicator_create,
                                                   communicator_only,
                                                   communicator_only,
                                                   communicator_only,
                                                   communicator_split,
                                                   all_reduce,
                                                   reduce,
                                                   broadcast,
                                                   all_gather,
                                                   reduce_scatter,
                                                   all_to_all,
                                                   gather,
                                                   scatter,
                                                   send_or_receive,
                                                   send_or_receive,
                                                   barrier,
                                                   communicator_only,
                                                   communicator_only};

/* --- graphs --- */

struct da_executable {
  int unused;
};
static da_executable executables[4];
static unsigned next_executable;
static void forget(void *owner) { (void)owner; }

static void give_bytes(da_bytes *out) {
  static const uint8_t data[] = {1, 2, 3};
  out->data = data;
  out->size = 3;
  out->owner = NULL;
  out->destroy = is("bad_bytes") ? NULL : forget;
}

static da_error *pass_run(da_device *on, const da_pass *pass, const uint8_t *graph, uint64_t bytes,
                          da_bytes *out) {
  (void)on, (void)pass, (void)graph, (void)bytes;
  give_bytes(out);
  return NULL;
}

static const da_pass passes[] = {{sizeof(da_pass), NULL, "nothing", "Changes nothing.", 0, 0, pass_run}};

static da_error *graph_passes(da_device *on, da_pass_list *out) {
  (void)on;
  out->first = passes;
  out->count = 1;
  out->stride = sizeof(da_pass);
  return NULL;
}

static da_error *graph_claim(da_device *on, const uint8_t *graph, uint64_t bytes, da_claim_list *out) {
  (void)on, (void)graph, (void)bytes;
  out->first = NULL;
  out->count = 0;
  out->stride = sizeof(da_claim);
  out->owner = NULL;
  out->destroy = forget;
  return NULL;
}

static da_error *graph_compile(da_device *on, const uint8_t *graph, uint64_t bytes, da_executable **out) {
  (void)on, (void)graph, (void)bytes;
  *out = &executables[next_executable++ % 4];
  return NULL;
}

static da_error *graph_execute(da_executable *executable, const da_kernel_context *context,
                               const da_tensor *const *inputs, uint32_t input_count,
                               const da_tensor *const *outputs, uint32_t output_count) {
  (void)executable;
  return launch(NULL, context, inputs, input_count, outputs, output_count, NULL);
}

static da_error *graph_serialise(da_executable *executable, da_bytes *out) {
  (void)executable;
  give_bytes(out);
  return NULL;
}

static da_error *graph_destroy(da_executable *executable) {
  (void)executable;
  return NULL;
}

static const da_graph_interface graph = {sizeof graph,
                                         NULL,
                                         1,
                                         0,
                                         graph_passes,
                                         graph_claim,
                                         graph_compile,
                                         graph_execute,
                                         graph_serialise,
                                         graph_compile,
                                         graph_destroy};

/* --- profiler --- */

static da_error *profiler_collect(da_device *on, void (*sink)(void *, const da_activity *), void *user_data) {
  da_activity activity = {sizeof activity, NULL, DA_ACTIVITY_KERNEL, 0, "add", 5, 9, 0, 0, 0};
  (void)on;
  if (is("bad_activity")) activity.end_ns = 1;
  sink(user_data, &activity);
  return NULL;
}
static const da_profiler_interface profiler = {sizeof profiler, NULL, 1, 0, device_close, device_close,
                                               profiler_collect};

/* --- custom ops --- */

static da_error *custom_infer(const da_custom_op *op, const da_tensor *const *inputs, uint32_t input_count,
                              const void *attributes, uint32_t output_count, da_output_shape *out_shapes) {
  (void)op, (void)inputs, (void)input_count, (void)attributes, (void)output_count;
  out_shapes[0].rank = is("bad_rank") ? DA_MAX_RANK + 1 : 1;
  out_shapes[0].sizes[0] = is("bad_extent") ? -1 : 4;
  if (is("bad_dtype")) out_shapes[0].dtype = DA_INT8;
  return NULL;
}

static da_custom_op custom_op_entry = {sizeof(da_custom_op),
                                       NULL,
                                       "tests.same(x: T) -> out: T",
                                       NULL,
                                       {DA_DTYPE_BIT(DA_FLOAT32), 0, 0, 0},
                                       NULL,
                                       NULL,
                                       NULL,
                                       0,
                                       custom_infer};

static da_error *custom_op_list(da_custom_op_list *out) {
  static da_custom_op moved;
  moved = custom_op_entry;
  custom_op_entry.schema = is("bad_custom_op") ? NULL : "tests.same(x: T) -> out: T";
  out->first = is("moving_custom_ops") ? &moved : &custom_op_entry;
  out->count = 1;
  out->stride = is("bad_custom_list") ? 8 : sizeof(da_custom_op);
  return NULL;
}

static const da_custom_op_interface custom_op = {sizeof custom_op, NULL, 1, 0, custom_op_list};
