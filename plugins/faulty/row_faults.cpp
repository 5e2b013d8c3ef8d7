// Kernels that are wrong along an axis: reductions, scans, products of matrices, sorting, gathering,
// scattering.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "faults.hpp"

namespace faulty {
namespace {

// A reduction or scan of float32 computed anew, row by row: function(row of the input, length, row of the
// output).
template <class T, class Out, class Function>
void replace_rows(const char *op, int32_t dtype, Function function) {
  stand_before(op, [dtype, function](const Launch &launch) -> da_error * {
    if (launch.dtype() != dtype || row_length(launch.in()) == 0) return launch.run();
    const Elements<T> in(launch.in());
    const Elements<Out> out(launch.out());
    const int64_t length = row_length(launch.in()), results = out.count() / row_count(launch.in());
    std::vector<T> row(static_cast<size_t>(length));
    std::vector<Out> result(static_cast<size_t>(results));
    for (int64_t number = 0; number < row_count(launch.in()); ++number) {
      for (int64_t i = 0; i < length; ++i) row[static_cast<size_t>(i)] = in[number * length + i];
      function(row, result);
      for (int64_t i = 0; i < results; ++i) out[number * results + i] = result[static_cast<size_t>(i)];
    }
    return nullptr;
  });
}

using Floats = std::vector<float>;
using Halves = std::vector<uint16_t>;

// ---- reductions

FAULT(cpu, sum_in_one_accumulator) {
  replace_rows<float, float>("reduce_sum", DA_FLOAT32, [](const Floats &row, Floats &out) {
    volatile float sum = 0;
    for (float value : row) sum = sum + value;
    out[0] = sum;
  });
}
FAULT(cpu, sum_of_bfloat16_in_bfloat16) {
  replace_rows<uint16_t, uint16_t>("reduce_sum", DA_BFLOAT16, [](const Halves &row, Halves &out) {
    uint32_t sum = 0;
    for (uint16_t value : row) {
      const uint32_t wide = uint32_t{value} << 16;
      float a, b;
      std::memcpy(&a, &sum, 4);
      std::memcpy(&b, &wide, 4);
      a += b;
      std::memcpy(&sum, &a, 4);
      sum = std::isnan(a) ? 0x7FC00000u : (sum + 0x7FFFu + (sum >> 16 & 1)) & 0xFFFF0000u;
    }
    out[0] = static_cast<uint16_t>(sum >> 16);
  });
}
FAULT(cpu, sum_of_int64_in_32_bits) {
  replace_rows<int64_t, int64_t>("reduce_sum", DA_INT64, [](const std::vector<int64_t> &row, auto &out) {
    uint32_t sum = 0;
    for (int64_t value : row) sum += static_cast<uint32_t>(value);
    out[0] = static_cast<int32_t>(sum);
  });
}
FAULT(cpu, sum_of_int8_saturates) {
  replace_rows<int8_t, int8_t>("reduce_sum", DA_INT8, [](const std::vector<int8_t> &row, auto &out) {
    out[0] = static_cast<int8_t>(std::clamp(std::accumulate(row.begin(), row.end(), 0), -128, 127));
  });
}
FAULT(cpu, sum_along_the_first_axis) {
  stand_before("reduce_sum", [](const Launch &launch) -> da_error * {
    const da_dl_tensor &in = launch.in().dl;
    if (in.ndim != 2 || launch.dtype() != DA_FLOAT32) return launch.run();
    const Elements<float> x(launch.in()), out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) {
      out[i] = 0;
      for (int64_t j = i % in.shape[1]; j < x.count(); j += in.shape[1]) out[i] += x[j];
    }
    return nullptr;
  });
}
FAULT(cpu, sum_of_nothing_is_not_written) {
  stand_before("reduce_sum", [](const Launch &launch) -> da_error * {
    return count_of(launch.in()) == 0 ? nullptr : launch.run();
  });
}
FAULT(cpu, product_of_nothing_is_zero) {
  stand_before("reduce_prod", [](const Launch &launch) {
    da_error *error = launch.run();
    if (count_of(launch.in()) == 0) {
      for (int64_t i = 0; i < count_of(launch.out()); ++i) {
        std::memset(address_of(launch.out(), i), 0, static_cast<size_t>(item_bytes(launch.out())));
      }
    }
    return error;
  });
}
FAULT(cpu, all_of_nothing_is_false) {
  spoil("reduce_all", DA_BOOL, [](const Launch &launch) {
    const Elements<uint8_t> out(launch.out());
    for (int64_t i = 0; count_of(launch.in()) == 0 && i < out.count(); ++i) out[i] = 0;
  });
}
FAULT(cpu, any_looks_at_eight_elements) {
  replace_rows<uint8_t, uint8_t>("reduce_any", DA_BOOL, [](const std::vector<uint8_t> &row, auto &out) {
    out[0] = std::any_of(row.begin(), row.begin() + std::min<int64_t>(8, static_cast<int64_t>(row.size())),
                         [](uint8_t value) { return value != 0; });
  });
}
FAULT(cpu, max_starts_at_zero) {
  replace_rows<float, float>("reduce_max", DA_FLOAT32, [](const Floats &row, Floats &out) {
    out[0] = 0;
    for (float value : row) out[0] = value > out[0] || std::isnan(value) ? value : out[0];
  });
}
FAULT(cpu, min_starts_at_the_greatest_number) {
  replace_rows<float, float>("reduce_min", DA_FLOAT32, [](const Floats &row, Floats &out) {
    out[0] = std::numeric_limits<float>::max();
    for (float value : row) out[0] = std::isnan(out[0]) ? out[0] : !(value >= out[0]) ? value : out[0];
  });
}
FAULT(cpu, max_skips_nan) {
  replace_rows<float, float>("reduce_max", DA_FLOAT32, [](const Floats &row, Floats &out) {
    out[0] = row[0];
    for (float value : row) out[0] = std::fmax(out[0], value);
  });
}
FAULT(cpu, min_lets_go_of_nan) {
  replace_rows<float, float>("reduce_min", DA_FLOAT32, [](const Floats &row, Floats &out) {
    out[0] = row[0];
    for (float value : row)
      out[0] = value < out[0] || std::isnan(value) || std::isnan(out[0]) ? value : out[0];
  });
}
FAULT(cpu, max_of_unsigned_as_signed) {
  replace_rows<int8_t, int8_t>("reduce_max", DA_UINT8, [](const std::vector<int8_t> &row, auto &out) {
    out[0] = *std::max_element(row.begin(), row.end());
  });
}
FAULT(cpu, argmax_takes_the_last_of_equals) {
  replace_rows<int32_t, int64_t>("reduce_argmax", DA_INT32, [](const std::vector<int32_t> &row, auto &out) {
    out[0] = static_cast<int64_t>(row.rend() - std::max_element(row.rbegin(), row.rend())) - 1;
  });
}
FAULT(cpu, argmax_skips_nan) {
  replace_rows<float, int64_t>("reduce_argmax", DA_FLOAT32, [](const Floats &row, auto &out) {
    size_t best = 0;
    for (size_t i = 0; i < row.size(); ++i) best = row[i] > row[best] || std::isnan(row[best]) ? i : best;
    out[0] = static_cast<int64_t>(best);
  });
}
FAULT(cpu, argmin_counts_in_16_bits) {
  spoil("reduce_argmin", DA_FLOAT32, [](const Launch &launch) {
    const Elements<int64_t> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) out[i] = static_cast<uint16_t>(out[i]);
  });
}
FAULT(cpu, argmin_of_the_magnitude) {
  replace_rows<float, int64_t>("reduce_argmin", DA_FLOAT32, [](const Floats &row, auto &out) {
    size_t best = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      if (!std::isnan(row[best]) && !(std::fabs(row[i]) >= std::fabs(row[best]))) best = i;
    }
    out[0] = static_cast<int64_t>(best);
  });
}

