// What a tensor is without a language: a layout over a storage, from a byte offset on.
#ifndef DEVICE_API_CORE_TENSOR_HPP
#define DEVICE_API_CORE_TENSOR_HPP

#include <cstdint>

#include "layout.hpp"
#include "storage.hpp"

namespace device_api {

struct TensorState {
  LayoutRef layout;
  StorageRef storage;
  uint64_t start = 0;  // bytes from the handle to the first element

  // Takes over one reference of the storage. Host lock.
  void adopt(const LayoutRef &with, Storage *memory, uint64_t from) {
    layout = with;
    storage = StorageRef(memory);
    start = from;
  }
  // Shares the storage. Host lock.
  void share(const LayoutRef &with, Storage *memory, uint64_t from) {
    layout = with;
    ++memory->references;
    storage = StorageRef(memory);
    start = from;
  }
};

enum class Alias : uint64_t { none = 0, same = 1, overlapping = 2 };

// How an output lies to an input. Byte ranges decide, so interleaved views count as overlapping. Storages of
// our own never overlap; memory of others may lie anywhere, under several storages at once.
inline Alias alias_class(const TensorState &output, const TensorState &input) {
  const Storage *one = output.storage.get(), *other = input.storage.get();
  if (one != other && one->block != nullptr && other->block != nullptr) return Alias::none;
  const int64_t a = static_cast<int64_t>(reinterpret_cast<uintptr_t>(one->handle) + output.start);
  const int64_t b = static_cast<int64_t>(reinterpret_cast<uintptr_t>(other->handle) + input.start);
  if (output.layout.get() == input.layout.get() && a == b) return Alias::same;
  const bool apart = a + output.layout->highest <= b + input.layout->lowest ||
                     b + input.layout->highest <= a + output.layout->lowest;
  return apart ? Alias::none : Alias::overlapping;
}

}  // namespace device_api

#endif
