// Faults of captures, of managed and wrapped memory, and of copies between devices.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "faults.hpp"

namespace faulty {
namespace {

// A capture that records nothing, for those that only pretend.
da_capture *const kEmpty = reinterpret_cast<da_capture *>(0x7f00000000000040);

// ---- captures

FAULT(simulated, capture_runs_the_work_at_once) {
  static bool capturing = false;
  given.capture.begin = [](da_device *, da_stream *) -> da_error * {
    capturing = true;
    return nullptr;
  };
  given.capture.end = [](da_device *device, da_stream *stream, da_capture **out) -> da_error * {
    if (!capturing) return good.capture.end(device, stream, out);
    capturing = false;
    *out = kEmpty;
    return nullptr;
  };
  given.capture.is_capturing = [](da_device *, da_stream *, int32_t *out) -> da_error * {
    *out = capturing;
    return nullptr;
  };
  given.capture.replay = [](da_capture *, da_stream *) -> da_error * { return nullptr; };
  given.capture.destroy = [](da_capture *) -> da_error * { return nullptr; };
}
FAULT(simulated, replay_does_nothing) {
  given.capture.replay = [](da_capture *, da_stream *) -> da_error * { return nullptr; };
}
FAULT(simulated, replays_once_only) {
  given.capture.replay = [](da_capture *capture, da_stream *stream) -> da_error * {
    static std::map<da_capture *, int> replays;
    return replays[capture]++ == 0 ? good.capture.replay(capture, stream) : nullptr;
  };
}
FAULT(simulated, replay_ignores_its_stream) {
  static da_device *device = nullptr;
  given.capture.begin = [](da_device *on, da_stream *stream) -> da_error * {
    device = on;
    return good.capture.begin(on, stream);
  };
  given.capture.replay = [](da_capture *capture, da_stream *) -> da_error * {
    static da_stream *hidden = nullptr;
    da_error *error = hidden == nullptr ? good.stream.create(device, 0, &hidden) : nullptr;
    return error == nullptr ? good.capture.replay(capture, hidden) : error;
  };
}
FAULT(simulated, never_says_that_it_captures) {
  given.capture.is_capturing = [](da_device *, da_stream *, int32_t *out) -> da_error * {
    *out = 0;
    return nullptr;
  };
}
FAULT(simulated, says_that_it_captures_without_end) {
  given.capture.is_capturing = [](da_device *device, da_stream *stream, int32_t *out) -> da_error * {
    static std::map<da_stream *, bool> seen;
    da_error *error = good.capture.is_capturing(device, stream, out);
    if (error == nullptr) *out = seen[stream] = seen[stream] || *out != 0;
    return error;
  };
}
FAULT(simulated, capture_state_is_left_out) {
  given.capture.is_capturing = [](da_device *, da_stream *, int32_t *) -> da_error * { return nullptr; };
}
FAULT(simulated, end_gives_no_capture) {
  given.capture.end = [](da_device *device, da_stream *stream, da_capture **) -> da_error * {
    da_capture *lost = nullptr;
    return good.capture.end(device, stream, &lost);
  };
}
FAULT(simulated, end_leaves_the_stream_captured) {
  given.capture.end = [](da_device *device, da_stream *stream, da_capture **out) -> da_error * {
    da_error *error = good.capture.end(device, stream, out);
    return error == nullptr ? good.capture.begin(device, stream) : error;
  };
}
FAULT(simulated, end_of_nothing_succeeds) {
  given.capture.end = [](da_device *device, da_stream *stream, da_capture **out) -> da_error * {
    int32_t capturing = 0;
    da_error *error = good.capture.is_capturing(device, stream, &capturing);
    if (error != nullptr || capturing != 0) return good.capture.end(device, stream, out);
    *out = kEmpty;
    return nullptr;
  };
}
FAULT(simulated, destroy_of_no_capture_fails) {
  given.capture.destroy = [](da_capture *capture) -> da_error * {
    return capture == nullptr ? make_error(DA_STATUS_INVALID_ARGUMENT, "the capture is NULL")
                              : good.capture.destroy(capture);
  };
}

// ---- managed and wrapped memory

// What the device sees of each managed block, where it is another memory than the host's.
std::map<const void *, void *> others;
std::mutex others_lock;

void *other_of(const void *handle) {
  std::lock_guard<std::mutex> guard(others_lock);
  const auto found = others.find(handle);
  return found == others.end() ? nullptr : found->second;
}

void make_others() {
  given.memory.allocate = [](da_device *device, int32_t kind, uint64_t bytes, void **out) -> da_error * {
    da_error *error = good.memory.allocate(device, kind, bytes, out);
    if (error != nullptr || kind != DA_MEMORY_MANAGED) return error;
    std::lock_guard<std::mutex> guard(others_lock);
    others[*out] = std::calloc(1, bytes + 1);
    return nullptr;
  };
}

FAULT(cpu, managed_memory_keeps_what_the_host_writes) {
  make_others();
  given.memory.copy = [](da_device *device, da_stream *stream, const da_copy *order) -> da_error * {
    da_copy seen = *order;
    if (void *other = other_of(order->source); other != nullptr && order->kind == DA_COPY_DEVICE_TO_DEVICE)
      seen.source = other;
    return good.memory.copy(device, stream, &seen);
  };
}
FAULT(cpu, managed_memory_keeps_what_the_device_writes) {
  make_others();
  given.memory.copy = [](da_device *device, da_stream *stream, const da_copy *order) -> da_error * {
    da_copy seen = *order;
    if (void *other = other_of(order->destination);
        other != nullptr && order->kind == DA_COPY_DEVICE_TO_DEVICE)
      seen.destination = other;
    return good.memory.copy(device, stream, &seen);
  };
}
FAULT(simulated, managed_memory_is_out_of_reach) {
  given.memory.allocate = [](da_device *device, int32_t kind, uint64_t bytes, void **out) -> da_error * {
    return good.memory.allocate(device, kind == DA_MEMORY_MANAGED ? int32_t{DA_MEMORY_DEVICE} : kind, bytes,
                                out);
  };
  given.memory.free = [](da_device *device, int32_t kind, void *handle) -> da_error * {
    return good.memory.free(device, kind == DA_MEMORY_MANAGED ? int32_t{DA_MEMORY_DEVICE} : kind, handle);
  };
}
FAULT(cpu, unwrap_scrubs_the_memory_of_its_owner) {
  static std::map<void *, uint64_t> sizes;
  given.memory.wrap = [](da_device *device, void *address, uint64_t bytes, void **out) -> da_error * {
    da_error *error = good.memory.wrap(device, address, bytes, out);
    if (error == nullptr) sizes[*out] = bytes;
    return error;
  };
  given.memory.unwrap = [](da_device *device, void *handle) -> da_error * {
    if (handle != nullptr) std::memset(handle, 0xDD, sizes[handle]);
    return good.memory.unwrap(device, handle);
  };
}

// ---- copies between devices

FAULT(simulated, copies_from_a_peer_lose_a_byte) {
  given.memory.copy = [](da_device *device, da_stream *stream, const da_copy *order) -> da_error * {
    da_copy other = *order;
    if (other.kind == DA_COPY_PEER && other.bytes > 1) --other.bytes;
    return good.memory.copy(device, stream, &other);
  };
}
FAULT(simulated, copies_from_a_peer_ignore_offsets) {
  given.memory.copy = [](da_device *device, da_stream *stream, const da_copy *order) -> da_error * {
    da_copy other = *order;
    if (other.kind == DA_COPY_PEER) other.source_offset = other.destination_offset = 0;
    return good.memory.copy(device, stream, &other);
  };
}
FAULT(simulated, copies_from_a_peer_overtake) {
  given.memory.copy = [](da_device *device, da_stream *stream, const da_copy *order) -> da_error * {
    static std::map<da_device *, da_stream *> hidden;
    if (order->kind != DA_COPY_PEER || stream == nullptr) return good.memory.copy(device, stream, order);
    da_stream *&used = hidden[device];
    da_error *error = used == nullptr ? good.stream.create(device, 0, &used) : nullptr;
    if (error == nullptr) error = good.memory.copy(device, used, order);
    return error == nullptr ? good.stream.synchronize(device, used) : error;
  };
}
FAULT(simulated, copies_from_a_peer_come_late) {
  given.memory.copy = [](da_device *device, da_stream *stream, const da_copy *order) -> da_error * {
    static std::map<da_device *, da_stream *> hidden;
    if (order->kind != DA_COPY_PEER || stream == nullptr) return good.memory.copy(device, stream, order);
    da_stream *&used = hidden[device];
    da_error *error = used == nullptr ? good.stream.create(device, 0, &used) : nullptr;
    return error == nullptr ? good.memory.copy(device, used, order) : error;
  };
}

}  // namespace
}  // namespace faulty
