// The plan cache's table: keys of machine words to whatever the host stores, with a bound on the number.
//
// A key is the words that say op, device, layouts, scalar kinds and alias classes. Attributes belong to the
// key as well, but are objects of the host's language: the table keeps their hash and an opaque pointer, and
// the host compares. Layouts in the words are kept alive by the entry. Host lock throughout.
#ifndef DEVICE_API_CORE_PLAN_TABLE_HPP
#define DEVICE_API_CORE_PLAN_TABLE_HPP

#include <cstdint>
#include <vector>

#include "layout.hpp"

namespace device_api {

struct PlanEntry {
  uint64_t hash;
  std::vector<uint64_t> words;
  std::vector<LayoutRef> layouts;
  void *attributes;
  void *program;
  bool used;
};

class PlanTable {
 public:
  explicit PlanTable(size_t capacity);

  // The multiplications do not wait for each other; an odd factor for each position keeps positions apart.
  static uint64_t hash(const uint64_t *words, size_t count, uint64_t attributes_hash) {
    uint64_t sum = attributes_hash;
    uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    for (size_t i = 0; i < count; ++i) {
      sum += words[i] * factor;
      factor += UINT64_C(0xC2B2AE3D27D4EB4E);
    }
    sum ^= sum >> 32;
    sum *= UINT64_C(0xD6E8FEB86659FD93);
    return sum ^ (sum >> 32);
  }

  // The first entry from `*position` on with these words; `*position` becomes the place behind it. Start with
  // `first_position(hash)`.
  size_t first_position(uint64_t hash) const { return hash & (slots_.size() - 1); }
  PlanEntry *find(uint64_t hash, const uint64_t *words, size_t count, size_t *position) {
    for (;;) {
      PlanEntry *entry = slots_[*position];
      if (entry == nullptr) return nullptr;
      *position = (*position + 1) & (slots_.size() - 1);
      if (entry->hash != hash || entry->words.size() != count) continue;
      const uint64_t *own = entry->words.data();
      size_t i = 0;
      while (i < count && own[i] == words[i]) ++i;
      if (i < count) continue;
      entry->used = true;
      return entry;
    }
  }

  // Takes over an entry. Returns the one that had to go, if any: the caller lets go of its objects and of it.
  PlanEntry *insert(PlanEntry *entry);
  std::vector<PlanEntry *> clear();
  size_t size() const { return size_; }
  // Changes whenever entries move or go: a walk that ran foreign code in between starts again.
  uint64_t generation() const { return generation_; }

 private:
  PlanEntry *evict();
  PlanEntry *remove(size_t position);

  size_t capacity_;
  size_t size_ = 0;
  size_t hand_ = 0;  // of the clock that looks for entries not used lately
  uint64_t generation_ = 0;
  std::vector<PlanEntry *> slots_;
};

}  // namespace device_api

#endif
