// The formulas of the op set, in double precision, one element or one line at a time.
#include "composites.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "faults.hpp"

namespace faulty {
namespace {

// Calls function(place of the first element, step to the next, length) for each line along an axis.
template <class Function>
void for_each_line(const da_tensor &tensor, int64_t axis, Function function) {
  int64_t inner = 1;
  for (int32_t i = static_cast<int32_t>(axis) + 1; i < tensor.dl.ndim; ++i) inner *= tensor.dl.shape[i];
  const int64_t length = tensor.dl.shape[axis];
  if (length == 0) return;
  for (int64_t line = 0; line < count_of(tensor) / length; ++line) {
    function(line / inner * inner * length + line % inner, inner, length);
  }
}

template <class Attributes>
const Attributes &attributes_of(const Launch &launch) {
  return *static_cast<const Attributes *>(launch.attributes);
}

// Of an operand that may be one number for all elements.
float at(const Elements<float> &operand, int64_t place) {
  return operand.count() == 1 ? operand[0] : operand[place];
}

da_error *softmax(const Launch &launch) {
  const Elements<float> x(launch.in()), y(launch.out());
  for_each_line(launch.in(), attributes_of<da_attributes_softmax>(launch).axis,
                [&](int64_t first, int64_t step, int64_t length) {
                  double top = -INFINITY, sum = 0;
                  for (int64_t i = 0; i < length; ++i) top = std::fmax(top, x[first + i * step]);
                  for (int64_t i = 0; i < length; ++i) sum += std::exp(x[first + i * step] - top);
                  for (int64_t i = 0; i < length; ++i) {
                    y[first + i * step] = static_cast<float>(std::exp(x[first + i * step] - top) / sum);
                  }
                });
  return nullptr;
}

da_error *softmax_gradient(const Launch &launch) {
  const Elements<float> upstream(launch.in(0)), result(launch.in(1)), out(launch.out());
  for_each_line(launch.out(), attributes_of<da_attributes_softmax_gradient>(launch).axis,
                [&](int64_t first, int64_t step, int64_t length) {
                  double share = 0;
                  for (int64_t i = first; i < first + length * step; i += step) {
                    share += double{upstream[i]} * result[i];
                  }
                  for (int64_t i = first; i < first + length * step; i += step) {
                    out[i] = static_cast<float>(result[i] * (upstream[i] - share));
                  }
                });
  return nullptr;
}

da_error *log_softmax_gradient(const Launch &launch) {
  const Elements<float> upstream(launch.in(0)), result(launch.in(1)), out(launch.out());
  for_each_line(launch.out(), attributes_of<da_attributes_log_softmax_gradient>(launch).axis,
                [&](int64_t first, int64_t step, int64_t length) {
                  double sum = 0;
                  for (int64_t i = first; i < first + length * step; i += step) sum += upstream[i];
                  for (int64_t i = first; i < first + length * step; i += step) {
                    out[i] = static_cast<float>(upstream[i] - std::exp(double{result[i]}) * sum);
                  }
                });
  return nullptr;
}

da_error *sgd_step(const Launch &launch) {
  const auto &given_attributes = attributes_of<da_attributes_sgd_step>(launch);
  const Elements<float> parameter(launch.in(0)), gradient(launch.in(1)), rate(launch.in(2)),
      out(launch.out());
  for (int64_t i = 0; i < out.count(); ++i) {
    const double slope = gradient[i] + given_attributes.weight_decay * parameter[i];
    out[i] = static_cast<float>(parameter[i] - at(rate, i) * slope);
  }
  return nullptr;
}

da_error *momentum_step(const Launch &launch) {
  const auto &a = attributes_of<da_attributes_momentum_step>(launch);
  const Elements<float> parameter(launch.in(0)), gradient(launch.in(1)), velocity(launch.in(2)),
      rate(launch.in(3));
  const Elements<float> new_parameter(launch.out(0)), new_velocity(launch.out(1));
  for (int64_t i = 0; i < new_parameter.count(); ++i) {
    const double slope = gradient[i] + a.weight_decay * parameter[i];
    const double speed = a.momentum * velocity[i] + slope;
    new_parameter[i] = static_cast<float>(
        parameter[i] - at(rate, i) * (a.nesterov != 0 ? slope + a.momentum * speed : speed));
    new_velocity[i] = static_cast<float>(speed);
  }
  return nullptr;
}

da_error *adam_step(const Launch &launch) {
  const auto &a = attributes_of<da_attributes_adam_step>(launch);
  const Elements<float> parameter(launch.in(0)), gradient(launch.in(1)), mean(launch.in(2)),
      variance(launch.in(3));
  const Elements<float> step(launch.in(4)), rate(launch.in(5));
  const Elements<float> new_parameter(launch.out(0)), new_mean(launch.out(1)), new_variance(launch.out(2));
  for (int64_t i = 0; i < new_parameter.count(); ++i) {
    const double slope = gradient[i] + a.weight_decay * parameter[i];
    const double first = a.beta1 * mean[i] + (1 - a.beta1) * slope;
    const double second = a.beta2 * variance[i] + (1 - a.beta2) * slope * slope;
    const double length = std::sqrt(second / (1 - std::pow(a.beta2, double{at(step, i)}))) + a.epsilon;
    new_parameter[i] = static_cast<float>(
        parameter[i] - at(rate, i) * first / (1 - std::pow(a.beta1, double{at(step, i)})) / length);
    new_mean[i] = static_cast<float>(first);
    new_variance[i] = static_cast<float>(second);
  }
  return nullptr;
}

}  // namespace

void offer_composites() {
  const uint64_t flags = DA_KERNEL_STRIDED_INPUTS | DA_KERNEL_STRIDED_OUTPUTS | DA_KERNEL_DETERMINISTIC;
  const uint64_t float32 = DA_DTYPE_BIT(DA_FLOAT32);
  offer("softmax", float32, flags, softmax);
  offer("softmax_gradient", float32, flags, softmax_gradient);
  offer("log_softmax_gradient", float32, flags, log_softmax_gradient);
  offer("sgd_step", float32, flags, sgd_step);
  offer("momentum_step", float32, flags, momentum_step);
  offer("adam_step", float32, flags, adam_step);
}

}  // namespace faulty
