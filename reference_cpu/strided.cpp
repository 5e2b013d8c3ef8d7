// Gathers and scatters of small tiles. Loads and stores go through packed cells: offsets may be unaligned.
#include "strided.hpp"

#include <cstdlib>
#include <cstring>

#include "loops.hpp"

namespace reference_cpu {
namespace {

struct Wide {
  uint64_t low, high;
};

// `Move(contiguous, strided)` copies one element in the direction that is wanted.
template <class T, class Packed, class Scattered, class Move>
void walk(Packed *packed, Scattered *scattered, int64_t rows, int64_t columns, int64_t row_stride,
          int64_t column_stride, Move move) {
  if (rows > 1 && std::llabs(row_stride) < std::llabs(column_stride)) {
    // The strided side is near in memory along its rows: walk those in the inner loop.
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = 0; r < rows; ++r) {
        move(packed + (r * columns + c) * static_cast<int64_t>(sizeof(T)),
             scattered + r * row_stride + c * column_stride);
      }
    }
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      move(packed + (r * columns + c) * static_cast<int64_t>(sizeof(T)),
           scattered + r * row_stride + c * column_stride);
    }
  }
}

template <class T>
REFERENCE_CPU_CLONES void fill_cells(Cell<T> *to, T value, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i].set(value);
}

template <class T>
void gather_cells(char *to, const char *from, int64_t rows, int64_t columns, int64_t row_stride,
                  int64_t column_stride) {
  if (column_stride == 0) {
    Cell<T> *out = cells<T>(to);
    for (int64_t r = 0; r < rows; ++r) {
      T value;
      std::memcpy(&value, from + r * row_stride, sizeof(T));
      fill_cells(out + r * columns, value, columns);
    }
    return;
  }
  walk<T>(to, from, rows, columns, row_stride, column_stride,
          [](char *packed, const char *scattered) { std::memcpy(packed, scattered, sizeof(T)); });
}

template <class T>
void scatter_cells(char *to, const char *from, int64_t rows, int64_t columns, int64_t row_stride,
                   int64_t column_stride) {
  walk<T>(from, to, rows, columns, row_stride, column_stride,
          [](const char *packed, char *scattered) { std::memcpy(scattered, packed, sizeof(T)); });
}

}  // namespace

void gather(int64_t width, char *to, const char *from, int64_t rows, int64_t columns, int64_t row_stride,
            int64_t column_stride) {
  if (column_stride == width) {
    const size_t bytes = static_cast<size_t>(columns * width);
    for (int64_t r = 0; r < rows; ++r) std::memcpy(to + r * columns * width, from + r * row_stride, bytes);
    return;
  }
  switch (width) {
    case 1:
      return gather_cells<uint8_t>(to, from, rows, columns, row_stride, column_stride);
    case 2:
      return gather_cells<uint16_t>(to, from, rows, columns, row_stride, column_stride);
    case 4:
      return gather_cells<uint32_t>(to, from, rows, columns, row_stride, column_stride);
    case 8:
      return gather_cells<uint64_t>(to, from, rows, columns, row_stride, column_stride);
    default:
      return gather_cells<Wide>(to, from, rows, columns, row_stride, column_stride);
  }
}

void scatter(int64_t width, char *to, const char *from, int64_t rows, int64_t columns, int64_t row_stride,
             int64_t column_stride) {
  if (column_stride == width) {
    const size_t bytes = static_cast<size_t>(columns * width);
    for (int64_t r = 0; r < rows; ++r) std::memcpy(to + r * row_stride, from + r * columns * width, bytes);
    return;
  }
  switch (width) {
    case 1:
      return scatter_cells<uint8_t>(to, from, rows, columns, row_stride, column_stride);
    case 2:
      return scatter_cells<uint16_t>(to, from, rows, columns, row_stride, column_stride);
    case 4:
      return scatter_cells<uint32_t>(to, from, rows, columns, row_stride, column_stride);
    case 8:
      return scatter_cells<uint64_t>(to, from, rows, columns, row_stride, column_stride);
    default:
      return scatter_cells<Wide>(to, from, rows, columns, row_stride, column_stride);
  }
}

}  // namespace reference_cpu
