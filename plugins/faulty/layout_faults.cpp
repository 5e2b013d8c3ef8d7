// Kernels that mistake where elements are: strides, offsets, ranks, tails, gaps, and memory that is not
// theirs.
#include <cstdlib>
#include <cstring>

#include "faults.hpp"

namespace faulty {
namespace {

// Runs the good kernel on inputs whose descriptors were changed.
template <class Change>
da_error *with_changed_inputs(const Launch &launch, Change change) {
  std::vector<Altered> altered;
  altered.reserve(launch.input_count);
  std::vector<const da_tensor *> inputs;
  for (uint32_t i = 0; i < launch.input_count; ++i) {
    altered.emplace_back(launch.in(i));
    change(altered.back());
    inputs.push_back(&altered.back().tensor);
  }
  return launch.run_on(inputs);
}

// Runs the good kernel, and puts back what one element of the output held before.
da_error *skip_element(const Launch &launch, int64_t place) {
  const int64_t bytes = item_bytes(launch.out());
  char *const element = address_of(launch.out(), place);
  const std::string before(element, static_cast<size_t>(bytes));
  da_error *error = launch.run();
  std::memcpy(element, before.data(), before.size());
  return error;
}

FAULT(cpu, reads_inputs_as_dense) {
  stand_before("add", [](const Launch &launch) {
    return with_changed_inputs(launch, [](Altered &tensor) { tensor.make_dense(); });
  });
}

FAULT(cpu, walks_through_repeated_inputs) {
  stand_before("multiply", [](const Launch &launch) {
    return with_changed_inputs(launch, [](Altered &tensor) {
      bool repeated = false;
      for (int32_t axis = 0; axis < tensor.rank(); ++axis) repeated |= tensor.strides[axis] == 0;
      if (repeated) tensor.make_dense();
    });
  });
}

FAULT(cpu, repeats_only_whole_tensors) {
  stand_before("divide", [](const Launch &launch) {
    return with_changed_inputs(launch, [](Altered &tensor) {
      if (tensor.rank() == 2 && tensor.strides[1] == 0) tensor.strides[0] = 0;
    });
  });
}

FAULT(cpu, ignores_byte_offset) {
  stand_before("subtract", [](const Launch &launch) {
    return with_changed_inputs(launch, [](Altered &tensor) { tensor.tensor.dl.byte_offset = 0; });
  });
}

FAULT(cpu, ignores_offset_of_scalars) {
  stand_before("floor", [](const Launch &launch) {
    return with_changed_inputs(launch, [](Altered &tensor) {
      if (tensor.rank() == 0) tensor.tensor.dl.byte_offset -= tensor.tensor.dl.byte_offset % 64;
    });
  });
}

FAULT(cpu, takes_strides_as_unsigned) {
  stand_before("negative", [](const Launch &launch) {
    return with_changed_inputs(launch, [](Altered &tensor) {
      for (int32_t axis = 0; axis < tensor.rank(); ++axis)
        tensor.strides[axis] = std::abs(tensor.strides[axis]);
    });
  });
}

FAULT(cpu, trusts_the_last_stride) {
  stand_before("copy", [](const Launch &launch) {
    return with_changed_inputs(launch, [](Altered &tensor) {
      if (tensor.rank() > 0 && tensor.strides[tensor.rank() - 1] == 1) tensor.make_dense();
    });
  });
}

FAULT(cpu, takes_strides_in_bytes) {
  stand_before("batch_matmul", [](const Launch &launch) {
    return with_changed_inputs(launch, [&](Altered &tensor) {
      if (dense(tensor.tensor)) return;
      for (int32_t axis = 0; axis < tensor.rank(); ++axis) {
        if (tensor.strides[axis] % 2 == 0) tensor.strides[axis] /= 2;
      }
    });
  });
}

FAULT(cpu, writes_its_output_as_dense) {
  stand_before("exp", [](const Launch &launch) {
    Altered out(launch.out());
    out.make_dense();
    return launch.run_on({&launch.in()}, {&out.tensor});
  });
}

FAULT(cpu, fills_the_gaps_of_its_output) {
  spoil("sqrt", DA_FLOAT32, [](const Launch &launch) {
    const da_dl_tensor &out = launch.out().dl;
    if (out.ndim < 2 || out.strides[out.ndim - 1] < 2) return;
    reinterpret_cast<float *>(address_of(launch.out(), 0))[1] = 0;
  });
}

FAULT(cpu, drops_axes_beyond_the_fourth) {
  stand_before("maximum", [](const Launch &launch) -> da_error * {
    if (launch.out().dl.ndim <= 4) return launch.run();
    std::vector<Altered> cut;
    cut.reserve(3);
    for (const da_tensor *tensor : {&launch.in(0), &launch.in(1), &launch.out()}) {
      cut.emplace_back(*tensor);
      cut.back().tensor.dl.ndim = 4;
    }
    return launch.run_on({&cut[0].tensor, &cut[1].tensor}, {&cut[2].tensor});
  });
}

FAULT(cpu, leaves_scalars_alone) {
  stand_before("minimum", [](const Launch &launch) -> da_error * {
    return launch.out().dl.ndim == 0 ? nullptr : launch.run();
  });
}

FAULT(cpu, swaps_the_axes_of_square_matrices) {
  stand_before("where", [](const Launch &launch) {
    return with_changed_inputs(launch, [](Altered &tensor) {
      if (tensor.rank() == 3) std::swap(tensor.strides[0], tensor.strides[1]);
    });
  });
}

FAULT(cpu, leaves_out_the_tail_of_vectors) {
  stand_before("exp", [](const Launch &launch) -> da_error * {
    const int64_t count = count_of(launch.out());
    return count > 8 && count % 8 != 0 ? skip_element(launch, count - 1) : launch.run();
  });
}

FAULT(cpu, repeats_an_element_in_the_tail) {
  spoil("tanh", DA_FLOAT32, [](const Launch &launch) {
    const Elements<float> out(launch.out());
    const int64_t count = out.count();
    if (count > 4 && count % 4 == 3) out[count - 1] = out[count - 2];
  });
}

FAULT(cpu, leaves_out_a_place_between_threads) {
  stand_before("add", [](const Launch &launch) -> da_error * {
    return count_of(launch.out()) > 50'000 ? skip_element(launch, 32'768) : launch.run();
  });
}

FAULT(cpu, stops_at_the_greatest_grid) {
  stand_before("abs", [](const Launch &launch) -> da_error * {
    return count_of(launch.out()) > 65'536 ? skip_element(launch, 65'536) : launch.run();
  });
}

