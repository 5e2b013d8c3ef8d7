// Addresses for memory of the device. A range is mapped twice in a manner of speaking: the *handle* is an
// address in pages that nobody can touch, and the *alias* is where the bytes really are, known to this plugin
// only. Both end against a page that nobody can touch, and no address is given out a second time. Knows
// nothing of devices.
#ifndef SIMULATED_ADDRESS_SPACE_HPP
#define SIMULATED_ADDRESS_SPACE_HPP

#include <cstdint>
#include <mutex>

namespace simulated {

constexpr uint64_t kAlignment = 64;  // of handles and aliases: more is never promised, and rarely given

struct Range {
  char *handle = nullptr;  // of the first byte, for the host; equal to `alias` where the host may read
  char *alias = nullptr;   // of the first byte, for kernels
  char *pages = nullptr;   // first page of the alias
  uint64_t page_bytes = 0;
};

class AddressSpace {
 public:
  // `host_visible`: the handle is the alias itself. Throws Failure (OUT_OF_MEMORY) when the system refuses.
  Range take(uint64_t bytes, bool host_visible);
  // Only a handle, for memory whose bytes are elsewhere; `alias` stays NULL.
  Range take_handle(uint64_t bytes);
  // Gives the bytes back to the system. The addresses stay reserved, and untouchable, for ever.
  void give_back(const Range &range);

 private:
  char *reserve(uint64_t page_bytes, char **out_handle_pages);

  std::mutex lock_;
  char *handles_ = nullptr;  // the part of the current reservations that is still free
  char *aliases_ = nullptr;
  uint64_t left_ = 0;
};

}  // namespace simulated

#endif
