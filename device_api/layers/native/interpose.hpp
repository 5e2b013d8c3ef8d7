// What the generated interposers share.
#ifndef DEVICE_API_LAYERS_INTERPOSE_HPP
#define DEVICE_API_LAYERS_INTERPOSE_HPP

#include <algorithm>
#include <cstring>
#include <utility>

#include "instance.hpp"
#include "scratch.hpp"

namespace device_api::layers {

template <template <size_t> class Shims, class Table, size_t... N>
void fill_table(size_t number, const Table &below, Table *above, std::index_sequence<N...>) {
  using Fill = void (*)(const Table &, Table *);
  static constexpr Fill fills[] = {Shims<N>::fill...};
  fills[number](below, above);
}

// Fills a full-size copy of a struct that may be shorter or longer; what is missing stays zero.
template <class T>
void copy_full(const T *from, T *to) {
  *to = T{};
  std::memcpy(static_cast<void *>(to), from, std::min<uint64_t>(from->struct_size, sizeof(T)));
}

template <template <size_t> class Shims, class Table>
const void *interpose_table(Instance &self, const Table *table, Table *below, Table *above) {
  if (above->struct_size != 0) return above;
  copy_full(table, below);
  fill_table<Shims>(self.number, *below, above, std::make_index_sequence<kInstances>{});
  above->version = below->version;
  above->reserved = below->reserved;
  above->struct_size = sizeof(Table);
  return above;
}

}  // namespace device_api::layers

#endif
