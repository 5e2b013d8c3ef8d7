// Kernels that are wrong about floating-point numbers: NaN, infinities, zeros, subnormals, rounding, range,
// and the digits that a careless formula loses.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "faults.hpp"

namespace faulty {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class Function>
void replace_float(const char *op, Function function) {
  replace<float, float>(op, DA_FLOAT32, function);
}

template <class Function>
void replace_comparison(const char *op, Function function) {
  replace<float, uint8_t>(op, DA_FLOAT32, function);
}

// ---- NaN and infinities

FAULT(cpu, maximum_loses_nan) {
  replace_float("maximum", [](float a, float b) { return a > b ? a : b; });
}
FAULT(cpu, minimum_sees_nan_on_one_side) {
  replace_float("minimum", [](float a, float b) { return std::isnan(a) || !(a >= b) ? a : b; });
}
FAULT(cpu, less_is_not_greater_or_equal) {
  replace_comparison("less", [](float a, float b) { return !(a >= b); });
}
FAULT(cpu, equal_compares_bits) {
  replace_comparison("equal", [](float a, float b) { return std::memcmp(&a, &b, 4) == 0; });
}
FAULT(cpu, not_equal_is_less_or_greater) {
  replace_comparison("not_equal", [](float a, float b) { return a < b || a > b; });
}
FAULT(cpu, sign_of_nan_is_zero) {
  replace_float("sign", [](float a, float) { return static_cast<float>((a > 0) - (a < 0)); });
}
FAULT(cpu, isnan_of_infinity_is_true) {
  replace_comparison("isnan",
                     [](float a, float) { return !(std::fabs(a) <= std::numeric_limits<float>::max()); });
}
FAULT(cpu, isfinite_of_nan_is_true) {
  replace_comparison("isfinite", [](float a, float) { return !std::isinf(a); });
}
FAULT(cpu, isinf_knows_one_sign) {
  replace_comparison("isinf", [](float a, float) { return a == kInfinity; });
}
FAULT(cpu, where_multiplies_by_its_mask) {
  stand_before("where", [](const Launch &launch) -> da_error * {
    if (launch.dtype() != DA_FLOAT32) return launch.run();
    const Elements<uint8_t> mask(launch.in(0));
    const Elements<float> yes(launch.in(1)), no(launch.in(2)), out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) out[i] = yes[i] * mask[i] + no[i] * (1.0f - mask[i]);
    return nullptr;
  });
}
FAULT(cpu, copysign_asks_for_negative_numbers) {
  replace_float("copysign", [](float a, float b) { return b < 0 ? -std::fabs(a) : std::fabs(a); });
}
FAULT(cpu, sqrt_by_reciprocal_root) {
  replace_float("sqrt", [](float a, float) { return a * (1 / std::sqrt(a)); });
}
FAULT(cpu, pow_by_exp_and_log) {
  replace_float("pow",
                [](float a, float b) { return static_cast<float>(std::exp(b * std::log(double{a}))); });
}
FAULT(cpu, hypot_overflows) {
  replace_float("hypot", [](float a, float b) { return std::sqrt(a * a + b * b); });
}
FAULT(cpu, logaddexp_overflows) {
  replace_float("logaddexp", [](float a, float b) { return std::log(std::exp(a) + std::exp(b)); });
}
FAULT(cpu, tanh_by_a_quotient) {
  replace_float("tanh", [](float a, float) {
    const float e = std::exp(2 * a);
    return (e - 1) / (e + 1);
  });
}
FAULT(cpu, nextafter_steps_by_epsilon) {
  replace_float("nextafter", [](float a, float b) {
    return a == b ? b : a + (b > a ? 1 : -1) * std::fabs(a) * std::numeric_limits<float>::epsilon();
  });
}

// ---- signs of zero

