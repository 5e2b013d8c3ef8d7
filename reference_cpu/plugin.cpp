// The one exported symbol, and the descriptor behind it.
#include "device_api/plugin.h"

#include <cstring>

#include "blas.hpp"
#include "device.hpp"
#include "device_api/layout.h"
#include "error.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "pool.hpp"
#include "random.hpp"
#include "stream.hpp"
#include "version.hpp"

namespace reference_cpu {
namespace {

da_error *initialize(const da_host *host) {
  return guarded("initialize", [&] {
    thread_count();  // a wrong DEVICE_API_CPU_THREADS is told here, not in the middle of some launch
    set_blas_log(host);
  });
}

da_error *shutdown() {
  return guarded("shutdown", [] {
    stop_threads();
    set_blas_log(nullptr);
  });
}

const void *get_interface(const char *id, uint32_t min_version) {
  const struct {
    const char *id;
    uint32_t version;
    const void *table;
  } interfaces[] = {
      {DA_DEVICE_INTERFACE, DA_DEVICE_INTERFACE_VERSION, &device_interface},
      {DA_MEMORY_INTERFACE, DA_MEMORY_INTERFACE_VERSION, &memory_interface},
      {DA_KERNEL_INTERFACE, DA_KERNEL_INTERFACE_VERSION, &kernel_interface},
      {DA_STREAM_INTERFACE, DA_STREAM_INTERFACE_VERSION, &stream_interface},
      {DA_RANDOM_INTERFACE, DA_RANDOM_INTERFACE_VERSION, &random_interface},
  };
  for (const auto &offered : interfaces) {
    if (std::strcmp(offered.id, id) == 0) return offered.version >= min_version ? offered.table : nullptr;
  }
  return nullptr;
}

const da_plugin descriptor = {sizeof(da_plugin),
                              nullptr,
                              DA_PLUGIN_MAGIC,
                              DA_ABI_MAJOR,
                              DA_ABI_MINOR,
                              9,  // oldest host minor: the first draft
                              0,
                              "reference_cpu",
                              "device_api",
                              kVersion,
                              "cpu",
                              DA_FEATURE_ASYNCHRONOUS,  // it has the stream interface
                              &da_layout,
                              &error_interface,
                              initialize,
                              shutdown,
                              get_interface};

}  // namespace
}  // namespace reference_cpu

DA_EXPORT const da_plugin *device_api_plugin(const da_plugin_request *request) {
  (void)request;
  return &reference_cpu::descriptor;
}
