// The device interface: one device, the processor this process runs on.
#include "device.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include "device_api/layout.h"
#include "error.hpp"
#include "pool.hpp"
#include "version.hpp"

struct da_device {
  std::string name;
  std::string driver;
  std::string runtime;
  uint64_t total;
  uint32_t threads;
};

namespace reference_cpu {
namespace {

constexpr uint64_t kAllTypes = ((uint64_t{1} << (DA_FLOAT8_E5M2 + 1)) - 1) & ~uint64_t{1};

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) {
      const size_t colon = line.find(": ");
      if (colon != std::string::npos) return line.substr(colon + 2);
    }
  }
  return "CPU";
}

std::string system_name() {
  utsname facts;
  if (uname(&facts) != 0) return "";
  return std::string(facts.sysname) + " " + facts.release;
}

uint64_t number_in(const char *path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? value : 0;
}

da_device &the_device() {
  // Never destroyed, because its text may be read until the process ends.
  static da_device *device =
      new da_device{processor_name(), system_name(), std::string("reference_cpu ") + kVersion, total_memory(),
                    static_cast<uint32_t>(thread_count())};
  return *device;
}

da_error *count(uint32_t *out_count) {
  *out_count = 1;
  return nullptr;
}

da_error *open(uint32_t index, da_device **out_device) {
  return guarded("open", [&] {
    if (index != 0) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT,
                    "there is no device " + std::to_string(index) + "; this plugin has one device, number 0");
    }
    *out_device = &the_device();
  });
}

da_error *close(da_device *) { return nullptr; }

da_error *properties(da_device *device, da_device_properties *out_properties) {
  return guarded("properties", [&] {
    const uint64_t size = out_properties->struct_size;
    if (size < DA_DEVICE_PROPERTIES_MIN_SIZE) {
      throw Failure(DA_STATUS_INVALID_ARGUMENT, "struct_size " + std::to_string(size) +
                                                    " is below the smallest da_device_properties, " +
                                                    std::to_string(DA_DEVICE_PROPERTIES_MIN_SIZE));
    }
    da_device_properties facts{};
    facts.struct_size = size;
    facts.extension = out_properties->extension;
    facts.name = device->name.c_str();
    facts.driver_version = device->driver.c_str();
    facts.runtime_version = device->runtime.c_str();
    facts.total_memory = device->total;
    facts.allocation_alignment = 64;
    facts.flags = DA_DEVICE_HOST_VISIBLE | DA_DEVICE_DETERMINISTIC | DA_DEVICE_SYNCHRONOUS;
    facts.dtypes = kAllTypes;
    facts.max_rank = DA_MAX_RANK;
    facts.compute_units = device->threads;
    facts.dl_device_type = 1;
    std::memcpy(out_properties, &facts, std::min<uint64_t>(size, sizeof(facts)));
  });
}

da_error *synchronize(da_device *) { return nullptr; }

}  // namespace

uint64_t total_memory() {
  const uint64_t machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t group = number_in("/sys/fs/cgroup/memory.max");
  return group != 0 ? std::min(machine, group) : machine;
}

uint64_t free_memory() {
  uint64_t free = 0;
  std::ifstream info("/proc/meminfo");
  for (std::string key; info >> key;) {
    uint64_t kibibytes = 0;
    if (key == "MemAvailable:" && info >> kibibytes) free = kibibytes * 1024;
  }
  const uint64_t group = number_in("/sys/fs/cgroup/memory.max");
  if (group != 0) {
    const uint64_t used = number_in("/sys/fs/cgroup/memory.current");
    free = std::min(free, group > used ? group - used : 0);
  }
  return free;
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

}  // namespace reference_cpu
