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

// The digits of keys: `count` of them, `width` bits each, from bit `first` on. Bits that all keys have alike
// are in none.
template <class Key>
struct Digits {
  int first = 0, width = 0, count = 0;

  Digits(const Item<Key> *items, int64_t n) {
    constexpr int kWidest = 11;  // more values than that spread over too many cache lines
    Key some = 0, all = static_cast<Key>(~Key{0});
    for (int64_t i = 0; i < n; ++i) {
      some |= items[i].key;
      all &= items[i].key;
    }
    Key differ = some ^ all;
    if (differ == 0) return;
    for (; (differ & 1) == 0; differ >>= 1) ++first;
    int bits = 0;
    for (; differ != 0; differ >>= 1) ++bits;
    count = (bits + kWidest - 1) / kWidest;
    width = (bits + count - 1) / count;
  }

  size_t values() const { return size_t{1} << width; }
  size_t of(Key key, int digit) const {
    return static_cast<size_t>(key >> (first + digit * width)) & (values() - 1);
  }
};

// Least significant digit first.
template <class Key>
void radix_sort(Item<Key> *items, Item<Key> *spare, int64_t n) {
  const Digits<Key> digits(items, n);
  std::vector<int64_t> counts(static_cast<size_t>(digits.count) * digits.values());
  for (int64_t i = 0; i < n; ++i) {
    int64_t *count = counts.data();
    for (int digit = 0; digit < digits.count; ++digit, count += digits.values()) {
      ++count[digits.of(items[i].key, digit)];
    }
  }
  Item<Key> *from = items, *to = spare;
  int64_t *count = counts.data();
  for (int digit = 0; digit < digits.count; ++digit, count += digits.values()) {
    int64_t place = 0;
    for (size_t value = 0; value < digits.values(); ++value) {
      const int64_t size = count[value];
      count[value] = place;
      place += size;
    }
    for (int64_t i = 0; i < n; ++i) to[count[digits.of(from[i].key, digit)]++] = from[i];
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