// ---- scans

FAULT(cpu, scan_leaves_out_the_last_element) {
  replace_rows<float, float>("scan_sum", DA_FLOAT32, [](const Floats &row, Floats &out) {
    double sum = 0;
    for (size_t i = 0; i < row.size(); ++i) out[i] = static_cast<float>(sum += row[i]);
    if (row.size() > 1) out.back() = out[row.size() - 2];
  });
}
FAULT(cpu, scan_is_exclusive) {
  replace_rows<int32_t, int32_t>("scan_sum", DA_INT32, [](const std::vector<int32_t> &row, auto &out) {
    uint32_t sum = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      out[i] = static_cast<int32_t>(sum);
      sum += static_cast<uint32_t>(row[i]);
    }
  });
}
FAULT(cpu, scan_goes_on_into_the_next_row) {
  spoil("scan_sum", DA_INT64, [](const Launch &launch) {
    const Elements<int64_t> out(launch.out());
    const int64_t length = row_length(launch.out());
    for (int64_t i = length; length > 0 && i < out.count(); ++i) {
      out[i] = static_cast<int64_t>(static_cast<uint64_t>(out[i]) +
                                    static_cast<uint64_t>(out[i / length * length - 1]));
    }
  });
}
FAULT(cpu, scan_of_blocks_loses_the_carry) {
  replace_rows<float, float>("scan_prod", DA_FLOAT32, [](const Floats &row, Floats &out) {
    double product = 1;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i % 32 == 0) product = 1;
      out[i] = static_cast<float>(product *= row[i]);
    }
  });
}

