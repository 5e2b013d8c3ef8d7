// Reserves addresses in large steps and hands them out upwards only. Handle and alias of a range lie at the
// same place of two reservations.
#include "address_space.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "device_api/base.h"
#include "error.hpp"

namespace simulated {
namespace {

constexpr uint64_t kReservation = uint64_t{8} << 30;

uint64_t page_size() {
  static const uint64_t size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

uint64_t round_up(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

char *map_untouchable(uint64_t bytes, void *at) {
  const int fixed = at == nullptr ? 0 : MAP_FIXED;
  void *found = mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  if (found == MAP_FAILED) {
    throw Failure(DA_STATUS_OUT_OF_MEMORY,
                  "the system gives no " + std::to_string(bytes) + " bytes of address space");
  }
  return static_cast<char *>(found);
}

}  // namespace

// Returns the alias pages; a guard page follows them, and the one of the range before precedes them.
char *AddressSpace::reserve(uint64_t page_bytes, char **out_handle_pages) {
  const uint64_t needed = page_bytes + page_size();
  std::lock_guard<std::mutex> lock(lock_);
  if (needed > left_) {
    const uint64_t size = std::max(kReservation, needed + page_size());
    char *handles = map_untouchable(size, nullptr);
    aliases_ = map_untouchable(size, nullptr) + page_size();
    handles_ = handles + page_size();
    left_ = size - page_size();
  }
  char *alias = aliases_;
  *out_handle_pages = handles_;
  aliases_ += needed;
  handles_ += needed;
  left_ -= needed;
  return alias;
}

Range AddressSpace::take(uint64_t bytes, bool host_visible) {
  Range range;
  range.page_bytes = round_up(bytes, page_size());
  char *handle_pages = nullptr;
  range.pages = reserve(range.page_bytes, &handle_pages);
  const uint64_t start = range.page_bytes - round_up(bytes, kAlignment);
  range.alias = range.pages + start;
  range.handle = host_visible ? range.alias : handle_pages + start;
  if (bytes != 0 && mprotect(range.pages, range.page_bytes, PROT_READ | PROT_WRITE) != 0) {
    throw Failure(DA_STATUS_OUT_OF_MEMORY,
                  "the system refuses " + std::to_string(bytes) + " bytes of memory");
  }
  return range;
}

Range AddressSpace::take_handle(uint64_t bytes) {
  Range range;
  const uint64_t pages = round_up(bytes, page_size());
  char *handle_pages = nullptr;
  reserve(pages, &handle_pages);
  range.handle = handle_pages + pages - round_up(bytes, kAlignment);
  return range;
}

void AddressSpace::give_back(const Range &range) {
  if (range.page_bytes != 0) map_untouchable(range.page_bytes, range.pages);
}

}  // namespace simulated