FAULT(cpu, negative_subtracts_from_zero) {
  replace_float("negative", [](float a, float) { return 0 - a; });
}
FAULT(cpu, abs_keeps_minus_zero) {
  replace_float("abs", [](float a, float) { return a < 0 ? -a : a; });
}
FAULT(cpu, round_loses_the_sign_of_zero) {
  replace_float("round", [](float a, float) { return std::nearbyint(a) + 0.0f; });
}
FAULT(cpu, signbit_compares_with_zero) {
  replace_comparison("signbit", [](float a, float) { return a < 0; });
}
FAULT(cpu, reciprocal_loses_the_sign_of_zero) {
  replace_float("reciprocal", [](float a, float) { return 1 / (a + 0.0f); });
}
FAULT(cpu, atan2_by_a_quotient) {
  replace_float("atan2", [](float a, float b) { return static_cast<float>(std::atan(double{a} / b)); });
}
FAULT(cpu, copies_plus_zero_for_minus_zero) {
  stand_before("copy", [](const Launch &launch) -> da_error * {
    if (launch.in().dtype != DA_FLOAT32 || launch.out().dtype != DA_FLOAT32) return launch.run();
    compute<float, float>(launch, [](float a, float) { return a + 0.0f; });
    return nullptr;
  });
}
FAULT(cpu, sinh_loses_small_numbers) {
  replace_float("sinh", [](float a, float) { return (std::exp(a) - std::exp(-a)) / 2; });
}

// ---- subnormal numbers

FAULT(cpu, copy_flushes_subnormals) {
  stand_before("copy", [](const Launch &launch) -> da_error * {
    if (launch.in().dtype != DA_FLOAT32 || launch.out().dtype != DA_FLOAT32) return launch.run();
    compute<float, float>(launch, [](float a, float) {
      return std::fabs(a) < std::numeric_limits<float>::min() ? std::copysign(0.0f, a) : a;
    });
    return nullptr;
  });
}
// Allowed, if poor: a device may flush what it computes. The suite warns.
FAULT(cpu, flushes_subnormal_results) {
  spoil("multiply", DA_FLOAT32, [](const Launch &launch) {
    const Elements<float> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) {
      if (std::fabs(out[i]) < std::numeric_limits<float>::min()) out[i] = std::copysign(0.0f, out[i]);
    }
  });
}
FAULT(cpu, isfinite_of_subnormals_is_false) {
  replace_comparison("isfinite", [](float a, float) { return a == 0 || std::isnormal(a); });
}

// ---- rounding and digits

