// Memory of the device is ordinary memory of the process, aligned to a cache line; all three kinds are the
// same. Every call is finished when it returns, whatever stream it names.
#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "device.hpp"
#include "error.hpp"
#include "pool.hpp"

namespace reference_cpu {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kLargePage = uint64_t{1} << 21;
constexpr uint64_t kLarge = 2 * kLargePage;       // bytes from which memory is asked for in large pages
constexpr int64_t kCopyPiece = int64_t{1} << 21;  // bytes that one thread copies at a time

void check_kind(int32_t kind) {
  if (kind < DA_MEMORY_DEVICE || kind > DA_MEMORY_MANAGED) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT, "memory kind " + std::to_string(kind) + " does not exist");
  }
}

// NULL when there is none. An array of many small pages has more of them than a processor keeps track of, and
// where they lie decides which of its parts drive each other out of the caches; large pages end both. The
// system may refuse them, and the last bytes that would not fill one have small pages.
void *take(uint64_t bytes) {
  const bool large = bytes >= kLarge;
  const uint64_t lines = std::max<uint64_t>(1, (bytes + kAlignment - 1) / kAlignment);
  void *memory = nullptr;
  if (posix_memalign(&memory, large ? kLargePage : kAlignment, lines * kAlignment) != 0) return nullptr;
#if defined(MADV_HUGEPAGE)
  if (large) madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
  return memory;
}

da_error *allocate(da_device *, int32_t kind, uint64_t bytes, void **out_handle) {
  return guarded("allocate", [&] {
    check_kind(kind);
    // More than the machine has is refused here: the system would promise it and end the process later.
    static const uint64_t total = total_memory();
    void *memory = bytes <= total ? take(bytes) : nullptr;
    if (memory == nullptr) {
      throw Failure(DA_STATUS_OUT_OF_MEMORY, "no memory for " + std::to_string(bytes) + " bytes; " +
                                                 std::to_string(free_memory()) + " of " +
                                                 std::to_string(total) + " bytes are free");
    }
    *out_handle = memory;
  });
}

da_error *release(da_device *, int32_t kind, void *handle) {
  return guarded("free", [&] {
    check_kind(kind);
    std::free(handle);
  });
}

da_error *copy(da_device *, da_stream *, const da_copy *copy) {
  return guarded("copy", [&] {
    if (copy->kind < DA_COPY_HOST_TO_DEVICE || copy->kind > DA_COPY_PEER) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT,
                    "copy kind " + std::to_string(copy->kind) + " does not exist");
    }
    if (copy->bytes == 0) return;
    char *to = static_cast<char *>(copy->destination) + copy->destination_offset;
    const char *from = static_cast<const char *>(copy->source) + copy->source_offset;
    if (to == from) return;
    parallel_for(static_cast<int64_t>(copy->bytes), kCopyPiece, [&](int64_t begin, int64_t end) {
      std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
    });
  });
}

da_error *set(da_device *, da_stream *, void *handle, uint64_t offset, uint8_t value, uint64_t bytes) {
  return guarded("set", [&] {
    if (bytes != 0) std::memset(static_cast<char *>(handle) + offset, value, bytes);
  });
}

da_error *info(da_device *, uint64_t *out_free, uint64_t *out_total) {
  return guarded("info", [&] {
    *out_free = free_memory();
    *out_total = total_memory();
  });
}

da_error *wrap(da_device *, void *address, uint64_t, void **out_handle) {
  *out_handle = address;
  return nullptr;
}

da_error *unwrap(da_device *, void *) { return nullptr; }

}  // namespace

const da_memory_interface memory_interface = {sizeof(da_memory_interface),
                                              nullptr,
                                              DA_MEMORY_INTERFACE_VERSION,
                                              0,
                                              allocate,
                                              release,
                                              copy,
                                              set,
                                              info,
                                              wrap,
                                              unwrap};

}  // namespace reference_cpu