// ---- products of matrices

FAULT(cpu, empty_inner_product_is_not_written) {
  stand_before("batch_matmul", [](const Launch &launch) -> da_error * {
    return row_length(launch.in()) == 0 ? nullptr : launch.run();
  });
}

// A plain product of the float32 matrices of a launch; `term` says what one step adds.
template <class Term>
void multiply(const Launch &launch, Term term) {
  const Elements<float> a(launch.in(0)), b(launch.in(1)), c(launch.out());
  const int64_t k = row_length(launch.in(0)), n = row_length(launch.out());
  const int64_t m = launch.out().dl.shape[launch.out().dl.ndim - 2];
  for (int64_t i = 0; i < c.count(); ++i) {
    const int64_t batch = i / (m * n), row = i / n % m, column = i % n;
    double sum = 0;
    for (int64_t p = 0; p < k; ++p) {
      sum = term(sum, a[(batch * m + row) * k + p], b[(batch * k + p) * n + column], p);
    }
    c[i] = static_cast<float>(sum);
  }
}
template <class Term>
void replace_product(Term term) {
  stand_before("batch_matmul", [term](const Launch &launch) -> da_error * {
    if (launch.dtype() != DA_FLOAT32) return launch.run();
    multiply(launch, term);
    return nullptr;
  });
}

FAULT(cpu, matmul_skips_zeros) {
  replace_product([](double sum, float a, float b, int64_t) { return a == 0 ? sum : sum + double{a} * b; });
}
FAULT(cpu, matmul_rounds_its_inputs_to_bfloat16) {
  const auto cut = [](float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    bits &= 0xFFFF0000u;
    std::memcpy(&value, &bits, 4);
    return value;
  };
  replace_product([cut](double sum, float a, float b, int64_t) { return sum + double{cut(a)} * cut(b); });
}
FAULT(cpu, matmul_leaves_out_the_rest_of_blocks) {
  replace_product(
      [](double sum, float a, float b, int64_t p) { return p < 512 ? sum + double{a} * b : sum; });
}
FAULT(cpu, matmul_adds_to_its_output) {
  stand_before("batch_matmul", [](const Launch &launch) -> da_error * {
    if (launch.dtype() != DA_FLOAT32) return launch.run();
    const Elements<float> out(launch.out());
    std::vector<float> before;
    for (int64_t i = 0; i < out.count(); ++i) before.push_back(out[i]);
    da_error *error = launch.run();
    for (int64_t i = 0; i < out.count(); ++i) out[i] += before[static_cast<size_t>(i)];
    return error;
  });
}
FAULT(cpu, matmul_of_float16_accumulates_in_float16) {
  // The good kernel in steps of one term, each rounded to float16.
  stand_before("batch_matmul", [](const Launch &launch) -> da_error * {
    const da_kernel &add = kernel_of("add");
    const int64_t terms = row_length(launch.in());
    if (launch.dtype() != DA_FLOAT16 || terms < 2) return launch.run();
    Altered partial(launch.out());
    partial.make_dense();
    std::vector<uint16_t> storage(static_cast<size_t>(count_of(launch.out())));
    partial.tensor.dl.data = storage.data();
    partial.tensor.dl.byte_offset = 0;
    for (int64_t term = 0; term < terms; ++term) {
      Altered a(launch.in(0)), b(launch.in(1));
      a.tensor.dl.byte_offset += static_cast<uint64_t>(term * a.strides[a.rank() - 1] * 2);
      b.tensor.dl.byte_offset += static_cast<uint64_t>(term * b.strides[b.rank() - 2] * 2);
      a.shape[a.rank() - 1] = b.shape[b.rank() - 2] = 1;
      const da_tensor *const into = term == 0 ? launch.outputs[0] : &partial.tensor;
      da_error *error = launch.run_on({&a.tensor, &b.tensor}, {into});
      if (error != nullptr || term == 0) {
        if (error != nullptr) return error;
        continue;
      }
      const da_tensor *const sums[] = {launch.outputs[0], &partial.tensor};
      error = add.launch(nullptr, launch.context, sums, 2, launch.outputs, 1, nullptr);
      if (error != nullptr) return error;
    }
    return nullptr;
  });
}
FAULT(cpu, integer_matmul_goes_through_float) {
  stand_before("batch_matmul", [](const Launch &launch) -> da_error * {
    da_error *error = launch.run();
    if (error != nullptr || launch.dtype() != DA_INT32) return error;
    const Elements<int32_t> out(launch.out());
    for (int64_t i = 0; i < out.count(); ++i) {
      out[i] = static_cast<int32_t>(std::clamp(double{static_cast<float>(out[i])}, -0x1p31, 0x1p31 - 1));
    }
    return nullptr;
  });
}
FAULT(cpu, matmul_leaves_out_the_last_column) {
  stand_before("batch_matmul", [](const Launch &launch) -> da_error * {
    const int64_t n = row_length(launch.out());
    if (n < 16 || n % 16 != 1) return launch.run();
    Altered b(launch.in(1)), c(launch.out());
    --b.shape[b.rank() - 1];
    --c.shape[c.rank() - 1];
    return launch.run_on({&launch.in(0), &b.tensor}, {&c.tensor});
  });
}

