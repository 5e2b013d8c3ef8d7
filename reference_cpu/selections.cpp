// where: picks whole elements, so only their width matters.
#include "families.hpp"
#include "types.hpp"

namespace reference_cpu {
namespace {

struct Wide {
  uint64_t low, high;
};

template <class T>
REFERENCE_CPU_CLONES void select(char *const *operands, int64_t n) {
  Cell<T> *out = cells<T>(operands[0]);
  const Cell<uint8_t> *condition = cells<uint8_t>(operands[1]);
  const Cell<T> *a = cells<T>(operands[2]);
  const Cell<T> *b = cells<T>(operands[3]);
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const T x = a[i].value, y = b[i].value;
    out[i].value = condition[i].value != 0 ? x : y;
  }
}

const LoopEntry entries[] = {
    {"where", DA_BOOL, 1, select<uint8_t>},      {"where", DA_INT8, 1, select<uint8_t>},
    {"where", DA_UINT8, 1, select<uint8_t>},     {"where", DA_INT16, 1, select<uint16_t>},
    {"where", DA_UINT16, 1, select<uint16_t>},   {"where", DA_FLOAT16, 1, select<uint16_t>},
    {"where", DA_BFLOAT16, 1, select<uint16_t>}, {"where", DA_INT32, 1, select<uint32_t>},
    {"where", DA_UINT32, 1, select<uint32_t>},   {"where", DA_FLOAT32, 1, select<uint32_t>},
    {"where", DA_INT64, 1, select<uint64_t>},    {"where", DA_UINT64, 1, select<uint64_t>},
    {"where", DA_FLOAT64, 1, select<uint64_t>},  {"where", DA_COMPLEX64, 1, select<uint64_t>},
    {"where", DA_COMPLEX128, 2, select<Wide>},
};

}  // namespace

const LoopTable selections = {entries, std::size(entries)};

}  // namespace reference_cpu
