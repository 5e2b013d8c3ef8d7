// A device of the plugin and its interface.
#ifndef SIMULATED_DEVICE_HPP
#define SIMULATED_DEVICE_HPP

#include <atomic>
#include <cstdint>
#include <string>

#include "device_api/device.h"

namespace simulated {

struct Device {
  explicit Device(uint32_t number) : index(number), name("sim:" + std::to_string(number)) {}

  const uint32_t index;
  const std::string name;
  std::atomic<uint64_t> used{0};  // bytes of device and managed memory
  std::atomic<uint64_t> allocations{0};
  std::atomic<uint64_t> launches{0};
  std::atomic<bool> profiled{false};
  std::atomic<bool> lost{false};
};

inline da_device *handle_of(Device *device) { return reinterpret_cast<da_device *>(device); }

// The device behind a handle. Throws Failure for a handle of nobody, and DEVICE_LOST for a device that is
// lost.
Device &device_of(da_device *handle);

// With and without `synchronize`.
extern const da_device_interface device_interface;
extern const da_device_interface synchronous_device_interface;

}  // namespace simulated

#endif
