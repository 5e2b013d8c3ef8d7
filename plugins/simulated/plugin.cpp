// The one exported symbol, and the descriptor behind it.
#include "device_api/plugin.h"

#include <cstring>

#include "capture.hpp"
#include "configuration.hpp"
#include "device.hpp"
#include "device_api/layout.h"
#include "error.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "profiler.hpp"
#include "random.hpp"
#include "runtime.hpp"
#include "stream.hpp"
#include "version.hpp"

namespace simulated {
namespace {

bool has_streams() {
  const Runtime *live = runtime_or_null();
  return live != nullptr ? live->configuration.streams : streams_configured();
}

const void *get_interface(const char *id, uint32_t min_version) {
  const bool streams = has_streams();
  const struct {
    const char *id;
    uint32_t version;
    const void *table;
  } interfaces[] = {
      {DA_DEVICE_INTERFACE, DA_DEVICE_INTERFACE_VERSION,
       streams ? &device_interface : &synchronous_device_interface},
      {DA_MEMORY_INTERFACE, DA_MEMORY_INTERFACE_VERSION, &memory_interface},
      {DA_KERNEL_INTERFACE, DA_KERNEL_INTERFACE_VERSION, &kernel_interface},
      {DA_RANDOM_INTERFACE, DA_RANDOM_INTERFACE_VERSION, &random_interface},
      {DA_PROFILER_INTERFACE, DA_PROFILER_INTERFACE_VERSION, &profiler_interface},
      {DA_STREAM_INTERFACE, DA_STREAM_INTERFACE_VERSION, streams ? &stream_interface : nullptr},
      {DA_CAPTURE_INTERFACE, DA_CAPTURE_INTERFACE_VERSION, streams ? &capture_interface : nullptr},
  };
  for (const auto &offered : interfaces) {
    if (std::strcmp(offered.id, id) == 0) return offered.version >= min_version ? offered.table : nullptr;
  }
  return nullptr;
}

constexpr da_plugin describe(uint64_t features) {
  return {sizeof(da_plugin),
          nullptr,
          DA_PLUGIN_MAGIC,
          DA_ABI_MAJOR,
          DA_ABI_MINOR,
          9,  // oldest host minor: the first draft
          0,
          "simulated",
          "device_api",
          kVersion,
          "sim",
          features,
          &da_layout,
          &error_interface,
          initialize,
          shutdown,
          get_interface};
}

const da_plugin asynchronous_plugin = describe(DA_FEATURE_ASYNCHRONOUS);
const da_plugin synchronous_plugin = describe(0);

}  // namespace
}  // namespace simulated

DA_EXPORT const da_plugin *device_api_plugin(const da_plugin_request *request) {
  (void)request;
  return simulated::streams_configured() ? &simulated::asynchronous_plugin : &simulated::synchronous_plugin;
}
