#include "plan_table.hpp"

#include <utility>

namespace device_api {

PlanTable::PlanTable(size_t capacity) : capacity_(capacity) {
  size_t slots = 16;
  while (slots < capacity * 2) slots *= 2;
  slots_.resize(slots);
}

PlanEntry *PlanTable::insert(PlanEntry *entry) {
  PlanEntry *gone = size_ >= capacity_ ? evict() : nullptr;
  size_t position = first_position(entry->hash);
  while (slots_[position] != nullptr) position = (position + 1) & (slots_.size() - 1);
  entry->used = true;
  slots_[position] = entry;
  ++size_;
  ++generation_;
  return gone;
}

PlanEntry *PlanTable::evict() {
  for (;; hand_ = (hand_ + 1) & (slots_.size() - 1)) {
    PlanEntry *entry = slots_[hand_];
    if (entry == nullptr) continue;
    if (!entry->used) return remove(hand_);
    entry->used = false;
  }
}

PlanEntry *PlanTable::remove(size_t position) {
  PlanEntry *gone = std::exchange(slots_[position], nullptr);
  --size_;
  ++generation_;
  // Entries behind the hole move up when their search would otherwise stop at it.
  const size_t mask = slots_.size() - 1;
  size_t hole = position;
  for (size_t next = (hole + 1) & mask; slots_[next] != nullptr; next = (next + 1) & mask) {
    const size_t home = first_position(slots_[next]->hash);
    if (((next - home) & mask) >= ((next - hole) & mask)) {
      slots_[hole] = std::exchange(slots_[next], nullptr);
      hole = next;
    }
  }
  return gone;
}

std::vector<PlanEntry *> PlanTable::clear() {
  std::vector<PlanEntry *> gone;
  for (PlanEntry *&slot : slots_) {
    if (slot != nullptr) gone.push_back(std::exchange(slot, nullptr));
  }
  size_ = 0;
  ++generation_;
  return gone;
}

}  // namespace device_api
