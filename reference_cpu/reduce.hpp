// The driver of reductions over the last axis. A reducer says what is done with contiguous elements; the
// driver walks rows, gathers strided ones, shares work among threads and fixes the order of every
// combination, so that results do not depend on the number of threads.
#ifndef REFERENCE_CPU_REDUCE_HPP
#define REFERENCE_CPU_REDUCE_HPP

#include "loops.hpp"
#include "plan.hpp"

namespace reference_cpu {

constexpr int64_t kValueBytes = 32;    // room for one partial result
constexpr int64_t kColumnTile = 2048;  // columns that one call of `columns` reduces

struct Reducer {
  void (*start)(char *value);
  // value = value o x[0] o x[1] ...; `first` is the index of x[0] in the row.
  void (*chunk)(char *value, const char *x, int64_t n, int64_t first);
  void (*merge)(char *value, const char *later);
  void (*finish)(char *out, const char *value);
  // Reduces `rows` rows of `columns` contiguous elements down the columns into outputs that are `out_stride`
  // bytes apart; NULL where there is no such loop.
  void (*columns)(char *out, int64_t out_stride, const char *x, int64_t rows, int64_t row_stride,
                  int64_t columns) = nullptr;
  Loop widen = nullptr;  // applied to elements before `chunk` sees them
};

std::unique_ptr<Plan> reduce_plan(const Request &request, const Reducer &reducer);

}  // namespace reference_cpu

#endif
