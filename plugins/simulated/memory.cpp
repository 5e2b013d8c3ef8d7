// Memory of a device: limited, poisoned, and out of the host's reach. Copies are checked when they are queued
// and touch memory, the host's too, only when they run.
#include "memory.hpp"

#include <cstring>
#include <string>

#include "device_api/layout.h"
#include "device_api/profiler.h"
#include "error.hpp"
#include "runtime.hpp"
#include "stream.hpp"

namespace simulated {
namespace {

void check_kind(int32_t kind) {
  if (kind >= DA_MEMORY_DEVICE && kind <= DA_MEMORY_MANAGED) return;
  throw Failure(DA_STATUS_INVALID_ARGUMENT, "memory kind " + std::to_string(kind) + " does not exist");
}

// What a block takes of the device; pinned memory is the host's.
uint64_t cost(int32_t kind, uint64_t bytes) {
  return kind == DA_MEMORY_PINNED ? 0 : (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

void take(Device &device, int32_t kind, uint64_t bytes) {
  const uint64_t total = runtime().configuration.memory;
  const uint64_t number = kind == DA_MEMORY_PINNED ? 0 : ++device.allocations;
  const bool told = number != 0 && runtime().configuration.fail_allocation.hits(number);
  uint64_t used = device.used;
  do {
    const bool fits = bytes <= total && cost(kind, bytes) <= total - used;
    if (fits && !told) continue;
    throw Failure(
        DA_STATUS_OUT_OF_MEMORY,
        device.name + " has no memory for " + std::to_string(bytes) +
            " bytes: " + std::to_string(total - used) + " of " + std::to_string(total) + " bytes are free" +
            (told ? " (SIM_FAIL_ALLOCATION: this is allocation " + std::to_string(number) + ")" : ""));
  } while (!device.used.compare_exchange_weak(used, used + cost(kind, bytes)));
}

da_error *allocate(da_device *handle, int32_t kind, uint64_t bytes, void **out_handle) {
  return guarded("allocate", [&] {
    Device &device = device_of(handle);
    check_kind(kind);
    take(device, kind, bytes);
    try {
      *out_handle = runtime().blocks.allocate(&device, kind, bytes)->range.handle;
    } catch (...) {
      device.used -= cost(kind, bytes);
      throw;
    }
  });
}

da_error *release(da_device *handle, int32_t kind, void *memory) {
  return guarded("free", [&] {
    Device &device = device_of(handle);
    check_kind(kind);
    if (memory == nullptr) return;
    const SharedBlock block = runtime().blocks.forget(&device, kind, memory, false);
    device.used -= cost(kind, block->bytes);
    check_edges(*block);
  });
}

da_error *copy(da_device *handle, da_stream *stream, const da_copy *order) {
  return guarded("copy", [&] {
    Device &device = device_of(handle);
    Blocks &blocks = runtime().blocks;
    check_size("da_copy", order->struct_size, DA_COPY_MIN_SIZE);
    const SharedStream found = stream_of(device, stream);
    const uint64_t bytes = order->bytes;
    if (bytes == 0) return;
    const auto on_device = [&](const Device &owner, const void *memory, uint64_t offset, const char *what) {
      return blocks.device_piece(&owner, memory, offset, bytes, what);
    };
    const auto destination = [&] {
      return on_device(device, order->destination, order->destination_offset, "destination of a copy");
    };
    Piece to, from;
    Work work;
    switch (order->kind) {
      case DA_COPY_HOST_TO_DEVICE:
        work.name = "copy host to device";
        to = destination();
        from = blocks.host_piece(order->source, order->source_offset, bytes, "source of a copy");
        break;
      case DA_COPY_DEVICE_TO_HOST:
        work.name = "copy device to host";
        to = blocks.host_piece(order->destination, order->destination_offset, bytes, "destination of a copy");
        from = on_device(device, order->source, order->source_offset, "source of a copy");
        break;
      case DA_COPY_DEVICE_TO_DEVICE:
        work.name = "copy device to device";
        to = destination();
        from = on_device(device, order->source, order->source_offset, "source of a copy");
        break;
      case DA_COPY_PEER:
        work.name = "copy from peer";
        to = destination();
        from = on_device(device_of(order->peer), order->source, order->source_offset, "source of a copy");
        break;
      default:
        throw Failure(DA_STATUS_INVALID_ARGUMENT,
                      "copy kind " + std::to_string(order->kind) + " does not exist");
    }
    const bool overlap = to.address < from.address + bytes && from.address < to.address + bytes;
    if (overlap && to.address != from.address) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT, "source and destination overlap without being the same");
    }
    work.activity = DA_ACTIVITY_COPY;
    work.bytes = bytes;
    for (const Piece &piece : {to, from}) {
      if (piece.block) work.blocks.push_back(piece.block);
    }
    if (!overlap) {
      work.body = [to = to.address, from = from.address, bytes] { std::memcpy(to, from, bytes); };
    } else {
      work.body = [] {};
    }
    enqueue(device, stream, std::move(work));
  });
}

da_error *set(da_device *handle, da_stream *stream, void *memory, uint64_t offset, uint8_t value,
              uint64_t bytes) {
  return guarded("set", [&] {
    Device &device = device_of(handle);
    const SharedStream found = stream_of(device, stream);
    if (bytes == 0) return;
    const Piece piece = runtime().blocks.device_piece(&device, memory, offset, bytes, "set");
    Work work;
    work.activity = DA_ACTIVITY_SET;
    work.name = "set";
    work.bytes = bytes;
    work.blocks.push_back(piece.block);
    work.body = [to = piece.address, value, bytes] { std::memset(to, value, bytes); };
    enqueue(device, stream, std::move(work));
  });
}

da_error *info(da_device *handle, uint64_t *out_free, uint64_t *out_total) {
  return guarded("info", [&] {
    const uint64_t used = device_of(handle).used, total = runtime().configuration.memory;
    *out_free = total - used;
    *out_total = total;
  });
}

da_error *wrap(da_device *handle, void *address, uint64_t bytes, void **out_handle) {
  return guarded("wrap", [&] {
    Device &device = device_of(handle);
    if (address == nullptr && bytes != 0) throw Failure(DA_STATUS_INVALID_ARGUMENT, "the address is NULL");
    *out_handle = runtime().blocks.wrap(&device, address, bytes)->range.handle;
  });
}

da_error *unwrap(da_device *handle, void *memory) {
  return guarded("unwrap", [&] {
    Device &device = device_of(handle);
    if (memory != nullptr) runtime().blocks.forget(&device, DA_MEMORY_DEVICE, memory, true);
  });
}

}  // namespace

void enqueue(Device &device, da_stream *stream, Work work) {
  const uint64_t start = now_ns();
  const uint64_t correlation = runtime().recorder.next_correlation();
  const std::string name = work.name;
  work.correlation = correlation;
  if (const SharedStream found = stream_of(device, stream)) {
    runtime().scheduler.push(found, std::make_shared<const Work>(std::move(work)));
  } else {
    runtime().scheduler.run_now(device, work);
  }
  runtime().recorder.record_call(device, name, correlation, start);
}

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

}  // namespace simulated