// ---- rows, masks and order

FAULT(cpu, gather_clamps_indices) {
  stand_before("gather_rows", [](const Launch &launch) -> da_error * {
    da_error *error = launch.run();
    if (error != nullptr) good.errors.destroy(error);
    return nullptr;
  });
}

// The good kernel on indices that were changed.
template <class Change>
void change_indices(const char *op, Change change) {
  stand_before(op, [change](const Launch &launch) {
    const Elements<int64_t> given_index(launch.in(1));
    std::vector<int64_t> index;
    for (int64_t i = 0; i < given_index.count(); ++i) index.push_back(change(given_index[i], launch));
    Altered changed(launch.in(1));
    changed.make_dense();
    changed.tensor.dl.data = index.data();
    changed.tensor.dl.byte_offset = 0;
    std::vector<const da_tensor *> inputs(launch.inputs, launch.inputs + launch.input_count);
    inputs[1] = &changed.tensor;
    return launch.run_on(inputs);
  });
}

FAULT(cpu, gather_takes_indices_of_32_bits) {
  change_indices("gather_rows",
                 [](int64_t index, const Launch &) { return int64_t{static_cast<int32_t>(index)}; });
}
FAULT(cpu, gather_counts_negative_indices_from_the_end) {
  change_indices("gather_rows", [](int64_t index, const Launch &launch) {
    return index < 0 && index >= -launch.in().dl.shape[0] ? index + launch.in().dl.shape[0] : index;
  });
}
FAULT(cpu, scatter_wraps_indices) {
  change_indices("scatter_rows", [](int64_t index, const Launch &launch) {
    const int64_t rows = launch.in().dl.shape[0];
    return rows == 0 ? index : (index % rows + rows) % rows;
  });
}
FAULT(cpu, scatter_loses_duplicates) {
  // Every row is read before any is written, as threads without atomics do.
  stand_before("scatter_rows", [](const Launch &launch) -> da_error * {
    const auto *attributes = static_cast<const da_attributes_scatter_rows *>(launch.attributes);
    if (attributes->reduction != DA_SCATTER_ROWS_REDUCTION_ADD || launch.dtype() != DA_INT32)
      return launch.run();
    const Elements<int32_t> x(launch.in(0)), updates(launch.in(2)), out(launch.out());
    const Elements<int64_t> index(launch.in(1));
    const int64_t width = index.count() == 0 ? 0 : updates.count() / index.count();
    std::vector<int32_t> before;
    for (int64_t i = 0; i < x.count(); ++i) before.push_back(x[i]);
    for (int64_t i = 0; i < x.count(); ++i) out[i] = before[static_cast<size_t>(i)];
    for (int64_t i = 0; i < updates.count(); ++i) {
      const int64_t place = index[i / width] * width + i % width;
      if (place < 0 || place >= out.count())
        return make_error(DA_STATUS_OUT_OF_RANGE, "an index is out of range");
      out[place] = static_cast<int32_t>(static_cast<uint32_t>(before[static_cast<size_t>(place)]) +
                                        static_cast<uint32_t>(updates[i]));
    }
    return nullptr;
  });
}
FAULT(cpu, scatter_keeps_the_first_of_duplicates) {
  stand_before("scatter_rows", [](const Launch &launch) {
    const auto *attributes = static_cast<const da_attributes_scatter_rows *>(launch.attributes);
    if (attributes->reduction != DA_SCATTER_ROWS_REDUCTION_REPLACE) return launch.run();
    Altered index(launch.in(1)), updates(launch.in(2));
    for (Altered *reversed : {&index, &updates}) {
      const int64_t last = std::max<int64_t>(reversed->shape[0] - 1, 0) * reversed->strides[0];
      reversed->tensor.dl.byte_offset += static_cast<uint64_t>(last * item_bytes(reversed->tensor));
      reversed->strides[0] = -reversed->strides[0];
    }
    return launch.run_on({&launch.in(0), &index.tensor, &updates.tensor});
  });
}
FAULT(cpu, scatter_forgets_other_rows) {
  stand_before("scatter_rows", [](const Launch &launch) {
    return launch.run_on({&launch.out(), &launch.in(1), &launch.in(2)});
  });
}
FAULT(cpu, sort_is_not_stable) {
  spoil("argsort_last", DA_INT32, [](const Launch &launch) {
    const Elements<int32_t> x(launch.in());
    const Elements<int64_t> order(launch.out());
    const int64_t length = row_length(launch.in());
    for (int64_t i = 0; i + 1 < order.count(); ++i) {
      const int64_t row = i / length * length;
      if (i + 1 < row + length && x[row + order[i]] == x[row + order[i + 1]])
        std::swap(order[i], order[i + 1]);
    }
  });
}

