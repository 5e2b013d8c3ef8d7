// Losses as kernels of their own.
#ifndef REFERENCE_CPU_LOSS_HPP
#define REFERENCE_CPU_LOSS_HPP

#include "plan.hpp"

namespace reference_cpu {

std::unique_ptr<Plan> build_mse_loss(const Request &request);
bool takes_mse_loss(const Request &request);  // two tensors of one shape, and a loss that is reduced
std::unique_ptr<Plan> build_cross_entropy_gradient(const Request &request);
bool takes_cross_entropy_gradient(const Request &request);  // classes that are neighbours in memory

}  // namespace reference_cpu

#endif
