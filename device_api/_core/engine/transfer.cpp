#include "transfer.hpp"

#include <algorithm>
#include <vector>

#include "host.hpp"

namespace device_api {

namespace {

constexpr uint64_t kStagingBytes = UINT64_C(16) << 20;

Failure *copy(Device *on, int32_t kind, Range destination, Range source, uint64_t bytes, da_device *peer) {
  da_copy request{};
  request.struct_size = sizeof(request);
  request.kind = kind;
  request.destination = destination.handle;
  request.destination_offset = destination.offset;
  request.source = source.handle;
  request.source_offset = source.offset;
  request.bytes = bytes;
  request.peer = peer;
  Failure *failure =
      translate(on->errors(), on->tables().memory->copy(on->handle(), nullptr, &request), "memory.copy");
  Failure *reported = take_async_error(on->handle());
  if (reported == nullptr) return failure;
  delete failure;
  return reported;
}

Failure *copy_staged(Device *from, Range source, Device *to, Range destination, uint64_t bytes) {
  std::vector<char> staging(std::min(bytes, kStagingBytes));
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t part = std::min<uint64_t>(bytes - done, staging.size());
    Failure *failure =
        read_from_device(from, Range{source.handle, source.offset + done}, staging.data(), part);
    if (failure != nullptr) return failure;
    failure = write_to_device(to, Range{destination.handle, destination.offset + done}, staging.data(), part);
    if (failure != nullptr) return failure;
    done += part;
  }
  return nullptr;
}

}  // namespace

Failure *write_to_device(Device *device, Range destination, const void *source, uint64_t bytes) {
  return copy(device, DA_COPY_HOST_TO_DEVICE, destination, Range{const_cast<void *>(source), 0}, bytes,
              nullptr);
}

Failure *read_from_device(Device *device, Range source, void *destination, uint64_t bytes) {
  return copy(device, DA_COPY_DEVICE_TO_HOST, Range{destination, 0}, source, bytes, nullptr);
}

Failure *copy_between(Device *from, Range source, Device *to, Range destination, uint64_t bytes) {
  if (from == to) return copy(to, DA_COPY_DEVICE_TO_DEVICE, destination, source, bytes, nullptr);
  if (from->tables().memory == to->tables().memory) {
    // The copy waits for its own device; the source's work must be done as well.
    if (Failure *failure = from->synchronize()) return failure;
    Failure *failure = copy(to, DA_COPY_PEER, destination, source, bytes, from->handle());
    if (failure == nullptr || failure->code != DA_STATUS_UNIMPLEMENTED) return failure;
    delete failure;
  }
  return copy_staged(from, source, to, destination, bytes);
}

}  // namespace device_api
