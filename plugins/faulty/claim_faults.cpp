// Kernels whose claims are untrue, in both directions, and lists that are no lists.
#include <cstring>

#include "faults.hpp"

namespace faulty {
namespace {

da_error *declines(da_device *, const da_kernel *, Tensors, uint32_t, Tensors, uint32_t, const void *,
                   int32_t *out_supported) {
  *out_supported = 0;
  return nullptr;
}

FAULT(cpu, claims_a_dtype_that_it_lacks) { kernel_of("bitwise_and").dtypes[0] |= DA_DTYPE_BIT(DA_FLOAT32); }
FAULT(cpu, claims_a_dtype_and_refuses_it) {
  stand_before("add", [](const Launch &launch) -> da_error * {
    return launch.dtype() == DA_FLOAT16 ? make_error(DA_STATUS_UNIMPLEMENTED, "no float16") : launch.run();
  });
}
FAULT(cpu, claims_a_dtype_and_computes_another) {
  stand_before("add", [](const Launch &launch) -> da_error * {
    if (launch.dtype() != DA_BFLOAT16) return launch.run();
    std::vector<Altered> tensors;
    tensors.reserve(3);
    for (const da_tensor *tensor : {&launch.in(0), &launch.in(1), &launch.out()}) {
      tensors.emplace_back(*tensor);
      tensors.back().tensor.dtype = DA_FLOAT16;
      tensors.back().tensor.dl.dtype.code = 2;
    }
    return launch.run_on({&tensors[0].tensor, &tensors[1].tensor}, {&tensors[2].tensor});
  });
}
FAULT(cpu, declines_all_that_it_claims) { kernel_of("add").supports = declines; }
FAULT(cpu, prepare_declines_what_is_claimed) {
  kernel_of("exp").prepare = [](da_device *, const da_kernel *, Tensors, uint32_t, Tensors, uint32_t,
                                const void *, void **) -> da_error * {
    return make_error(DA_STATUS_UNIMPLEMENTED, "not these");
  };
}
FAULT(cpu, refuses_strides_that_it_claims) {
  stand_before("multiply", [](const Launch &launch) -> da_error * {
    return dense(launch.in()) ? launch.run() : make_error(DA_STATUS_UNIMPLEMENTED, "contiguous inputs only");
  });
}
FAULT(cpu, refuses_ranks_that_it_claims) {
  stand_before("multiply", [](const Launch &launch) -> da_error * {
    return launch.out().dl.ndim <= 5 ? launch.run()
                                     : make_error(DA_STATUS_INVALID_ARGUMENT, "rank 5 at most");
  });
}
FAULT(cpu, refuses_the_in_place_form_that_it_claims) {
  stand_before("negative", [](const Launch &launch) -> da_error * {
    const bool in_place = launch.in().dl.data == launch.out().dl.data;
    return in_place ? make_error(DA_STATUS_INVALID_ARGUMENT, "operands overlap") : launch.run();
  });
}
FAULT(cpu, denies_and_works) {
  kernel_of("add").supports = [](da_device *, const da_kernel *, Tensors inputs, uint32_t, Tensors, uint32_t,
                                 const void *, int32_t *out_supported) -> da_error * {
    *out_supported = dense(*inputs[0]);
    return nullptr;
  };
}
FAULT(cpu, claims_what_nobody_judges) {
  offer("qr", DA_DTYPE_BIT(DA_FLOAT32), 0, [](const Launch &) -> da_error * { return nullptr; });
}
FAULT(cpu, claims_an_unknown_op) { kernel_of("erf").op = "vendor_magic"; }
FAULT(cpu, lacks_a_mandatory_family) {
  std::vector<da_kernel> &list = kernels();
  list.erase(list.begin() + (&kernel_of("compact") - list.data()));
}
FAULT(cpu, claims_nothing) { kernels().clear(); }
FAULT(cpu, claims_a_dtype_that_the_device_lacks) {
  given.device.properties = [](da_device *device, da_device_properties *out) -> da_error * {
    da_error *error = good.device.properties(device, out);
    out->dtypes &= ~DA_DTYPE_BIT(DA_FLOAT64);
    return error;
  };
}
FAULT(cpu, claims_unknown_flags) { kernel_of("add").flags |= 1 << 20; }
FAULT(cpu, claims_no_dtype_at_all) { kernel_of("erf").dtypes[0] = 0; }
FAULT(cpu, claims_a_variable_that_the_op_lacks) { kernel_of("add").dtypes[2] = DA_DTYPE_BIT(DA_FLOAT32); }
FAULT(cpu, prepares_and_never_releases) { kernel_of("add").release = nullptr; }
FAULT(cpu, leaves_the_size_of_kernels_zero) {
  for (da_kernel &kernel : kernels()) kernel.struct_size = 0;
}
FAULT(cpu, leaves_launch_null) { kernel_of("tan").launch = nullptr; }
FAULT(cpu, copy_lacks_strides) {
  kernel_of("copy").flags &= ~static_cast<uint64_t>(DA_KERNEL_STRIDED_INPUTS | DA_KERNEL_STRIDED_OUTPUTS);
}
FAULT(cpu, list_changes_between_calls) {
  given.kernel.list = [](da_device *, da_kernel_list *out) -> da_error * {
    static std::vector<da_kernel> lists[2] = {kernels(), kernels()};
    static unsigned calls;
    out->first = lists[calls++ % 2].data();
    out->count = kernels().size();
    out->stride = sizeof(da_kernel);
    return nullptr;
  };
}
FAULT(cpu, list_has_no_stride) {
  given.kernel.list = [](da_device *, da_kernel_list *out) -> da_error * {
    out->first = kernels().data();
    out->count = kernels().size();
    out->stride = 0;
    return nullptr;
  };
}
FAULT(cpu, list_counts_too_many) {
  given.kernel.list = [](da_device *, da_kernel_list *out) -> da_error * {
    static std::vector<da_kernel> longer = kernels();
    longer.reserve(longer.size() + 1);
    std::memset(static_cast<void *>(longer.data() + longer.size()), 0, sizeof(da_kernel));
    out->first = longer.data();
    out->count = kernels().size() + 1;
    out->stride = sizeof(da_kernel);
    return nullptr;
  };
}
FAULT(cpu, second_kernel_is_wrong) {
  // Of two kernels for one op the one with the greater priority runs, and the other is claimed all the same.
  offer("square", DA_DTYPE_BIT(DA_FLOAT32), 0, [](const Launch &launch) -> da_error * {
    compute<float, float>(launch, [](float a, float) { return a * a + 1; });
    return nullptr;
  });
}

// ---- claims of the device

template <class Change>
void change_properties(Change) {
  given.device.properties = [](da_device *device, da_device_properties *out) -> da_error * {
    da_error *error = good.device.properties(device, out);
    if (error == nullptr) Change()(out);
    return error;
  };
}

#define PROPERTIES_FAULT(base, name, change)                     \
  struct change_for_##name {                                     \
    void operator()(da_device_properties *out) const { change; } \
  };                                                             \
  FAULT(base, name) { change_properties(change_for_##name()); }

PROPERTIES_FAULT(cpu, max_rank_is_zero, out->max_rank = 0)
PROPERTIES_FAULT(cpu, max_rank_is_beyond_the_greatest, out->max_rank = 64)
PROPERTIES_FAULT(cpu, alignment_is_no_power_of_two, out->allocation_alignment = 48)
PROPERTIES_FAULT(cpu, alignment_is_more_than_given, out->allocation_alignment = 65536)
PROPERTIES_FAULT(cpu, device_has_no_name, out->name = nullptr)
PROPERTIES_FAULT(cpu, device_has_unknown_flags, out->flags |= 1 << 12)
PROPERTIES_FAULT(cpu, device_has_unknown_dtypes, out->dtypes |= UINT64_C(1) << 40)
PROPERTIES_FAULT(cpu, device_has_no_dlpack_code, out->dl_device_type = 0)
PROPERTIES_FAULT(cpu, total_memory_is_made_up, out->total_memory = UINT64_C(1) << 40)
PROPERTIES_FAULT(cpu, properties_change, static uint32_t calls; out->compute_units = ++calls)
PROPERTIES_FAULT(cpu, properties_write_past_the_struct, std::memset(out + 1, 0, 8))
PROPERTIES_FAULT(cpu, properties_write_past_smaller_structs,
                 std::memset(reinterpret_cast<char *>(out) + out->struct_size, 0, 8))
PROPERTIES_FAULT(simulated, claims_host_visible_memory, out->flags |= DA_DEVICE_HOST_VISIBLE)
PROPERTIES_FAULT(simulated, claims_to_be_synchronous, out->flags |= DA_DEVICE_SYNCHRONOUS)

}  // namespace
}  // namespace faulty
