// Kernels that are wrong about integers and truth values: overflow, division, shifts, signs, and the bytes of
// bool.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>

#include "faults.hpp"

namespace faulty {
namespace {

template <class T>
T saturate(double value) {
  const double least = static_cast<double>(std::numeric_limits<T>::min());
  const double most = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<T>(std::clamp(value, least, most));
}

FAULT(cpu, add_saturates) {
  replace<int8_t, int8_t>("add", DA_INT8, [](int8_t a, int8_t b) { return saturate<int8_t>(double(a) + b); });
}
FAULT(cpu, subtract_stops_at_zero) {
  replace<uint8_t, uint8_t>("subtract", DA_UINT8, [](uint8_t a, uint8_t b) { return a > b ? a - b : 0; });
}
FAULT(cpu, multiply_goes_through_double) {
  replace<int64_t, int64_t>("multiply", DA_INT64, [](int64_t a, int64_t b) {
    const double product = static_cast<double>(a) * static_cast<double>(b);
    return std::fabs(product) < 0x1p62
               ? static_cast<int64_t>(product)
               : static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  });
}
FAULT(cpu, multiply_in_32_bits) {
  replace<int64_t, int64_t>("multiply", DA_INT64, [](int64_t a, int64_t b) {
    return int64_t{static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b))};
  });
}
FAULT(cpu, floor_divide_truncates) {
  replace<int32_t, int32_t>("floor_divide", DA_INT32, [](int32_t a, int32_t b) {
    return b == 0 ? 0 : static_cast<int32_t>(int64_t{a} / b);
  });
}
FAULT(cpu, remainder_has_the_sign_of_the_dividend) {
  replace<int32_t, int32_t>("remainder", DA_INT32, [](int32_t a, int32_t b) {
    return b == 0 ? 0 : static_cast<int32_t>(int64_t{a} % b);
  });
}
FAULT(cpu, division_by_zero_traps) {
  stand_before("floor_divide", [](const Launch &launch) {
    if (launch.dtype() == DA_INT32) {
      const Elements<int32_t> divisor(launch.in(1));
      for (int64_t i = 0; i < divisor.count(); ++i) {
        if (divisor[i] == 0) std::raise(SIGFPE);
      }
    }
    return launch.run();
  });
}
FAULT(cpu, least_integer_by_minus_one_traps) {
  stand_before("remainder", [](const Launch &launch) {
    if (launch.dtype() == DA_INT32) {
      const Elements<int32_t> a(launch.in(0)), b(launch.in(1));
      for (int64_t i = 0; i < a.count(); ++i) {
        if (a[i] == std::numeric_limits<int32_t>::min() && b[i] == -1) std::raise(SIGFPE);
      }
    }
    return launch.run();
  });
}
FAULT(cpu, shift_takes_the_amount_modulo_the_width) {
  replace<int32_t, int32_t>("bitwise_left_shift", DA_INT32, [](int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) << (static_cast<uint32_t>(b) % 32));
  });
}
FAULT(cpu, right_shift_brings_in_zeros) {
  replace<int32_t, int32_t>("bitwise_right_shift", DA_INT32, [](int32_t a, int32_t b) {
    return static_cast<uint32_t>(b) > 31 ? 0 : static_cast<int32_t>(static_cast<uint32_t>(a) >> b);
  });
}
FAULT(cpu, abs_of_the_least_integer_saturates) {
  replace<int32_t, int32_t>("abs", DA_INT32, [](int32_t a, int32_t) {
    return a == std::numeric_limits<int32_t>::min() ? std::numeric_limits<int32_t>::max() : (a < 0 ? -a : a);
  });
}
FAULT(cpu, compares_unsigned_as_signed) {
  replace<int32_t, uint8_t>("less", DA_UINT32, [](int32_t a, int32_t b) { return a < b; });
}
FAULT(cpu, compares_by_the_sign_of_a_difference) {
  replace<int32_t, uint8_t>("greater", DA_INT32, [](int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b)) > 0;
  });
}
FAULT(cpu, compares_int64_as_double) {
  replace<int64_t, uint8_t>("equal", DA_INT64, [](int64_t a, int64_t b) {
    return static_cast<double>(a) == static_cast<double>(b);
  });
}
FAULT(cpu, pow_goes_through_double) {
  replace<int64_t, int64_t>("pow", DA_INT64, [](int64_t a, int64_t b) {
    return static_cast<int64_t>(
        saturate<int64_t>(std::pow(static_cast<double>(a), static_cast<double>(b)) / 2) * 2);
  });
}
FAULT(cpu, sign_of_unsigned_numbers_by_the_top_bit) {
  replace<uint8_t, uint8_t>("sign", DA_UINT8, [](uint8_t a, uint8_t) { return a > 127 ? 255 : a > 0; });
}
FAULT(cpu, true_is_255) {
  spoil("logical_not", DA_BOOL, [](const Launch &launch) {
    const Elements<uint8_t> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) out[i] = out[i] != 0 ? 255 : 0;
  });
}
FAULT(cpu, exclusive_or_is_inclusive) {
  replace<uint8_t, uint8_t>("logical_xor", DA_BOOL, [](uint8_t a, uint8_t b) { return a | b; });
}
FAULT(cpu, invert_is_logical) {
  replace<int32_t, int32_t>("bitwise_invert", DA_INT32, [](int32_t a, int32_t) { return a == 0; });
}
FAULT(cpu, iota_counts_in_32_bits) {
  spoil("iota", DA_INT64, [](const Launch &launch) {
    const Elements<int64_t> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) out[i] = static_cast<int32_t>(out[i]);
  });
}
FAULT(cpu, iota_adds_up_its_steps) {
  stand_before("iota", [](const Launch &launch) -> da_error * {
    if (launch.dtype() != DA_FLOAT32) return launch.run();
    const auto *attributes = static_cast<const da_attributes_iota *>(launch.attributes);
    float value = static_cast<float>(attributes->start_float);
    const Elements<float> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i, value += static_cast<float>(attributes->step_float))
      out[i] = value;
    return nullptr;
  });
}

}  // namespace
}  // namespace faulty
