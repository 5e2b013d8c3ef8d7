// The kernel table. A row names an op and its builder; the dtypes of elementwise ops are those that the loop
// tables hold, so that a claim cannot differ from what exists. Launch and prepare are instantiated per row,
// because a launch without a prepared state has nothing else to know its op by.
#include "kernels.hpp"

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "elementwise.hpp"
#include "error.hpp"
#include "families.hpp"
#include "halves.hpp"
#include "loss.hpp"

namespace reference_cpu {
namespace {

template <class... Types>
constexpr uint64_t types(Types... dtypes) {
  return (DA_DTYPE_BIT(dtypes) | ...);
}

constexpr uint64_t kBool = types(DA_BOOL);
constexpr uint64_t kInteger =
    types(DA_INT8, DA_INT16, DA_INT32, DA_INT64, DA_UINT8, DA_UINT16, DA_UINT32, DA_UINT64);
constexpr uint64_t kHalf = types(DA_FLOAT16, DA_BFLOAT16);
constexpr uint64_t kFloat = kHalf | types(DA_FLOAT32, DA_FLOAT64);
constexpr uint64_t kComplex = types(DA_COMPLEX64, DA_COMPLEX128);
constexpr uint64_t kNumeric = kInteger | kFloat | kComplex;
constexpr uint64_t kOrdered = kBool | kInteger | kFloat;
constexpr uint64_t kAll = kBool | kNumeric | types(DA_FLOAT8_E4M3FN, DA_FLOAT8_E5M2);

constexpr uint64_t kStrided = DA_KERNEL_DETERMINISTIC | DA_KERNEL_STRIDED_INPUTS | DA_KERNEL_STRIDED_OUTPUTS;
constexpr uint64_t kInPlace = kStrided | DA_KERNEL_IN_PLACE;
constexpr uint64_t kStepFlags =
    DA_KERNEL_DETERMINISTIC | DA_KERNEL_STRIDED_INPUTS | DA_KERNEL_IN_PLACE | DA_KERNEL_IN_PLACE_PAIRS;

struct Row {
  const char *op;
  uint8_t inputs, outputs;
  uint64_t first_types, second_types;  // 0: from the loop tables
  uint64_t flags;
  Builder build;
  uint8_t optional = 0;                             // how many of the inputs, the last ones, may be absent
  bool (*takes)(const Request &request) = nullptr;  // of these tensors; all, where it is NULL
};

constexpr Row unary(const char *op) { return {op, 1, 1, 0, 0, kInPlace, build_elementwise}; }
constexpr Row binary(const char *op) { return {op, 2, 1, 0, 0, kInPlace, build_elementwise}; }
// A composite op on row-major tensors: the host copies others into that form.
constexpr Row dense(const char *op, uint8_t inputs, Builder build, uint8_t optional = 0) {
  return {op, inputs, 1, kFloat, 0, DA_KERNEL_DETERMINISTIC, build, optional};
}

constexpr Row rows[] = {
    {"copy", 1, 1, kAll, kAll, kInPlace, build_copy},
    {"fill", 0, 1, kAll, 0, kStrided, build_fill},
    {"iota", 0, 1, kInteger | kFloat, 0, kStrided, build_iota},
    unary("negative"),
    unary("abs"),
    unary("sign"),
    unary("square"),
    unary("sqrt"),
    unary("reciprocal"),
    unary("exp"),
    unary("expm1"),
    unary("exp2"),
    unary("log"),
    unary("log1p"),
    unary("log2"),
    unary("log10"),
    unary("sin"),
    unary("cos"),
    unary("tan"),
    unary("asin"),
    unary("acos"),
    unary("atan"),
    unary("sinh"),
    unary("cosh"),
    unary("tanh"),
    unary("asinh"),
    unary("acosh"),
    unary("atanh"),
    unary("erf"),
    unary("erfc"),
    unary("floor"),
    unary("ceil"),
    unary("trunc"),
    unary("round"),
    unary("logical_not"),
    unary("bitwise_invert"),
    unary("isnan"),
    unary("isinf"),
    unary("isfinite"),
    unary("signbit"),
    unary("real"),
    unary("imag"),
    unary("conj"),
    binary("add"),
    binary("subtract"),
    binary("multiply"),
    binary("divide"),
    binary("floor_divide"),
    binary("remainder"),
    binary("pow"),
    binary("maximum"),
    binary("minimum"),
    binary("atan2"),
    binary("hypot"),
    binary("copysign"),
    binary("nextafter"),
    binary("logaddexp"),
    binary("bitwise_and"),
    binary("bitwise_or"),
    binary("bitwise_xor"),
    binary("bitwise_left_shift"),
    binary("bitwise_right_shift"),
    binary("logical_and"),
    binary("logical_or"),
    binary("logical_xor"),
    binary("equal"),
    binary("not_equal"),
    binary("less"),
    binary("less_equal"),
    binary("greater"),
    binary("greater_equal"),
    {"where", 3, 1, 0, 0, kInPlace, build_elementwise},
    {"clip", 3, 1, 0, 0, kInPlace, build_clip, 2},
    unary("relu"),
    unary("relu6"),
    unary("hardswish"),
    unary("sigmoid"),
    unary("silu"),
    unary("mish"),
    unary("softplus"),
    {"gelu", 1, 1, kHalf | types(DA_FLOAT32), 0, kInPlace, build_gelu},
    {"gelu_gradient", 2, 1, kHalf | types(DA_FLOAT32), 0, kInPlace, build_gelu_gradient},
    {"reduce_sum", 1, 1, kNumeric, 0, kStrided, build_reduce_sum},
    {"reduce_prod", 1, 1, kNumeric, 0, kStrided, build_reduce_prod},
    {"reduce_max", 1, 1, kOrdered, 0, kStrided, build_reduce_max},
    {"reduce_min", 1, 1, kOrdered, 0, kStrided, build_reduce_min},
    {"reduce_any", 1, 1, kBool, 0, kStrided, build_reduce_any},
    {"reduce_all", 1, 1, kBool, 0, kStrided, build_reduce_all},
    {"reduce_argmax", 1, 1, kOrdered, 0, kStrided, build_reduce_argmax},
    {"reduce_argmin", 1, 1, kOrdered, 0, kStrided, build_reduce_argmin},
    {"scan_sum", 1, 1, kNumeric, 0, kInPlace, build_scan_sum},
    {"scan_prod", 1, 1, kNumeric, 0, kInPlace, build_scan_prod},
    {"batch_matmul", 2, 1, kNumeric, 0, kStrided, build_batch_matmul},
    {"gather_rows", 2, 1, kAll, 0, kStrided, build_gather_rows},
    {"scatter_rows", 3, 1, kAll, 0, kStrided, build_scatter_rows},
    {"compact", 1, 2, 0, 0, kStrided, build_compact},
    {"argsort_last", 1, 1, kOrdered, 0, kStrided, build_argsort_last},
    dense("softmax", 1, build_softmax),
    dense("log_softmax", 1, build_log_softmax),
    dense("softmax_gradient", 2, build_softmax_gradient),
    dense("log_softmax_gradient", 2, build_log_softmax_gradient),
    dense("layer_norm", 3, build_layer_norm, 2),
    dense("rms_norm", 2, build_rms_norm, 1),
    dense("group_norm", 3, build_group_norm, 2),
    {"layer_norm_gradient", 3, 3, kFloat, 0, DA_KERNEL_DETERMINISTIC, build_layer_norm_gradient, 1},
    dense("batch_norm", 5, build_batch_norm, 2),
    {"batch_norm_training", 5, 3, kFloat, 0, DA_KERNEL_DETERMINISTIC | DA_KERNEL_IN_PLACE_PAIRS,
     build_batch_norm_training, 2},
    dense("standardize", 1, build_standardize),
    dense("standardize_gradient", 2, build_standardize_gradient),
    dense("convolution", 3, build_convolution, 1),
    dense("convolution_input_gradient", 2, build_convolution_input_gradient),
    dense("convolution_weight_gradient", 2, build_convolution_weight_gradient),
    {"mse_loss", 2, 1, types(DA_FLOAT32, DA_FLOAT64), 0, DA_KERNEL_DETERMINISTIC, build_mse_loss, 0,
     takes_mse_loss},
    {"cross_entropy_gradient", 4, 1, kFloat, 0, DA_KERNEL_DETERMINISTIC, build_cross_entropy_gradient, 1,
     takes_cross_entropy_gradient},
    {"take_along_axis", 2, 1, kAll, 0, DA_KERNEL_DETERMINISTIC, build_take_along_axis},
    {"take", 2, 1, kAll, 0, DA_KERNEL_DETERMINISTIC, build_take},
    {"embedding", 2, 1, kFloat, 0, DA_KERNEL_DETERMINISTIC, build_embedding},
    {"index_add", 3, 1, kInteger | types(DA_FLOAT32, DA_FLOAT64) | kComplex, 0, DA_KERNEL_DETERMINISTIC,
     build_index_add},
    {"top_k", 1, 2, kOrdered, 0, DA_KERNEL_DETERMINISTIC, build_top_k},
    {"sgd_step", 3, 1, kFloat, 0, kStepFlags, build_sgd_step},
    {"momentum_step", 4, 2, kFloat, 0, kStepFlags, build_momentum_step},
    {"adam_step", 6, 3, kFloat, 0, kStepFlags, build_adam_step},
    {"adamw_step", 6, 3, kFloat, 0, kStepFlags, build_adamw_step},
    dense("max_pool", 1, build_max_pool),
    dense("max_pool_gradient", 2, build_max_pool_gradient),
    dense("avg_pool", 1, build_avg_pool),
    dense("avg_pool_gradient", 1, build_avg_pool_gradient),
    dense("adaptive_avg_pool1d", 1, build_adaptive_avg_pool),
    dense("adaptive_avg_pool2d", 1, build_adaptive_avg_pool),
    dense("adaptive_avg_pool3d", 1, build_adaptive_avg_pool),
    dense("adaptive_avg_pool_gradient", 1, build_adaptive_avg_pool_gradient),
};
constexpr size_t kRows = std::size(rows);

const LoopTable *const loop_tables[] = {&binary_arithmetic, &binary_division, &binary_bits,     &binary_math,
                                        &binary_float32,    &binary_float16,  &binary_bfloat16, &comparisons,
                                        &selections,        &clips,           &activations,     &unary_basic,
                                        &unary_float32,     &unary_math,      &unary_complex};

const LoopEntry *find_loop(const char *op, int32_t dtype) {
  for (const LoopTable *table : loop_tables) {
    for (const LoopEntry &entry : *table) {
      if (entry.dtype == dtype && std::strcmp(entry.op, op) == 0) return &entry;
    }
  }
  return nullptr;
}

// The dtypes of an op in the loop tables; where there is a float32 loop, 16-bit floats can use it.
uint64_t loop_types(const char *op) {
  uint64_t found = 0;
  for (int32_t dtype = DA_BOOL; dtype <= DA_FLOAT8_E5M2; ++dtype) {
    if (find_loop(op, dtype) != nullptr) found |= DA_DTYPE_BIT(dtype);
  }
  if ((found & DA_DTYPE_BIT(DA_FLOAT32)) != 0) found |= types(DA_FLOAT16, DA_BFLOAT16);
  return found;
}

void check(const Row &row, const Request &request) {
  if (request.input_count != row.inputs || request.output_count != row.outputs) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT, "takes " + std::to_string(row.inputs) + " inputs and " +
                                                  std::to_string(row.outputs) + " outputs, not " +
                                                  std::to_string(request.input_count) + " and " +
                                                  std::to_string(request.output_count));
  }
  const auto check_tensor = [](const da_tensor *tensor, const char *role, uint32_t index, bool optional) {
    const std::string name = std::string(role) + " " + std::to_string(index);
    if (tensor == nullptr && optional) return;
    if (tensor == nullptr) throw Failure(DA_STATUS_INVALID_ARGUMENT, name + " is absent");
    if (tensor->dtype <= DA_DTYPE_INVALID || tensor->dtype > DA_FLOAT8_E5M2) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT,
                    name + " has dtype code " + std::to_string(tensor->dtype) + ", which does not exist");
    }
    if (tensor->dl.ndim < 0 || tensor->dl.ndim > DA_MAX_RANK) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT, name + " has rank " + std::to_string(tensor->dl.ndim));
    }
  };
  for (uint32_t i = 0; i < request.input_count; ++i) {
    check_tensor(request.inputs[i], "input", i, i + row.optional >= row.inputs);
  }
  for (uint32_t i = 0; i < request.output_count; ++i) check_tensor(request.outputs[i], "output", i, false);
}

