// See convolution_tiles.hpp. Each tile is compiled for each level of x86-64, with the vectors and as many
// accumulators as that level has registers for; the level is chosen at run time.
#include "convolution_tiles.hpp"

#include <utility>

#include "lanes.hpp"
#include "loops.hpp"

namespace reference_cpu {
namespace {

// A vector at any address, which may hold numbers of other types.
template <class V>
struct __attribute__((packed, may_alias)) Anywhere {
  V value;
};

// A vector at a time, as a value: a copy of memory would keep whole arrays of vectors out of the registers.
template <class V, class C>
inline __attribute__((always_inline)) void load(V &vector, const C *from) {
  vector = reinterpret_cast<const Anywhere<V> *>(from)->value;
}

template <class V, class C>
inline __attribute__((always_inline)) void store(C *to, const V &vector) {
  reinterpret_cast<Anywhere<V> *>(to)->value = vector;
}

template <class C, int kLanes, int kRows, int kVectors>
inline __attribute__((always_inline)) void result_tile(C *sums, int64_t pitch, const C *weight, int64_t row,
                                                       const C *source, const Mask<C> *masks,
                                                       const Term *terms, int64_t count) {
  Vector<C, kLanes> total[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) total[r][v] = Vector<C, kLanes>{};
  }
  for (int64_t k = 0; k < count; ++k) {
    const C *from = source + terms[k].source;
    const Mask<C> *mask = masks + terms[k].mask;
    const C *factors = weight + terms[k].weight;
    Vector<C, kLanes> part[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      Vector<Mask<C>, kLanes> bits, kept;
      load(bits, from + v * kLanes);
      load(kept, mask + v * kLanes);
      part[v] = reinterpret_cast<Vector<C, kLanes>>(bits & kept);
    }
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) total[r][v] += part[v] * factors[r * row];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) store(sums + r * pitch + v * kLanes, total[r][v]);
  }
}

template <class C, int kLanes, int kRows, int kVectors>
inline __attribute__((always_inline)) void weight_tile(C *sums, const C *upstream, int64_t pitch,
                                                       const C *source, const int64_t *offsets,
                                                       const Lines &lines) {
  Vector<C, kLanes> total[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) load(total[r][v], sums + r * pitch + v * kLanes);
  }
  const C *from[kRows];
  for (int64_t line = 0; line < lines.count; ++line) {
    for (int r = 0; r < kRows; ++r) from[r] = source + lines.starts[line] + offsets[r];
    for (int64_t p = 0; p < lines.places; ++p, upstream += pitch) {
      Vector<C, kLanes> part[kVectors];
      for (int v = 0; v < kVectors; ++v) load(part[v], upstream + v * kLanes);
      for (int r = 0; r < kRows; ++r) {
        for (int v = 0; v < kVectors; ++v) total[r][v] += part[v] * from[r][p];
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) store(sums + r * pitch + v * kLanes, total[r][v]);
  }
}

// Keeps a vector in a register where the compiler would rather load it again for each use.
template <class V>
inline __attribute__((always_inline)) void keep([[maybe_unused]] V &vector) {
#if defined(__x86_64__)
  __asm__("" : "+x"(vector));
#endif
}

// Line i of the source adds to the lines i - kSize + 1 to i of the result.
template <class C, int kLanes, int kSize, int kLine>
inline __attribute__((always_inline)) void add_line(Vector<C, kLanes> *total, const C *source,
                                                    const C *window) {
  constexpr int kFirst = kLine < kSize ? 0 : kLine - kSize + 1;
  constexpr int kLast = kLine < kLoneLines ? kLine : kLoneLines - 1;
  if constexpr (kLine < kLoneLines) total[kLine] = Vector<C, kLanes>{};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 8
#endif
  for (int k = 0; k < kSize; ++k) {
    Vector<C, kLanes> part;
    load(part, source + k);
    keep(part);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 8
#endif
    for (int r = kFirst; r <= kLast; ++r) total[r] += part * window[(kLine - r) * kSize + k];
  }
}

