// What each family of kernels offers to the kernel table.
#ifndef REFERENCE_CPU_FAMILIES_HPP
#define REFERENCE_CPU_FAMILIES_HPP

#include <iterator>

#include "loops.hpp"
#include "plan.hpp"

namespace reference_cpu {

// Elementwise families: loops by op and dtype.
extern const LoopTable binary_arithmetic;
extern const LoopTable binary_division;
extern const LoopTable binary_bits;
extern const LoopTable binary_math;
extern const LoopTable binary_float32;
extern const LoopTable binary_float16;
extern const LoopTable binary_bfloat16;
extern const LoopTable comparisons;
extern const LoopTable selections;
extern const LoopTable clips;
extern const LoopTable activations;
extern const LoopTable unary_basic;
extern const LoopTable unary_float32;
extern const LoopTable unary_math;
extern const LoopTable unary_complex;

// The other families: a builder for each op.
std::unique_ptr<Plan> build_copy(const Request &request);
std::unique_ptr<Plan> build_fill(const Request &request);
std::unique_ptr<Plan> build_iota(const Request &request);
std::unique_ptr<Plan> build_reduce_sum(const Request &request);
std::unique_ptr<Plan> build_reduce_prod(const Request &request);
std::unique_ptr<Plan> build_reduce_max(const Request &request);
std::unique_ptr<Plan> build_reduce_min(const Request &request);
std::unique_ptr<Plan> build_reduce_any(const Request &request);
std::unique_ptr<Plan> build_reduce_all(const Request &request);
std::unique_ptr<Plan> build_reduce_argmax(const Request &request);
std::unique_ptr<Plan> build_reduce_argmin(const Request &request);
std::unique_ptr<Plan> build_scan_sum(const Request &request);
std::unique_ptr<Plan> build_scan_prod(const Request &request);
std::unique_ptr<Plan> build_batch_matmul(const Request &request);
std::unique_ptr<Plan> build_gather_rows(const Request &request);
std::unique_ptr<Plan> build_scatter_rows(const Request &request);
std::unique_ptr<Plan> build_compact(const Request &request);
std::unique_ptr<Plan> build_argsort_last(const Request &request);

// Composite ops that are faster in one piece than as what they are composed of.
std::unique_ptr<Plan> build_clip(const Request &request);
std::unique_ptr<Plan> build_gelu(const Request &request);
std::unique_ptr<Plan> build_gelu_gradient(const Request &request);
std::unique_ptr<Plan> build_softmax(const Request &request);
std::unique_ptr<Plan> build_log_softmax(const Request &request);
std::unique_ptr<Plan> build_softmax_gradient(const Request &request);
std::unique_ptr<Plan> build_log_softmax_gradient(const Request &request);
std::unique_ptr<Plan> build_layer_norm(const Request &request);
std::unique_ptr<Plan> build_rms_norm(const Request &request);
std::unique_ptr<Plan> build_group_norm(const Request &request);
std::unique_ptr<Plan> build_layer_norm_gradient(const Request &request);
std::unique_ptr<Plan> build_batch_norm(const Request &request);
std::unique_ptr<Plan> build_batch_norm_training(const Request &request);
std::unique_ptr<Plan> build_standardize(const Request &request);
std::unique_ptr<Plan> build_standardize_gradient(const Request &request);
std::unique_ptr<Plan> build_convolution(const Request &request);
std::unique_ptr<Plan> build_convolution_input_gradient(const Request &request);
std::unique_ptr<Plan> build_convolution_weight_gradient(const Request &request);
std::unique_ptr<Plan> build_max_pool(const Request &request);
std::unique_ptr<Plan> build_avg_pool(const Request &request);
std::unique_ptr<Plan> build_adaptive_avg_pool(const Request &request);
std::unique_ptr<Plan> build_max_pool_gradient(const Request &request);
std::unique_ptr<Plan> build_avg_pool_gradient(const Request &request);
std::unique_ptr<Plan> build_adaptive_avg_pool_gradient(const Request &request);
std::unique_ptr<Plan> build_take_along_axis(const Request &request);
std::unique_ptr<Plan> build_take(const Request &request);
std::unique_ptr<Plan> build_embedding(const Request &request);
std::unique_ptr<Plan> build_index_add(const Request &request);
std::unique_ptr<Plan> build_top_k(const Request &request);
std::unique_ptr<Plan> build_sgd_step(const Request &request);
std::unique_ptr<Plan> build_momentum_step(const Request &request);
std::unique_ptr<Plan> build_adam_step(const Request &request);
std::unique_ptr<Plan> build_adamw_step(const Request &request);

}  // namespace reference_cpu

#endif