template <size_t row>
std::unique_ptr<Plan> make_plan(const da_tensor *const *inputs, uint32_t input_count,
                                const da_tensor *const *outputs, uint32_t output_count,
                                const void *attributes) {
  const Request request{rows[row].op, inputs, input_count, outputs, output_count, attributes};
  check(rows[row], request);
  return rows[row].build(request);
}

template <size_t row>
da_error *prepare(da_device *, const da_kernel *, const da_tensor *const *inputs, uint32_t input_count,
                  const da_tensor *const *outputs, uint32_t output_count, const void *attributes,
                  void **out_state) {
  return guarded(rows[row].op, [&] {
    *out_state = make_plan<row>(inputs, input_count, outputs, output_count, attributes).release();
  });
}

template <size_t row>
da_error *launch(void *state, const da_kernel_context *, const da_tensor *const *inputs, uint32_t input_count,
                 const da_tensor *const *outputs, uint32_t output_count, const void *attributes) {
  return guarded(rows[row].op, [&] {
    if (state != nullptr) return static_cast<const Plan *>(state)->run(inputs, outputs, attributes);
    make_plan<row>(inputs, input_count, outputs, output_count, attributes)->run(inputs, outputs, attributes);
  });
}

template <size_t row>
da_error *supports(da_device *, const da_kernel *, const da_tensor *const *inputs, uint32_t input_count,
                   const da_tensor *const *outputs, uint32_t output_count, const void *attributes,
                   int32_t *out_supported) {
  return guarded(rows[row].op, [&] {
    const Request request{rows[row].op, inputs, input_count, outputs, output_count, attributes};
    check(rows[row], request);
    *out_supported = rows[row].takes(request) ? 1 : 0;
  });
}

