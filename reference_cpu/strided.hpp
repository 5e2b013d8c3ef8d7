// Moving elements of 1 to 16 bytes between strided and contiguous memory, without knowing what they mean.
#ifndef REFERENCE_CPU_STRIDED_HPP
#define REFERENCE_CPU_STRIDED_HPP

#include <cstdint>

namespace reference_cpu {

// to[r][c] = from[r * row_stride + c * column_stride]; `to` is contiguous; strides in bytes, of any sign.
void gather(int64_t width, char *to, const char *from, int64_t rows, int64_t columns, int64_t row_stride,
            int64_t column_stride);

// to[r * row_stride + c * column_stride] = from[r][c]; `from` is contiguous.
void scatter(int64_t width, char *to, const char *from, int64_t rows, int64_t columns, int64_t row_stride,
             int64_t column_stride);

}  // namespace reference_cpu

#endif
