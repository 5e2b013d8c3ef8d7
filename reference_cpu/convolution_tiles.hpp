// The innermost loops of convolutions: tiles of results that stay in registers while terms are added up. For
// each kind of processor there is a set of tiles, whose greatest one fills the registers.
#ifndef REFERENCE_CPU_CONVOLUTION_TILES_HPP
#define REFERENCE_CPU_CONVOLUTION_TILES_HPP

#include <cstdint>
#include <type_traits>

namespace reference_cpu {

constexpr int kMostTileRows = 8, kMostTileVectors = 3;

// Where a term of a sum finds its factors; in elements.
struct Term {
  int64_t source, mask, weight;
};

// All bits of a number, or none.
template <class C>
using Mask = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;

// sums[r * pitch + p] = the sum over terms of weight[term.weight + r * row] * source[term.source + p], where
// a number of the source counts as 0 unless the bits masks[term.mask + p] are set.
template <class C>
using ResultTile = void (*)(C *sums, int64_t pitch, const C *weight, int64_t row, const C *source,
                            const Mask<C> *masks, const Term *terms, int64_t count);

// Lines of positions: `places` positions side by side in each, and where a line begins in the source.
struct Lines {
  const int64_t *starts;
  int64_t count, places;
};

// sums[r][o] += the sum over the positions p of all lines of source[start + offsets[r] + p] * upstream[p][o];
// `upstream` goes on from line to line, `pitch` elements from one position to the next. So is `sums`, whose
// rows are `pitch` apart too.
template <class C>
using WeightTile = void (*)(C *sums, const C *upstream, int64_t pitch, const C *source,
                            const int64_t *offsets, const Lines &lines);

constexpr int kLoneLines = 8, kLoneSizes = 3;

// result[r * pitch + p] = more + the sum over i and k of window[i * width + k] * source[(r + i) * line + p +
// k], for the places p of a vector and for kLoneLines lines r.
template <class C>
using LoneTile = void (*)(C *result, int64_t pitch, const C *source, int64_t line, const C *window, C more);

template <class C>
struct TileSet {
  int rows, vectors;                                      // of the greatest tile
  int lanes;                                              // numbers in a vector
  ResultTile<C> result[kMostTileRows][kMostTileVectors];  // by rows - 1 and vectors - 1
  WeightTile<C> weight[kMostTileRows][kMostTileVectors];
  LoneTile<C> lone[kLoneSizes];  // for windows of 3 x 3, 5 x 5 and 7 x 7
};

// The set for this processor; C is float or double.
template <class C>
const TileSet<C> &tile_set();

// The size of the next of the equal parts, at most `most` each, into which what is left can be divided.
inline int64_t next_part(int64_t left, int64_t most) {
  const int64_t parts = (left + most - 1) / most;
  return (left + parts - 1) / parts;
}

}  // namespace reference_cpu

#endif