FAULT(cpu, round_takes_halves_away_from_zero) {
  replace_float("round", [](float a, float) { return std::round(a); });
}
FAULT(cpu, floor_truncates) {
  replace_float("floor", [](float a, float) { return std::trunc(a); });
}
FAULT(cpu, divide_multiplies_by_the_reciprocal) {
  replace_float("divide", [](float a, float b) { return a * (1 / b); });
}
FAULT(cpu, reciprocal_of_12_bits) {
  spoil("reciprocal", DA_FLOAT32, [](const Launch &launch) {
    const Elements<float> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) {
      uint32_t bits;
      std::memcpy(&bits, &out[i], 4);
      if (std::isfinite(out[i])) bits &= 0xFFFFF000u;
      std::memcpy(&out[i], &bits, 4);
    }
  });
}
FAULT(cpu, exp_of_six_digits) {
  spoil("exp", DA_FLOAT32, [](const Launch &launch) {
    const Elements<float> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) out[i] *= 1.000002f;
  });
}
FAULT(cpu, log1p_adds_one) {
  replace_float("log1p", [](float a, float) { return std::log(1 + a); });
}
FAULT(cpu, expm1_subtracts_one) {
  replace_float("expm1", [](float a, float) { return std::exp(a) - 1; });
}
FAULT(cpu, erfc_subtracts_from_one) {
  replace_float("erfc", [](float a, float) { return 1 - std::erf(a); });
}
FAULT(cpu, sin_of_reduced_arguments_in_float) {
  replace_float("sin", [](float a, float) {
    const float turn = 6.2831855f;
    return static_cast<float>(std::sin(double{a - turn * std::nearbyint(a / turn)}));
  });
}
FAULT(cpu, float64_computed_in_float32) {
  replace<double, double>("sin", DA_FLOAT64,
                          [](double a, double) { return std::sin(static_cast<float>(a)); });
}
FAULT(cpu, remainder_keeps_the_sign_of_the_dividend) {
  replace_float("remainder", [](float a, float b) { return std::fmod(a, b); });
}
FAULT(cpu, floor_divide_rounds_the_quotient) {
  replace_float("floor_divide", [](float a, float b) { return std::nearbyint(a / b); });
}
FAULT(cpu, float16_result_cut_off) {
  spoil("multiply", DA_FLOAT16, [](const Launch &launch) {
    const Elements<uint16_t> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) {
      if ((out[i] & 0x7C00) != 0x7C00 && (out[i] & 0x3FF) > 1) out[i] &= 0xFFFE;
    }
  });
}
FAULT(cpu, one_wrong_float16_code) {
  spoil("exp", DA_FLOAT16, [](const Launch &launch) {
    const Elements<uint16_t> in(launch.in()), out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) {
      if (in[i] == 0x4123) out[i] ^= 2;
    }
  });
}
FAULT(cpu, one_wrong_bfloat16_code) {
  spoil("tanh", DA_BFLOAT16, [](const Launch &launch) {
    const Elements<uint16_t> in(launch.in()), out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) {
      if (in[i] == 0xBE77) out[i] ^= 2;
    }
  });
}
FAULT(cpu, complex_product_without_the_imaginary_part) {
  spoil("multiply", DA_COMPLEX64, [](const Launch &launch) {
    for (int64_t i = 0; i < count_of(launch.out()); ++i) {
      float *const out = reinterpret_cast<float *>(address_of(launch.out(), i));
      out[1] = 0;
    }
  });
}

template <class Function>
void spoil_complex(const char *op, Function function) {
  spoil(op, DA_COMPLEX64, [function](const Launch &launch) {
    const Elements<std::complex<float>> in(launch.in()), out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) out[i] = function(in[i], out[i]);
  });
}

FAULT(cpu, complex_exp_makes_nan_of_a_zero) {
  spoil_complex("exp", [](std::complex<float> z, std::complex<float> made) {
    return std::isnan(z.real()) ? std::complex<float>{z.real(), z.real()} : made;
  });
}
FAULT(cpu, complex_sqrt_multiplies_infinities) {
  spoil_complex("sqrt", [](std::complex<float> z, std::complex<float> made) {
    if (!std::isinf(z.imag())) return made;
    return std::complex<float>{z.imag() - z.imag(), z.imag()};
  });
}
FAULT(cpu, complex_log_has_no_side_of_its_cut_at_zero) {
  spoil_complex("log", [](std::complex<float> z, std::complex<float> made) {
    return z == std::complex<float>{} ? std::complex<float>{made.real(), 0} : made;
  });
}
FAULT(cpu, complex_sinh_loses_the_sign_of_zero) {
  spoil_complex("sinh", [](std::complex<float>, std::complex<float> made) {
    return std::complex<float>{made.real(), made.imag() + 0};
  });
}
FAULT(cpu, complex_sign_divides_infinities) {
  spoil_complex("sign", [](std::complex<float> z, std::complex<float> made) {
    return std::isinf(std::abs(z)) ? z / std::abs(z) : made;
  });
}
FAULT(cpu, conj_does_nothing) {
  stand_before("conj", [](const Launch &launch) -> da_error * {
    if (launch.dtype() != DA_COMPLEX64) return launch.run();
    for (int64_t i = 0; i < count_of(launch.out()); ++i) {
      std::memmove(address_of(launch.out(), i), address_of(launch.in(), i), 8);
    }
    return nullptr;
  });
}

}  // namespace
}  // namespace faulty
