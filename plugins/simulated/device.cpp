// The device interface. Facts follow the configuration: what a device denies here it refuses everywhere.
#include "device.hpp"

#include <algorithm>
#include <cstring>

#include "device_api/layout.h"
#include "error.hpp"
#include "runtime.hpp"
#include "version.hpp"

namespace simulated {
namespace {

Device &known_device(da_device *handle) {
  for (const auto &device : runtime().devices) {
    if (handle_of(device.get()) == handle) return *device;
  }
  throw Failure(DA_STATUS_INVALID_ARGUMENT, "the device handle is not one that `open` gave");
}

da_error *count(uint32_t *out_count) {
  return guarded("count", [&] { *out_count = static_cast<uint32_t>(runtime().devices.size()); });
}

da_error *open(uint32_t index, da_device **out_device) {
  return guarded("open", [&] {
    const auto &devices = runtime().devices;
    if (index >= devices.size()) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT, "there is no device " + std::to_string(index) +
                                                    "; there are " + std::to_string(devices.size()) +
                                                    " (SIM_DEVICES), counted from 0");
    }
    *out_device = handle_of(devices[index].get());
  });
}

// A lost device can still be closed.
da_error *close(da_device *handle) {
  return guarded("close", [&] {
    if (handle != nullptr) known_device(handle);
  });
}

da_error *properties(da_device *handle, da_device_properties *out_properties) {
  return guarded("properties", [&] {
    device_of(handle);
    const Configuration &configuration = runtime().configuration;
    const uint64_t size = out_properties->struct_size;
    check_size("da_device_properties", size, DA_DEVICE_PROPERTIES_MIN_SIZE);
    da_device_properties facts{};
    facts.struct_size = size;
    facts.extension = out_properties->extension;
    facts.name = "Simulated accelerator";
    facts.driver_version = kVersion;
    facts.runtime_version = kVersion;
    facts.total_memory = configuration.memory;
    facts.allocation_alignment = kAlignment;
    facts.flags = DA_DEVICE_DETERMINISTIC;
    facts.dtypes = configuration.dtypes;
    facts.max_rank = configuration.max_rank;
    facts.compute_units = kUnits;
    facts.dl_device_type = 12;
    std::memcpy(out_properties, &facts, std::min<uint64_t>(size, sizeof(facts)));
  });
}

da_error *synchronize(da_device *handle) {
  return guarded("synchronize", [&] { runtime().scheduler.synchronize(device_of(handle)); });
}

}  // namespace

Device &device_of(da_device *handle) {
  Device &device = known_device(handle);
  if (device.lost) throw Failure(DA_STATUS_DEVICE_LOST, device.name + " is lost; restart the process");
  return device;
}

const da_device_interface device_interface = {sizeof(da_device_interface),
                                              nullptr,
                                              DA_DEVICE_INTERFACE_VERSION,
                                              0,
                                              count,
                                              open,
                                              close,
                                              properties,
                                              synchronize};

const da_device_interface synchronous_device_interface = {sizeof(da_device_interface),
                                                          nullptr,
                                                          DA_DEVICE_INTERFACE_VERSION,
                                                          0,
                                                          count,
                                                          open,
                                                          close,
                                                          properties,
                                                          nullptr};

}  // namespace simulated