FAULT(cpu, counts_places_in_16_bits) {
  stand_before("fill", [](const Launch &launch) -> da_error * {
    return count_of(launch.out()) == 1025 ? skip_element(launch, 1024) : launch.run();
  });
}

FAULT(cpu, transposes_tiles_of_32_only) {
  stand_before("copy", [](const Launch &launch) -> da_error * {
    const da_dl_tensor &out = launch.out().dl;
    const bool tiled = out.ndim == 2 && out.shape[0] > 32 && !dense(launch.in());
    return tiled ? skip_element(launch, out.shape[0] / 32 * 32 * out.shape[1]) : launch.run();
  });
}

FAULT(cpu, writes_past_the_end) {
  spoil("square", DA_FLOAT32, [](const Launch &launch) {
    if (dense(launch.out()))
      *reinterpret_cast<float *>(address_of(launch.out(), 0) + count_of(launch.out()) * 4) = 0;
  });
}

FAULT(cpu, writes_before_the_start) {
  spoil("ceil", DA_FLOAT32, [](const Launch &launch) {
    if (dense(launch.out())) reinterpret_cast<float *>(address_of(launch.out(), 0))[-1] = 0;
  });
}

FAULT(cpu, writes_whole_vectors) {
  spoil("trunc", DA_FLOAT32, [](const Launch &launch) {
    float *const out = reinterpret_cast<float *>(address_of(launch.out(), 0));
    if (!dense(launch.out())) return;
    for (int64_t i = count_of(launch.out()); i % 8 != 0; ++i) out[i] = 0;
  });
}

FAULT(cpu, writes_past_a_row_of_indices) {
  spoil("argsort_last", DA_FLOAT32, [](const Launch &launch) {
    if (dense(launch.out())) {
      *reinterpret_cast<int64_t *>(address_of(launch.out(), 0) + count_of(launch.out()) * 8) = 0;
    }
  });
}

FAULT(cpu, reads_past_the_end) {
  spoil("reduce_sum", DA_FLOAT32, [](const Launch &launch) {
    if (!dense(launch.in())) return;
    const float *const past = reinterpret_cast<float *>(address_of(launch.in(), 0)) + count_of(launch.in());
    const Elements<float> out(launch.out());
    if (row_length(launch.in()) % 4 != 0) out[out.count() - 1] += *past;
  });
}

FAULT(cpu, changes_its_input) {
  spoil("negative", DA_INT32, [](const Launch &launch) {
    if (address_of(launch.in(), 0) != address_of(launch.out(), 0)) Elements<int32_t>(launch.in())[0] ^= 1;
  });
}

FAULT(cpu, sorts_its_input) {
  spoil("argsort_last", DA_INT32, [](const Launch &launch) {
    const Elements<int32_t> in(launch.in());
    if (in.count() > 1 && in[0] > in[1]) std::swap(in[0], in[1]);
  });
}

FAULT(cpu, writes_into_its_first_input) {
  stand_before("bitwise_or", [](const Launch &launch) {
    return launch.run_on({&launch.in(0), &launch.in(1)}, {&launch.in(0)});
  });
}

FAULT(cpu, clears_its_output_first) {
  stand_before("subtract", [](const Launch &launch) {
    if (address_of(launch.in(1), 0) == address_of(launch.out(), 0)) {
      std::memset(address_of(launch.out(), 0), 0, static_cast<size_t>(item_bytes(launch.out())));
    }
    return launch.run();
  });
}

FAULT(cpu, reads_what_it_has_written) {
  stand_before("scan_sum", [](const Launch &launch) -> da_error * {
    const bool in_place = address_of(launch.in(), 0) == address_of(launch.out(), 0);
    if (!in_place || launch.dtype() != DA_FLOAT32) return launch.run();
    const Elements<float> out(launch.out());
    const float first = out[0];
    da_error *error = launch.run();
    if (out.count() > 1) out[1] += first;
    return error;
  });
}

FAULT(cpu, mistakes_equal_inputs) {
  stand_before("subtract", [](const Launch &launch) -> da_error * {
    if (launch.in(0).dl.data != launch.in(1).dl.data || launch.dtype() != DA_FLOAT32) return launch.run();
    compute<float, float>(launch, [](float a, float) { return a; });
    return nullptr;
  });
}

FAULT(cpu, takes_the_first_batch_only) {
  stand_before("batch_matmul", [](const Launch &launch) {
    return with_changed_inputs(launch, [](Altered &tensor) {
      for (int32_t axis = 0; axis < tensor.rank() - 2; ++axis) tensor.strides[axis] = 0;
    });
  });
}

}  // namespace
}  // namespace faulty