// The order of each row by a comparison of two of its elements.
template <class Less>
void replace_sort(Less less) {
  stand_before("argsort_last", [less](const Launch &launch) -> da_error * {
    if (launch.dtype() != DA_FLOAT32) return launch.run();
    const bool down = static_cast<const da_attributes_argsort_last *>(launch.attributes)->descending != 0;
    const Elements<float> x(launch.in());
    const Elements<int64_t> out(launch.out());
    const int64_t length = row_length(launch.in());
    std::vector<int64_t> order(static_cast<size_t>(length));
    for (int64_t row = 0; row < x.count(); row += length) {
      std::iota(order.begin(), order.end(), int64_t{0});
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return less(x[row + (down ? b : a)], x[row + (down ? a : b)]);
      });
      for (int64_t i = 0; i < length; ++i) out[row + i] = order[static_cast<size_t>(i)];
    }
    return nullptr;
  });
}

FAULT(cpu, sort_puts_nan_first) {
  replace_sort([](float a, float b) { return std::isnan(a) ? !std::isnan(b) : a < b; });
}
FAULT(cpu, sort_tells_zeros_apart) {
  replace_sort([](float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
  });
}
FAULT(cpu, sort_ignores_descending) {
  stand_before("argsort_last", [](const Launch &launch) {
    da_attributes_argsort_last attributes =
        *static_cast<const da_attributes_argsort_last *>(launch.attributes);
    attributes.descending = 0;
    Launch other = launch;
    other.attributes = &attributes;
    return other.run();
  });
}
FAULT(cpu, compact_leaves_out_the_last_element) {
  spoil("compact", DA_BOOL, [](const Launch &launch) {
    const Elements<uint8_t> mask(launch.in());
    const Elements<int64_t> index(launch.out(0)), count(launch.out(1));
    if (mask.count() > 32 && mask[mask.count() - 1] != 0) index[--count[0]] = 0;
  });
}
FAULT(cpu, compact_forgets_the_count_of_nothing) {
  stand_before("compact", [](const Launch &launch) -> da_error * {
    return count_of(launch.in()) == 0 ? nullptr : launch.run();
  });
}

}  // namespace
}  // namespace faulty
