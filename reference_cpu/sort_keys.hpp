// Sorting by keys: elements become unsigned keys whose order is the wanted one, so that two sorts serve all
// types and both directions, radix sort for long rows and insertion sort for short ones. Both are stable.
#ifndef REFERENCE_CPU_SORT_KEYS_HPP
#define REFERENCE_CPU_SORT_KEYS_HPP

#include <algorithm>
#include <limits>
#include <vector>

#include "types.hpp"

namespace reference_cpu {

template <class Key>
struct Item {
  Key key;
  int64_t index;
};

template <class Key>
void insertion_sort(Item<Key> *items, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const Item<Key> item = items[i];
    int64_t place = i;
    for (; place > 0 && items[place - 1].key > item.key; --place) items[place] = items[place - 1];
    items[place] = item;
  }
}

// Least significant byte first; a byte that is the same in all keys costs no pass.
template <class Key>
void radix_sort(Item<Key> *items, Item<Key> *spare, int64_t n) {
  constexpr int kBytes = sizeof(Key);
  std::vector<int64_t> counts(kBytes * 256);
  for (int64_t i = 0; i < n; ++i) {
    for (int byte = 0; byte < kBytes; ++byte) ++counts[byte * 256 + ((items[i].key >> (8 * byte)) & 255)];
  }
  Item<Key> *from = items, *to = spare;
  for (int byte = 0; byte < kBytes; ++byte) {
    int64_t *count = &counts[byte * 256];
    if (count[(from[0].key >> (8 * byte)) & 255] == n) continue;
    int64_t place = 0;
    for (int value = 0; value < 256; ++value) {
      const int64_t size = count[value];
      count[value] = place;
      place += size;
    }
    for (int64_t i = 0; i < n; ++i) to[count[(from[i].key >> (8 * byte)) & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) std::copy(from, from + n, items);
}

// A key that grows as the element does. Zeros of both signs are one key; a NaN is the greatest, in both
// directions.
template <class Key, class T>
Key key_of(T value, bool descending) {
  Key key;
  if constexpr (std::is_integral_v<T>) {
    key = static_cast<Key>(value);
    if constexpr (std::is_signed_v<T>) key ^= Key{1} << (sizeof(Key) * 8 - 1);
  } else {
    const auto number = widen(value);
    if (number != number) return std::numeric_limits<Key>::max();
    const Key bits = number == 0 ? Key{0} : bit_cast<Key>(number);
    constexpr Key sign = Key{1} << (sizeof(Key) * 8 - 1);
    key = (bits & sign) != 0 ? ~bits : bits | sign;
  }
  return descending ? static_cast<Key>(~key) : key;
}

// Sorts n items; `spare` has room for as many.
template <class Key>
void sort_items(Item<Key> *items, Item<Key> *spare, int64_t n) {
  constexpr int64_t kShort = 48;  // items up to which insertion is faster
  if (n > kShort) {
    radix_sort(items, spare, n);
  } else {
    insertion_sort(items, n);
  }
}

}  // namespace reference_cpu

#endif
