// A struct says its own size; the table written by attribute_pointers.py says where it points elsewhere.
#include "attributes.hpp"

#include <cstddef>
#include <cstring>

#include "device_api/ops.h"
#include "error.hpp"

namespace simulated {
namespace {

struct Pointer {
  const char *op;
  int64_t place;
  int64_t count_place;  // -1: text
};

const Pointer pointers[] = {
#include "attribute_pointers.inc"
    {nullptr, 0, 0},
};

}  // namespace

Attributes::Attributes(const std::string &op, const void *attributes) {
  if (attributes == nullptr) return;
  uint64_t size;
  std::memcpy(&size, attributes, sizeof(size));
  check_size("attribute struct", size, 2 * sizeof(uint64_t));
  if (size % sizeof(uint64_t) != 0 || size > 65536) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT, "the attributes' struct_size, " + std::to_string(size) +
                                                  ", is no size that an attribute struct can have");
  }
  words_.resize(size / sizeof(uint64_t));
  std::memcpy(words_.data(), attributes, size);
  for (const Pointer *pointer = pointers; pointer->op != nullptr; ++pointer) {
    if (op != pointer->op || static_cast<uint64_t>(pointer->place) >= size) continue;
    uint64_t &slot = words_[static_cast<size_t>(pointer->place) / sizeof(uint64_t)];
    if (slot == 0) continue;
    if (pointer->count_place < 0) {
      texts_.emplace_back(reinterpret_cast<const char *>(slot));
      slot = reinterpret_cast<uint64_t>(texts_.back().c_str());
    } else {
      const uint64_t count = words_[static_cast<size_t>(pointer->count_place) / sizeof(uint64_t)];
      const int64_t *list = reinterpret_cast<const int64_t *>(slot);
      lists_.emplace_back(list, list + count);
      slot = reinterpret_cast<uint64_t>(lists_.back().data());
    }
  }
}

}  // namespace simulated
