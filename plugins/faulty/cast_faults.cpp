// Copies that convert wrongly. Each stands before the one op that converts, for one pair of dtypes.
#include <cmath>
#include <cstring>
#include <limits>

#include "faults.hpp"

namespace faulty {
namespace {

// Conversion from one dtype to another by a formula.
template <class In, class Out, class Function>
void convert(int32_t from, int32_t to, Function function) {
  stand_before("copy", [from, to, function](const Launch &launch) -> da_error * {
    if (launch.in().dtype != from || launch.out().dtype != to) return launch.run();
    compute<In, Out>(launch, [&](In value, In) { return function(value); });
    return nullptr;
  });
}

uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

FAULT(cpu, cast_to_integer_wraps) {
  convert<float, int32_t>(DA_FLOAT32, DA_INT32, [](float x) {
    return std::fabs(x) < 0x1p63f ? static_cast<int32_t>(static_cast<int64_t>(x)) : 0;
  });
}
FAULT(cpu, cast_to_integer_rounds) {
  convert<float, int32_t>(DA_FLOAT32, DA_INT32, [](float x) {
    return std::fabs(x) < 0x1p30f ? static_cast<int32_t>(std::nearbyint(x))
           : std::isnan(x)        ? 0
           : x > 0                ? std::numeric_limits<int32_t>::max()
                                  : std::numeric_limits<int32_t>::min();
  });
}
FAULT(cpu, cast_of_nan_to_integer_is_the_least) {
  stand_before("copy", [](const Launch &launch) -> da_error * {
    da_error *error = launch.run();
    if (error != nullptr || launch.in().dtype != DA_FLOAT32 || launch.out().dtype != DA_INT32) return error;
    const Elements<float> in(launch.in());
    const Elements<int32_t> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) {
      if (std::isnan(in[i])) out[i] = std::numeric_limits<int32_t>::min();
    }
    return nullptr;
  });
}
FAULT(cpu, cast_of_nan_to_bool_is_false) {
  convert<float, uint8_t>(DA_FLOAT32, DA_BOOL, [](float x) { return x > 0 || x < 0; });
}
FAULT(cpu, cast_to_bool_goes_through_integer) {
  convert<float, uint8_t>(DA_FLOAT32, DA_BOOL, [](float x) { return !(std::fabs(x) < 1); });
}
FAULT(cpu, cast_to_bool_looks_at_the_low_byte) {
  convert<int32_t, uint8_t>(DA_INT32, DA_BOOL, [](int32_t x) { return (x & 0xFF) != 0; });
}
FAULT(cpu, cast_to_narrow_integers_saturates) {
  convert<int32_t, int8_t>(DA_INT32, DA_INT8, [](int32_t x) { return x > 127 ? 127 : x < -128 ? -128 : x; });
}
FAULT(cpu, cast_to_bfloat16_cuts_off) {
  convert<float, uint16_t>(DA_FLOAT32, DA_BFLOAT16, [](float x) {
    return static_cast<uint16_t>(bits_of(x) >> 16 | (std::isnan(x) ? 0x40 : 0));
  });
}
FAULT(cpu, cast_to_bfloat16_takes_halves_up) {
  convert<float, uint16_t>(DA_FLOAT32, DA_BFLOAT16, [](float x) {
    return static_cast<uint16_t>(std::isnan(x) ? 0x7FC0 : (bits_of(x) + 0x8000u) >> 16);
  });
}
FAULT(cpu, cast_to_bfloat16_makes_nan_infinite) {
  stand_before("copy", [](const Launch &launch) -> da_error * {
    da_error *error = launch.run();
    if (error != nullptr || launch.in().dtype != DA_FLOAT32 || launch.out().dtype != DA_BFLOAT16)
      return error;
    const Elements<float> in(launch.in());
    const Elements<uint16_t> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) {
      if (std::isnan(in[i])) out[i] = 0x7F80;
    }
    return nullptr;
  });
}
FAULT(cpu, cast_to_float16_saturates) {
  stand_before("copy", [](const Launch &launch) -> da_error * {
    da_error *error = launch.run();
    if (error != nullptr || launch.in().dtype != DA_FLOAT32 || launch.out().dtype != DA_FLOAT16) return error;
    const Elements<uint16_t> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) {
      if ((out[i] & 0x7FFF) == 0x7C00) --out[i];
    }
    return nullptr;
  });
}
FAULT(cpu, cast_from_float16_loses_subnormals) {
  stand_before("copy", [](const Launch &launch) -> da_error * {
    da_error *error = launch.run();
    if (error != nullptr || launch.in().dtype != DA_FLOAT16 || launch.out().dtype != DA_FLOAT32) return error;
    const Elements<float> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) {
      if (std::fabs(out[i]) < 0x1p-14f) out[i] = std::copysign(0.0f, out[i]);
    }
    return nullptr;
  });
}
FAULT(cpu, cast_to_float16_rounds_twice) {
  stand_before("copy", [](const Launch &launch) -> da_error * {
    if (launch.in().dtype != DA_FLOAT64 || launch.out().dtype != DA_FLOAT16) return launch.run();
    std::vector<float> middle(static_cast<size_t>(count_of(launch.in())));
    const Elements<double> in(launch.in());
    for (int64_t i = 0; i < in.count(); ++i) middle[static_cast<size_t>(i)] = static_cast<float>(in[i]);
    Altered rounded(launch.in());
    rounded.make_dense();
    rounded.tensor.dl.data = middle.data();
    rounded.tensor.dl.byte_offset = 0;
    rounded.tensor.dl.dtype.bits = 32;
    rounded.tensor.dtype = DA_FLOAT32;
    return launch.run_on({&rounded.tensor});
  });
}
FAULT(cpu, cast_of_int64_goes_through_float32) {
  convert<int64_t, double>(DA_INT64, DA_FLOAT64, [](int64_t x) { return double{static_cast<float>(x)}; });
}
FAULT(cpu, cast_of_uint64_takes_it_as_signed) {
  convert<int64_t, double>(DA_UINT64, DA_FLOAT64, [](int64_t x) { return static_cast<double>(x); });
}
FAULT(cpu, cast_of_negative_numbers_to_unsigned_is_positive) {
  convert<float, uint8_t>(DA_FLOAT32, DA_UINT8, [](float x) {
    return std::isnan(x) ? 0 : static_cast<uint8_t>(std::fmin(std::fabs(x), 255.0f));
  });
}
FAULT(cpu, cast_of_complex_takes_the_modulus) {
  stand_before("copy", [](const Launch &launch) -> da_error * {
    if (launch.in().dtype != DA_COMPLEX64 || launch.out().dtype != DA_FLOAT32) return launch.run();
    const Elements<float> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) {
      const float *const in = reinterpret_cast<float *>(address_of(launch.in(), i));
      out[i] = std::hypot(in[0], in[1]);
    }
    return nullptr;
  });
}
FAULT(cpu, cast_to_float8_saturates) {
  stand_before("copy", [](const Launch &launch) -> da_error * {
    da_error *error = launch.run();
    if (error != nullptr || launch.in().dtype != DA_FLOAT32 || launch.out().dtype != DA_FLOAT8_E4M3FN)
      return error;
    const Elements<float> in(launch.in());
    const Elements<uint8_t> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) {
      if ((out[i] & 0x7F) == 0x7F && std::isfinite(in[i])) --out[i];
    }
    return nullptr;
  });
}
FAULT(cpu, cast_keeps_one_dtype_of_its_pair) {
  stand_before("copy", [](const Launch &launch) -> da_error * {
    if (launch.in().dtype != DA_INT16 || launch.out().dtype != DA_FLOAT16) return launch.run();
    compute<uint16_t, uint16_t>(launch, [](uint16_t bits, uint16_t) { return bits; });
    return nullptr;
  });
}

}  // namespace
}  // namespace faulty
