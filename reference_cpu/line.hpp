// Lines of contiguous floating elements that kernels go over more than once.
#ifndef REFERENCE_CPU_LINE_HPP
#define REFERENCE_CPU_LINE_HPP

#include <vector>

#include "halves.hpp"
#include "plan.hpp"

namespace reference_cpu {

// Up to `most` elements at a time as numbers of type C: where they are, or widened into a buffer.
template <class C>
class Line {
 public:
  Line(int32_t dtype, int64_t most) : dtype_(dtype) {
    if (is_half(dtype)) numbers_.resize(static_cast<size_t>(most));
  }
  const C *read(const char *from, int64_t n) {
    if (!is_half(dtype_)) return reinterpret_cast<const C *>(from);
    char *const pair[] = {reinterpret_cast<char *>(numbers_.data()), const_cast<char *>(from)};
    widen_loop(dtype_)(pair, n);
    return numbers_.data();
  }
  // Where numbers for `to` may be written; `wrote` brings them there.
  C *place(char *to) { return is_half(dtype_) ? numbers_.data() : reinterpret_cast<C *>(to); }
  void wrote(char *to, int64_t n) {
    if (!is_half(dtype_)) return;
    char *const pair[] = {to, reinterpret_cast<char *>(numbers_.data())};
    narrow_loop(dtype_)(pair, n);
  }

 private:
  const int32_t dtype_;
  std::vector<C> numbers_;
};

}  // namespace reference_cpu

#endif
