// Copies between host memory and storages, and between storages of any two devices.
//
// All of them are finished on return: the host's side may be reused at once. Without the host lock.
#ifndef DEVICE_API_CORE_TRANSFER_HPP
#define DEVICE_API_CORE_TRANSFER_HPP

#include <cstdint>

#include "device.hpp"

namespace device_api {

struct Range {
  void *handle;
  uint64_t offset;
};

Failure *write_to_device(Device *device, Range destination, const void *source, uint64_t bytes);
Failure *read_from_device(Device *device, Range source, void *destination, uint64_t bytes);
// Directly where one plugin serves both devices, else through host memory.
Failure *copy_between(Device *from, Range source, Device *to, Range destination, uint64_t bytes);

}  // namespace device_api

#endif