template <class C, int kLanes, int kSize, int... kLine>
inline __attribute__((always_inline)) void lone_tile(C *result, int64_t pitch, const C *source, int64_t line,
                                                     const C *window, C more,
                                                     std::integer_sequence<int, kLine...>) {
  Vector<C, kLanes> total[kLoneLines];
  (add_line<C, kLanes, kSize, kLine>(total, source + kLine * line, window), ...);
  for (int r = 0; r < kLoneLines; ++r) store(result + r * pitch, total[r] + more);
}

// One struct of static functions for each level: the attribute belongs to a function, not to a template
// argument.
#define LEVEL(Name, attribute, kBytes, kRowsOfTile, kVectorsOfTile)                                      \
  template <class C>                                                                                     \
  struct Name {                                                                                          \
    static constexpr int lanes = kBytes / sizeof(C), rows = kRowsOfTile, vectors = kVectorsOfTile;       \
    template <int kRows, int kVectors>                                                                   \
    attribute static void result(C *sums, int64_t pitch, const C *weight, int64_t row, const C *source,  \
                                 const Mask<C> *masks, const Term *terms, int64_t count) {               \
      result_tile<C, lanes, kRows, kVectors>(sums, pitch, weight, row, source, masks, terms, count);     \
    }                                                                                                    \
    template <int kRows, int kVectors>                                                                   \
    attribute static void weight(C *sums, const C *upstream, int64_t pitch, const C *source,             \
                                 const int64_t *offsets, const Lines &lines) {                           \
      weight_tile<C, lanes, kRows, kVectors>(sums, upstream, pitch, source, offsets, lines);             \
    }                                                                                                    \
    template <int kSize>                                                                                 \
    attribute static void lone(C *result, int64_t pitch, const C *source, int64_t line, const C *window, \
                               C more) {                                                                 \
      lone_tile<C, lanes, kSize>(result, pitch, source, line, window, more,                              \
                                 std::make_integer_sequence<int, kLoneLines + kSize - 1>());             \
    }                                                                                                    \
  };

LEVEL(Portable, , 16, 4, 2)
#if defined(REFERENCE_CPU_HAS_CLONES)
LEVEL(Level3, __attribute__((target("arch=x86-64-v3"))), 32, 6, 2)
LEVEL(Level4, __attribute__((target("arch=x86-64-v4"))), 64, 8, 3)
#endif
#undef LEVEL

template <class C, template <class> class Level, size_t kRow, size_t... kVector>
void fill_row(TileSet<C> &set, std::index_sequence<kVector...>) {
  ((set.result[kRow][kVector] = Level<C>::template result<kRow + 1, kVector + 1>), ...);
  ((set.weight[kRow][kVector] = Level<C>::template weight<kRow + 1, kVector + 1>), ...);
}

template <class C, template <class> class Level, size_t... kRow>
TileSet<C> filled(std::index_sequence<kRow...>) {
  TileSet<C> set{Level<C>::rows, Level<C>::vectors, Level<C>::lanes, {}, {}, {}};
  (fill_row<C, Level, kRow>(set, std::make_index_sequence<Level<C>::vectors>()), ...);
  return set;
}

template <class C, template <class> class Level>
TileSet<C> filled() {
  TileSet<C> set = filled<C, Level>(std::make_index_sequence<Level<C>::rows>());
  set.lone[0] = Level<C>::template lone<3>;
  set.lone[1] = Level<C>::template lone<5>;
  set.lone[2] = Level<C>::template lone<7>;
  return set;
}

template <class C>
TileSet<C> chosen() {
#if defined(REFERENCE_CPU_HAS_CLONES)
  if (__builtin_cpu_supports("x86-64-v4")) return filled<C, Level4>();
  if (__builtin_cpu_supports("x86-64-v3")) return filled<C, Level3>();
#endif
  return filled<C, Portable>();
}

}  // namespace

template <class C>
const TileSet<C> &tile_set() {
  static const TileSet<C> set = chosen<C>();
  return set;
}

template const TileSet<float> &tile_set<float>();
template const TileSet<double> &tile_set<double>();

}  // namespace reference_cpu