void release(void *state) { delete static_cast<Plan *>(state); }

template <size_t row>
da_kernel make_kernel() {
  da_kernel kernel{};
  kernel.struct_size = sizeof(da_kernel);
  kernel.op = rows[row].op;
  kernel.dtypes[0] = rows[row].first_types;
  kernel.dtypes[1] = rows[row].second_types;
  if (kernel.dtypes[0] == 0) kernel.dtypes[0] = loop_types(rows[row].op);
  kernel.flags = rows[row].flags;
  kernel.launch = launch<row>;
  kernel.prepare = prepare<row>;
  kernel.release = release;
  if (rows[row].takes != nullptr) kernel.supports = supports<row>;
  return kernel;
}

template <size_t... row>
std::array<da_kernel, kRows> make_kernels(std::index_sequence<row...>) {
  return {{make_kernel<row>()...}};
}

da_error *list(da_device *, da_kernel_list *out_list) {
  return guarded("list", [&] {
    static const std::array<da_kernel, kRows> kernels = make_kernels(std::make_index_sequence<kRows>());
    out_list->first = kernels.data();
    out_list->count = kernels.size();
    out_list->stride = sizeof(da_kernel);
  });
}

}  // namespace

Recipe widened_recipe(const Request &request, const LoopEntry &entry) {
  Recipe recipe;
  recipe.loop = entry.loop;
  recipe.weight = entry.weight;
  for (uint32_t k = 0; k < request.input_count; ++k) {
    const int32_t dtype = request.inputs[k]->dtype;
    if (dtype != entry.dtype && is_half(dtype)) recipe.convert[k + 1] = widen_loop(dtype);
  }
  const int32_t made = request.out().dtype;
  if (made != entry.dtype && is_half(made)) recipe.convert[0] = narrow_loop(made);
  return recipe;
}

std::unique_ptr<Plan> build_elementwise(const Request &request) {
  // The last input has the dtype of the op; a condition may stand before it.
  const int32_t dtype = request.in(static_cast<int>(request.input_count) - 1).dtype;
  const LoopEntry *entry = find_loop(request.op, dtype);
  if (entry == nullptr && is_half(dtype)) entry = find_loop(request.op, DA_FLOAT32);
  if (entry == nullptr) {
    throw Failure(DA_STATUS_UNIMPLEMENTED, "has no kernel for dtype code " + std::to_string(dtype));
  }
  return elementwise_plan(request, widened_recipe(request, *entry));
}

const da_kernel_interface kernel_interface = {sizeof(da_kernel_interface), nullptr,
                                              DA_KERNEL_INTERFACE_VERSION, 0, list};

}  // namespace reference_cpu
