#include "transfer.hpp"

#include <cstring>
#include <vector>

#include "host.hpp"

namespace device_api {

namespace {

constexpr uint64_t kStagedBytes = UINT64_C(8) << 20;  // more is worth a wait rather than a second copy

Failure *copy(Device *on, Stream *stream, int32_t kind, Range destination, Range source, uint64_t bytes,
              da_device *peer) {
  da_copy request{};
  request.struct_size = sizeof(request);
  request.kind = kind;
  request.destination = destination.handle;
  request.destination_offset = destination.offset;
  request.source = source.handle;
  request.source_offset = source.offset;
  request.bytes = bytes;
  request.peer = peer;
  Failure *failure = translate(
      on->errors(),
      on->tables().memory->copy(on->handle(), stream == nullptr ? nullptr : stream->handle, &request),
      "memory.copy");
  if (stream != nullptr) return failure;
  Failure *reported = take_async_error(on->handle(), nullptr);
  if (reported == nullptr) return failure;
  delete failure;
  return reported;
}

}  // namespace

Failure *write_to_device(Device *device, Stream *stream, Range destination, const void *source,
                         uint64_t bytes, bool *out_waits) {
  *out_waits = false;
  if (stream != nullptr && bytes <= kStagedBytes) {
    Block *block = nullptr;
    Failure *failure = device->pinned.allocate(device->pinned.round(bytes), nullptr, &block);
    if (failure == nullptr) {
      char *staging = static_cast<char *>(block->chunk->handle) + block->offset;
      std::memcpy(staging, source, bytes);
      failure = write_from_pinned(device, stream, destination, staging, bytes);
      const std::vector<Stream *> uses{stream};
      device->pinned.free(block, failure == nullptr ? &uses : nullptr);
      return failure;
    }
    delete failure;  // without staging memory the copy is slower, not wrong
    device->unstaged.fetch_add(1);
  }
  *out_waits = stream != nullptr;
  return write_from_pinned(device, stream, destination, source, bytes);
}

Failure *write_from_pinned(Device *device, Stream *stream, Range destination, const void *source,
                           uint64_t bytes) {
  return copy(device, stream, DA_COPY_HOST_TO_DEVICE, destination, Range{const_cast<void *>(source), 0},
              bytes, nullptr);
}

Failure *read_from_device(Device *device, Stream *stream, Range source, void *destination, uint64_t bytes) {
  return copy(device, stream, DA_COPY_DEVICE_TO_HOST, Range{destination, 0}, source, bytes, nullptr);
}

Failure *copy_within(Device *device, Stream *stream, Range source, Range destination, uint64_t bytes) {
  return copy(device, stream, DA_COPY_DEVICE_TO_DEVICE, destination, source, bytes, nullptr);
}

Failure *copy_from_peer(Device *device, Stream *stream, Device *peer, Range source, Range destination,
                        uint64_t bytes) {
  if (device->tables().memory != peer->tables().memory) {
    return fail(DA_STATUS_UNIMPLEMENTED, "memory.copy", "the devices belong to two plugins");
  }
  return copy(device, stream, DA_COPY_PEER, destination, source, bytes, peer->handle());
}

}  // namespace device_api
