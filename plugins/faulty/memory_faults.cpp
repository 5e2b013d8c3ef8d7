// Devices and memory that are not what they should be: allocation, copies, sizes, alignment, and who owns
// what.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "faults.hpp"

namespace faulty {
namespace {

#define ALLOCATE [](da_device *device, int32_t kind, uint64_t bytes, void **out)->da_error *
#define FREE [](da_device *device, int32_t kind, void *handle)->da_error *
#define COPY [](da_device *device, da_stream *stream, const da_copy *order)->da_error *
#define SET                                                                                              \
  [](da_device *device, da_stream *stream, void *handle, uint64_t offset, uint8_t value, uint64_t bytes) \
      ->da_error *

// ---- allocation

FAULT(cpu, free_keeps_the_memory) {
  given.memory.free = FREE { return (void)device, (void)kind, (void)handle, nullptr; };
}
FAULT(cpu, free_of_null_crashes) {
  given.memory.free = FREE {
    *static_cast<volatile char *>(handle) = 0;
    return good.memory.free(device, kind, handle);
  };
}
FAULT(cpu, refuses_to_allocate_nothing) {
  given.memory.allocate = ALLOCATE {
    if (bytes == 0) return make_error(DA_STATUS_INVALID_ARGUMENT, "zero bytes");
    return good.memory.allocate(device, kind, bytes, out);
  };
}
FAULT(cpu, gives_misaligned_memory) {
  given.memory.allocate = ALLOCATE {
    da_error *error = good.memory.allocate(device, kind, bytes + 64, out);
    if (error == nullptr) *out = static_cast<char *>(*out) + 8;
    return error;
  };
  given.memory.free = FREE {
    return good.memory.free(device, kind, handle == nullptr ? nullptr : static_cast<char *>(handle) - 8);
  };
}
FAULT(cpu, gives_a_block_twice) {
  given.memory.allocate = ALLOCATE {
    static void *last;
    static uint64_t last_bytes;
    static unsigned calls;
    if (++calls % 50 == 0 && bytes <= last_bytes) return *out = last, nullptr;
    da_error *error = good.memory.allocate(device, kind, bytes, out);
    last = *out;
    last_bytes = bytes;
    return error;
  };
  given.memory.free = FREE { return (void)device, (void)kind, (void)handle, nullptr; };
}
FAULT(cpu, frees_a_block_too_early) {
  // Freed memory is taken by the next allocation while its neighbour still uses it: blocks overlap.
  given.memory.allocate = ALLOCATE {
    static char *arena;
    static uint64_t used;
    if (bytes > 5000) return good.memory.allocate(device, kind, bytes, out);
    if (arena == nullptr) arena = static_cast<char *>(std::calloc(1 << 16, 1));
    used = (used + 4032) % (1 << 15);
    return *out = arena + used, nullptr;
  };
  given.memory.free = FREE { return (void)device, (void)kind, (void)handle, nullptr; };
}
FAULT(cpu, exits_when_memory_is_out) {
  given.memory.allocate = ALLOCATE {
    if (bytes > UINT64_C(1) << 40) std::exit(1);
    return good.memory.allocate(device, kind, bytes, out);
  };
}
FAULT(cpu, gives_null_when_memory_is_out) {
  given.memory.allocate = ALLOCATE {
    if (bytes > UINT64_C(1) << 40) return *out = nullptr, nullptr;
    return good.memory.allocate(device, kind, bytes, out);
  };
}
FAULT(cpu, reports_another_error_when_memory_is_out) {
  given.memory.allocate = ALLOCATE {
    if (bytes > UINT64_C(1) << 40) return make_error(DA_STATUS_INTERNAL, "cudaErrorUnknown");
    return good.memory.allocate(device, kind, bytes, out);
  };
}
FAULT(cpu, stays_broken_when_memory_was_out) {
  given.memory.allocate = ALLOCATE {
    static std::atomic<bool> broken{false};
    if (bytes > UINT64_C(1) << 40) broken = true;
    if (broken) return make_error(DA_STATUS_OUT_OF_MEMORY, "no memory");
    return good.memory.allocate(device, kind, bytes, out);
  };
}
FAULT(cpu, size_overflows_when_it_is_rounded_up) {
  given.memory.allocate = ALLOCATE {
    const uint64_t rounded = (bytes + 511) / 512 * 512;
    return good.memory.allocate(device, kind, rounded, out);
  };
}
FAULT(cpu, failed_allocation_writes_a_handle) {
  given.memory.allocate = ALLOCATE {
    da_error *error = good.memory.allocate(device, kind, bytes, out);
    if (error != nullptr) *out = device;
    return error;
  };
}
FAULT(cpu, allocates_kinds_that_do_not_exist) {
  given.memory.allocate = ALLOCATE {
    return (void)kind, good.memory.allocate(device, DA_MEMORY_DEVICE, bytes, out);
  };
}
FAULT(cpu, pinned_memory_is_somewhere_else) {
  given.memory.copy = COPY {
    static const char *const zeros = static_cast<char *>(std::calloc(1000, 1));
    da_copy other = *order;
    if (order->kind == DA_COPY_HOST_TO_DEVICE && order->bytes == 1000 && order->source_offset == 0)
      other.source = zeros;
    return good.memory.copy(device, stream, &other);
  };
}
FAULT(simulated, refuses_managed_memory_with_a_wrong_status) {
  given.memory.allocate = ALLOCATE {
    if (kind == DA_MEMORY_MANAGED) return make_error(DA_STATUS_INVALID_ARGUMENT, "no managed memory");
    return good.memory.allocate(device, kind, bytes, out);
  };
}

// ---- what is said about memory

FAULT(cpu, more_is_free_than_there_is) {
  given.memory.info = [](da_device *device, uint64_t *out_free, uint64_t *out_total) -> da_error * {
    da_error *error = good.memory.info(device, out_free, out_total);
    *out_free = *out_total + 1;
    return error;
  };
}
FAULT(cpu, free_and_total_are_swapped) {
  given.memory.info = [](da_device *device, uint64_t *out_free, uint64_t *out_total) -> da_error * {
    return good.memory.info(device, out_total, out_free);
  };
}
FAULT(simulated, memory_in_use_is_not_counted) {
  given.memory.info = [](da_device *device, uint64_t *out_free, uint64_t *out_total) -> da_error * {
    da_error *error = good.memory.info(device, out_free, out_total);
    *out_free = *out_total;
    return error;
  };
}

// ---- copies

// A copy whose order was changed.
#define CHANGED_COPY(base, name, change)               \
  FAULT(base, name) {                                  \
    given.memory.copy = COPY {                         \
      da_copy other = *order;                          \
      change;                                          \
      return good.memory.copy(device, stream, &other); \
    };                                                 \
  }

CHANGED_COPY(cpu, copies_whole_words_only, other.bytes -= other.bytes % 4)
CHANGED_COPY(cpu, copies_65536_bytes_at_most,
             if (other.bytes > 65536 && other.bytes < 1 << 24) other.bytes = 65536)
CHANGED_COPY(cpu, copies_64_mebibytes_at_most, if (other.bytes > 64 << 20) other.bytes = 64 << 20)
CHANGED_COPY(cpu, copy_ignores_the_offset_of_its_destination,
             if (other.kind == DA_COPY_HOST_TO_DEVICE) other.destination_offset = 0)
CHANGED_COPY(cpu, copy_ignores_the_offset_of_its_source,
             if (other.kind == DA_COPY_DEVICE_TO_DEVICE) other.source_offset = 0)
CHANGED_COPY(cpu, copy_ignores_the_offset_of_the_host,
             if (other.kind == DA_COPY_DEVICE_TO_HOST) other.destination_offset = 0)
CHANGED_COPY(cpu, copy_rounds_offsets_down, other.destination_offset -= other.destination_offset % 8)
CHANGED_COPY(cpu, copies_kinds_that_do_not_exist,
             if (other.kind < DA_COPY_HOST_TO_DEVICE || other.kind > DA_COPY_PEER)
                 other.kind = DA_COPY_DEVICE_TO_DEVICE)

FAULT(cpu, copies_in_the_wrong_direction) {
  given.memory.copy = COPY {
    if (order->kind != DA_COPY_DEVICE_TO_DEVICE) return good.memory.copy(device, stream, order);
    da_copy other = *order;
    other.destination = const_cast<void *>(order->source);
    other.destination_offset = order->source_offset;
    other.source = order->destination;
    other.source_offset = order->destination_offset;
    return good.memory.copy(device, stream, &other);
  };
}
FAULT(cpu, copies_in_chunks_with_a_gap) {
  given.memory.copy = COPY {
    if (order->kind != DA_COPY_HOST_TO_DEVICE || order->bytes <= 4096)
      return good.memory.copy(device, stream, order);
    da_copy part = *order;
    part.bytes = 4095;
    da_error *error = good.memory.copy(device, stream, &part);
    if (error != nullptr) return error;
    part.destination_offset += 4096;
    part.source_offset += 4096;
    part.bytes = order->bytes - 4096;
    return good.memory.copy(device, stream, &part);
  };
}
FAULT(cpu, clears_a_range_copied_onto_itself) {
  given.memory.copy = COPY {
    char *const to = static_cast<char *>(order->destination) + order->destination_offset;
    if (to == static_cast<const char *>(order->source) + order->source_offset)
      std::memset(to, 0, order->bytes);
    return good.memory.copy(device, stream, order);
  };
}
FAULT(cpu, moves_instead_of_copying) {
  given.memory.copy = COPY {
    da_error *error = good.memory.copy(device, stream, order);
    if (order->kind == DA_COPY_DEVICE_TO_DEVICE && order->bytes > 0 && order->source != order->destination) {
      std::memset(static_cast<char *>(const_cast<void *>(order->source)) + order->source_offset, 0,
                  order->bytes);
    }
    return error;
  };
}
FAULT(cpu, reads_stale_bytes) {
  // The first bytes read from a handle are kept, and given again.
  given.memory.copy = COPY {
    static std::mutex lock;
    static std::map<const void *, std::string> cache;
    std::lock_guard<std::mutex> guard(lock);
    if (order->kind != DA_COPY_DEVICE_TO_HOST || order->bytes == 0)
      return good.memory.copy(device, stream, order);
    std::string &kept = cache[order->source];
    char *const to = static_cast<char *>(order->destination) + order->destination_offset;
    da_error *error = good.memory.copy(device, stream, order);
    if (kept.size() != order->bytes) kept.assign(to, order->bytes);
    std::memcpy(to, kept.data(), kept.size());
    return error;
  };
}
FAULT(cpu, sizes_of_copies_are_shared_by_threads) {
  given.memory.copy = COPY {
    static std::atomic<uint64_t> bytes;
    da_copy other = *order;
    bytes = order->bytes;
    for (int i = 0; i < 20; ++i) std::this_thread::yield();
    if (bytes < other.bytes) other.bytes = bytes;
    return good.memory.copy(device, stream, &other);
  };
}
FAULT(cpu, set_ignores_its_offset) {
  given.memory.set = SET { return (void)offset, good.memory.set(device, stream, handle, 0, value, bytes); };
}
FAULT(cpu, set_writes_whole_words) {
  given.memory.set = SET {
    return good.memory.set(device, stream, handle, offset, value, (bytes + 3) / 4 * 4);
  };
}
FAULT(cpu, set_writes_zeros_only) {
  given.memory.set = SET { return (void)value, good.memory.set(device, stream, handle, offset, 0, bytes); };
}
FAULT(cpu, set_of_nothing_sets_everything) {
  given.memory.set = SET {
    return good.memory.set(device, stream, handle, offset, value, bytes == 0 ? 8 : bytes);
  };
}
FAULT(cpu, wrap_makes_a_copy) {
  given.memory.wrap = [](da_device *, void *address, uint64_t bytes, void **out) -> da_error * {
    *out = std::malloc(bytes);
    std::memcpy(*out, address, bytes);
    return nullptr;
  };
}
FAULT(cpu, wrap_without_unwrap) { given.memory.unwrap = nullptr; }

// ---- two devices

CHANGED_COPY(simulated, copies_from_a_peer_as_if_its_own,
             if (other.kind == DA_COPY_PEER) other.kind = DA_COPY_DEVICE_TO_DEVICE)
FAULT(simulated, copies_to_a_peer_in_the_wrong_direction) {
  given.memory.copy = COPY {
    if (order->kind != DA_COPY_PEER) return good.memory.copy(device, stream, order);
    da_copy other = *order;
    other.peer = device;
    other.destination = const_cast<void *>(order->source);
    other.source = order->destination;
    return good.memory.copy(order->peer, stream, &other);
  };
}
FAULT(simulated, second_device_is_the_first) {
  given.device.open = [](uint32_t index, da_device **out) -> da_error * {
    return good.device.open(index == 1 ? 0 : index, out);
  };
}

// ---- devices

FAULT(cpu, opens_devices_that_do_not_exist) {
  given.device.open = [](uint32_t, da_device **out) -> da_error * { return good.device.open(0, out); };
}
FAULT(cpu, failed_open_writes_a_handle) {
  given.device.open = [](uint32_t index, da_device **out) -> da_error * {
    da_error *error = good.device.open(0, out);
    return error == nullptr && index != 0 ? make_error(DA_STATUS_INVALID_ARGUMENT, "no such device") : error;
  };
}
FAULT(cpu, open_gives_another_handle_each_time) {
  given.device.open = [](uint32_t index, da_device **out) -> da_error * {
    static char handles[1 << 16];
    static std::atomic<size_t> next{0};
    da_error *error = good.device.open(index, out);
    if (error == nullptr) *out = reinterpret_cast<da_device *>(handles + next++ % sizeof(handles));
    return error;
  };
  given.device.properties = [](da_device *, da_device_properties *out) -> da_error * {
    da_device *real = nullptr;
    da_error *error = good.device.open(0, &real);
    return error == nullptr ? good.device.properties(real, out) : error;
  };
}
FAULT(cpu, count_of_devices_changes) {
  given.device.count = [](uint32_t *out) -> da_error * {
    static std::atomic<uint32_t> calls{0};
    *out = 1 + calls++ % 2;
    return nullptr;
  };
}
FAULT(cpu, closing_null_crashes) {
  given.device.close = [](da_device *device) -> da_error * {
    *reinterpret_cast<volatile char *>(device) = 0;
    return nullptr;
  };
}
FAULT(cpu, device_cannot_be_opened_again) {
  static std::atomic<bool> closed{false};
  given.device.close = [](da_device *device) -> da_error * {
    closed = device != nullptr;
    return nullptr;
  };
  given.memory.allocate = ALLOCATE {
    if (closed) return make_error(DA_STATUS_FAILED_PRECONDITION, "the context was destroyed");
    return good.memory.allocate(device, kind, bytes, out);
  };
}

}  // namespace
}  // namespace faulty
