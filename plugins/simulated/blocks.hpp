// The register of memory: which handles exist, whose they are, how large, and where their bytes are. Refuses
// handles that are foreign, freed or too small for what is asked of them, in words. Knows nothing of streams.
#ifndef SIMULATED_BLOCKS_HPP
#define SIMULATED_BLOCKS_HPP

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "address_space.hpp"

namespace simulated {

struct Device;

struct Block {
  Block(AddressSpace &space, const Device *device, int32_t kind, uint64_t bytes, const Range &range,
        char *memory, bool wrapped)
      : space(space),
        device(device),
        kind(kind),
        bytes(bytes),
        range(range),
        memory(memory),
        wrapped(wrapped) {}
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;
  ~Block() { space.give_back(range); }

  AddressSpace &space;
  const Device *const device;
  const int32_t kind;
  const uint64_t bytes;
  const Range range;
  char *const memory;  // where the bytes are
  const bool wrapped;
  std::atomic<bool> gone{false};  // freed; the bytes stay as long as some work still holds the block
};
using SharedBlock = std::shared_ptr<Block>;

// A piece of a block, ready for a copy or a kernel.
struct Piece {
  SharedBlock block;  // NULL for ordinary memory of the host
  char *address = nullptr;
};

// Throws Failure when something wrote between a block and its guard pages.
void check_edges(const Block &block);

class Blocks {
 public:
  // Poisoned memory. Throws Failure when the system has none.
  SharedBlock allocate(const Device *device, int32_t kind, uint64_t bytes);
  SharedBlock wrap(const Device *device, void *address, uint64_t bytes);
  // Forgets a block of `allocate` (or of `wrap`). Throws Failure when it is none, was freed before, or is
  // another device's.
  SharedBlock forget(const Device *device, int32_t kind, void *handle, bool wrapped);
  // Bytes [offset, offset + bytes) of a handle that kernels of `device` can reach. `what` names the use.
  Piece device_piece(const Device *device, const void *handle, uint64_t offset, uint64_t bytes,
                     const std::string &what);
  // The same of ordinary or pinned memory of the host; refuses handles of device memory.
  Piece host_piece(const void *address, uint64_t offset, uint64_t bytes, const std::string &what);
  // Live blocks of a device, for the report at shutdown.
  uint64_t count(const Device *device);

 private:
  SharedBlock find(const Device *device, const void *handle, const std::string &what);

  AddressSpace space_;
  std::mutex lock_;
  std::map<uintptr_t, SharedBlock> live_;       // by handle
  std::map<uintptr_t, std::string> forgotten_;  // by handle: what it was
};

}  // namespace simulated

#endif
