// Wrong gradients, wrong steps of optimisers, and the softmax between them. A network still learns with most
// of these, only worse: nobody notices without a judge.
#include <cmath>
#include <cstring>

#include "faults.hpp"

namespace faulty {
namespace {

// The good kernel, then each element of an output changed.
template <class Change>
void change_output(const char *op, uint32_t output, Change change) {
  spoil(op, DA_FLOAT32, [output, change](const Launch &launch) {
    const Elements<float> out(launch.out(output));
    for (int64_t i = 0; i < out.count(); ++i) out[i] = change(launch, i, out[i]);
  });
}

// The good kernel with attributes that were changed. What it has prepared knows the right ones: it goes
// without.
template <class Attributes, class Change>
void change_attributes(const char *op, Change change) {
  stand_before(op, [change](const Launch &launch) {
    Attributes attributes = *static_cast<const Attributes *>(launch.attributes);
    change(attributes, launch);
    Launch other = launch;
    other.attributes = &attributes;
    other.state = nullptr;
    return other.run();
  });
}

float value(const Launch &launch, uint32_t input, int64_t place) {
  return Elements<float>(launch.in(input))[place];
}

// ---- softmax

FAULT(cpu, softmax_of_the_last_axis) {
  change_attributes<da_attributes_softmax>("softmax",
                                           [](da_attributes_softmax &attributes, const Launch &launch) {
                                             attributes.axis = launch.in().dl.ndim - 1;
                                           });
}
FAULT(cpu, softmax_without_its_maximum) {
  stand_before("softmax", [](const Launch &launch) -> da_error * {
    da_error *error = launch.run();
    const Elements<float> x(launch.in()), out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) {
      if (std::isinf(std::exp(x[i]))) out[i] = NAN;
    }
    return error;
  });
}
FAULT(cpu, softmax_does_not_add_up_to_one) {
  change_output("softmax", 0, [](const Launch &, int64_t, float y) { return y * 0.9999f; });
}

// ---- gradients

FAULT(cpu, gradient_three_times_too_large) {
  change_output("softmax_gradient", 0, [](const Launch &, int64_t, float y) { return 3 * y; });
}
FAULT(cpu, gradient_has_the_wrong_sign) {
  change_output("softmax_gradient", 0, [](const Launch &, int64_t, float y) { return -y; });
}
FAULT(cpu, gradient_lacks_a_term) {
  change_output("softmax_gradient", 0, [](const Launch &launch, int64_t i, float) {
    return value(launch, 0, i) * value(launch, 1, i);
  });
}
FAULT(cpu, gradient_along_the_wrong_axis) {
  change_attributes<da_attributes_softmax_gradient>(
      "softmax_gradient",
      [](da_attributes_softmax_gradient &attributes, const Launch &) { attributes.axis = 0; });
}
FAULT(cpu, gradient_of_zero_where_it_is_small) {
  change_output("log_softmax_gradient", 0,
                [](const Launch &, int64_t, float y) { return std::fabs(y) < 0.01f ? 0.0f : y; });
}
FAULT(cpu, gradient_ignores_what_comes_from_above) {
  change_output("log_softmax_gradient", 0,
                [](const Launch &launch, int64_t i, float) { return 1 - std::exp(value(launch, 1, i)); });
}
FAULT(cpu, gradient_takes_the_logarithm_for_the_result) {
  change_output("log_softmax_gradient", 0, [](const Launch &launch, int64_t i, float) {
    return value(launch, 0, i) - value(launch, 1, i);
  });
}

FAULT(cpu, bias_gradient_counts_the_last_row_twice) {
  change_output("layer_norm_gradient", 2, [](const Launch &launch, int64_t i, float y) {
    return y + value(launch, 0, count_of(launch.in(0)) - count_of(launch.out(2)) + i);
  });
}
FAULT(cpu, norm_gradient_forgets_the_mean) {
  change_attributes<da_attributes_layer_norm_gradient>(
      "layer_norm_gradient",
      [](da_attributes_layer_norm_gradient &attributes, const Launch &) { attributes.centred = 0; });
}
FAULT(cpu, loss_gradient_forgets_the_weights_of_classes) {
  stand_before("cross_entropy_gradient", [](const Launch &launch) {
    return launch.run_on({launch.inputs[0], launch.inputs[1], launch.inputs[2], nullptr});
  });
}
FAULT(cpu, gelu_gradient_is_always_approximate) {
  change_attributes<da_attributes_gelu_gradient>(
      "gelu_gradient",
      [](da_attributes_gelu_gradient &attributes, const Launch &) { attributes.approximate = 1; });
}

// ---- steps of optimisers

FAULT(cpu, step_goes_uphill) {
  change_output("sgd_step", 0,
                [](const Launch &launch, int64_t i, float y) { return 2 * value(launch, 0, i) - y; });
}
FAULT(cpu, step_forgets_weight_decay) {
  change_attributes<da_attributes_sgd_step>(
      "sgd_step", [](da_attributes_sgd_step &attributes, const Launch &) { attributes.weight_decay = 0; });
}
FAULT(cpu, step_has_a_rate_of_its_own) {
  change_output("sgd_step", 0, [](const Launch &launch, int64_t i, float) {
    return value(launch, 0, i) - 0.01f * value(launch, 1, i);
  });
}
FAULT(cpu, step_keeps_its_old_velocity) {
  change_output("momentum_step", 1,
                [](const Launch &launch, int64_t i, float) { return value(launch, 2, i); });
}
FAULT(cpu, step_dampens_its_gradient) {
  change_output("momentum_step", 1, [](const Launch &launch, int64_t i, float y) {
    const auto *attributes = static_cast<const da_attributes_momentum_step *>(launch.attributes);
    return y - static_cast<float>(attributes->momentum) * value(launch, 1, i);
  });
}
FAULT(cpu, step_ignores_nesterov) {
  change_attributes<da_attributes_momentum_step>(
      "momentum_step",
      [](da_attributes_momentum_step &attributes, const Launch &) { attributes.nesterov = 0; });
}
FAULT(cpu, adam_does_not_correct_its_bias) {
  // As if the step counted from a thousand on.
  stand_before("adam_step", [](const Launch &launch) {
    std::vector<const da_tensor *> inputs(launch.inputs, launch.inputs + launch.input_count);
    Altered late(launch.in(4));
    float step = 1e6f;
    late.tensor.dl.data = &step;
    late.tensor.dl.byte_offset = 0;
    inputs[4] = &late.tensor;
    return launch.run_on(inputs, std::vector<const da_tensor *>(launch.outputs, launch.outputs + 3));
  });
}
FAULT(cpu, adam_swaps_its_betas) {
  change_attributes<da_attributes_adam_step>("adam_step",
                                             [](da_attributes_adam_step &attributes, const Launch &) {
                                               std::swap(attributes.beta1, attributes.beta2);
                                             });
}
FAULT(cpu, adam_ignores_epsilon) {
  change_attributes<da_attributes_adam_step>(
      "adam_step", [](da_attributes_adam_step &attributes, const Launch &) { attributes.epsilon = 0; });
}
FAULT(cpu, adam_reads_its_mean_after_it_is_overwritten) {
  // Two passes: the second moves the parameter, and takes the new moments for the old ones.
  stand_before("adam_step", [](const Launch &launch) -> da_error * {
    const bool in_place = address_of(launch.in(2), 0) == address_of(launch.out(1), 0);
    if (!in_place || launch.dtype() != DA_FLOAT32) return launch.run();
    std::vector<float> spare[3];
    std::vector<Altered> apart;
    for (uint32_t k = 0; k < 3; ++k) {
      spare[k].resize(static_cast<size_t>(count_of(launch.out(k))));
      apart.emplace_back(launch.out(k));
      apart[k].make_dense();
      apart[k].tensor.dl.data = spare[k].data();
      apart[k].tensor.dl.byte_offset = 0;
    }
    const std::vector<const da_tensor *> inputs(launch.inputs, launch.inputs + launch.input_count);
    da_error *error = launch.run_on(inputs, {&apart[0].tensor, &launch.out(1), &apart[2].tensor});
    if (error != nullptr) return error;
    return launch.run_on(inputs, {&launch.out(0), &apart[1].tensor, &launch.out(2)});
  });
}
FAULT(cpu, momentum_works_in_place_by_one_pair_only) {
  // With both pairs in place the velocity is written first, and read again for the parameter.
  stand_before("momentum_step", [](const Launch &launch) -> da_error * {
    const bool both = address_of(launch.in(0), 0) == address_of(launch.out(0), 0) &&
                      address_of(launch.in(2), 0) == address_of(launch.out(1), 0);
    da_error *error = launch.run();
    if (error != nullptr || !both || launch.dtype() != DA_FLOAT32) return error;
    const Elements<float> parameter(launch.out(0)), velocity(launch.out(1));
    for (int64_t i = 0; i < parameter.count(); ++i) parameter[i] -= value(launch, 3, i) * velocity[i];
    return nullptr;
  });
}
FAULT(cpu, adamw_refuses_the_pairs_that_it_claims) {
  stand_before("adamw_step", [](const Launch &launch) -> da_error * {
    const bool in_place = launch.in(3).dl.data == launch.out(2).dl.data;
    return in_place ? make_error(DA_STATUS_INVALID_ARGUMENT, "operands overlap") : launch.run();
  });
}
FAULT(cpu, running_mean_in_place_loses_its_weight) {
  // Only some outputs of this op have an input to replace.
  stand_before("batch_norm_training", [](const Launch &launch) -> da_error * {
    const bool in_place = address_of(launch.in(1), 0) == address_of(launch.out(1), 0);
    if (!in_place || launch.dtype() != DA_FLOAT32) return launch.run();
    const Elements<float> mean(launch.in(1));
    for (int64_t i = 0; i < mean.count(); ++i) mean[i] = 0;
    return launch.run();
  });
}
FAULT(cpu, adam_forgets_its_variance) {
  change_output("adam_step", 2, [](const Launch &launch, int64_t i, float) { return value(launch, 3, i); });
}

}  // namespace
}  // namespace faulty
