// The plugin's life: initialise, shut down, and again.
#include "runtime.hpp"

#include <atomic>
#include <string>

#include "device_api/layout.h"
#include "error.hpp"
#include "reference_cpu/pool.hpp"

namespace simulated {
namespace {

std::atomic<Runtime *> current{nullptr};

void log(const Runtime &made, int32_t level, const std::string &message) {
  if (made.host != nullptr && made.host->log != nullptr)
    made.host->log(made.host->context, level, message.c_str());
}

}  // namespace

Runtime::Runtime(Configuration settings, const da_host *host)
    : configuration(std::move(settings)), host(host), scheduler(configuration, recorder, host) {
  for (uint32_t index = 0; index < configuration.devices; ++index) {
    devices.push_back(std::make_unique<Device>(index));
  }
}

Runtime *runtime_or_null() noexcept { return current.load(std::memory_order_acquire); }

Runtime &runtime() {
  Runtime *found = runtime_or_null();
  if (found == nullptr) {
    throw Failure(DA_STATUS_FAILED_PRECONDITION, "the plugin is not initialised, or was shut down");
  }
  return *found;
}

da_error *initialize(const da_host *host) {
  return guarded("initialize", [&] {
    if (runtime_or_null() != nullptr) {
      throw Failure(DA_STATUS_FAILED_PRECONDITION, "the plugin is initialised already");
    }
    if (host != nullptr) check_size("da_host", host->struct_size, DA_HOST_MIN_SIZE);
    reference_cpu::thread_count();  // a wrong DEVICE_API_CPU_THREADS is told here
    Configuration settings = read_configuration();
    adopt_process();
    current.store(new Runtime(std::move(settings), host), std::memory_order_release);
  });
}

da_error *shutdown() {
  return guarded("shutdown", [] {
    Runtime *ending = current.exchange(nullptr, std::memory_order_acq_rel);
    if (ending == nullptr) return;
    ending->scheduler.shut_down();
    reference_cpu::stop_threads();
    for (const auto &device : ending->devices) {
      const uint64_t left = ending->blocks.count(device.get());
      if (left != 0) {
        log(*ending, DA_LOG_WARNING,
            "simulated: shutdown: " + std::to_string(left) + " blocks of memory of " + device->name +
                " were never freed");
      }
    }
  });
}

}  // namespace simulated
