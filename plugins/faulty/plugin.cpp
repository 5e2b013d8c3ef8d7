// The entry: reads the name of a fault, takes the tables of its base, and installs it. Without a name the
// plugin is the reference CPU; an unknown name is told by `initialize`, which lists the names.
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "faults.hpp"
#include "reference_cpu/error.hpp"

extern "C" const da_plugin *good_cpu_plugin(const da_plugin_request *request);
extern "C" const da_plugin *good_simulated_plugin(const da_plugin_request *request);

namespace faulty {
namespace {

constexpr char kVariable[] = "DEVICE_API_FAULT";

FAULT(cpu, none_cpu) {}
FAULT(simulated, none_simulated) {}

const char *chosen_name() {
  const char *name = std::getenv(kVariable);
  return name == nullptr || *name == '\0' ? "none_cpu" : name;
}

const Fault *chosen_fault() {
  for (const Fault *fault : all_faults()) {
    if (std::strcmp(fault->name, chosen_name()) == 0) return fault;
  }
  return nullptr;
}

da_error *refuse(const da_host *) {
  std::string names;
  for (const Fault *fault : all_faults()) {
    names += fault == all_faults().front() ? "" : ", ";
    names += std::string(fault->base == Base::cpu ? "cpu:" : "simulated:") + fault->name;
  }
  return make_error(DA_STATUS_INVALID_ARGUMENT,
                    std::string(kVariable) + "=" + chosen_name() + " is no fault; faults are " + names);
}

template <class Table>
void take(const char *id, Table *table) {
  const void *offered = good.plugin.get_interface(id, 1);
  if (offered != nullptr) std::memcpy(table, offered, sizeof(*table));
}

da_error *list(da_device *device, da_kernel_list *out_list) {
  da_error *error = good.kernel.list(device, out_list);
  if (error != nullptr) return error;
  out_list->first = kernels().data();
  out_list->count = kernels().size();
  out_list->stride = sizeof(da_kernel);
  return nullptr;
}

const void *get_interface(const char *id, uint32_t min_version) {
  const void *offered = good.plugin.get_interface(id, min_version);
  if (offered == nullptr) return nullptr;
  if (std::strcmp(id, DA_DEVICE_INTERFACE) == 0) return &given.device;
  if (std::strcmp(id, DA_MEMORY_INTERFACE) == 0) return &given.memory;
  if (std::strcmp(id, DA_KERNEL_INTERFACE) == 0) return &given.kernel;
  if (std::strcmp(id, DA_STREAM_INTERFACE) == 0) return &given.stream;
  if (std::strcmp(id, DA_RANDOM_INTERFACE) == 0) return &given.random;
  if (std::strcmp(id, DA_CAPTURE_INTERFACE) == 0) return &given.capture;
  return offered;
}

void build(const da_plugin_request *request) {
  const Fault *fault = chosen_fault();
  const bool cpu = fault == nullptr || fault->base == Base::cpu;
  good.plugin = *(cpu ? good_cpu_plugin : good_simulated_plugin)(request);
  good.errors = *good.plugin.errors;
  take(DA_DEVICE_INTERFACE, &good.device);
  take(DA_MEMORY_INTERFACE, &good.memory);
  take(DA_KERNEL_INTERFACE, &good.kernel);
  take(DA_STREAM_INTERFACE, &good.stream);
  take(DA_RANDOM_INTERFACE, &good.random);
  take(DA_CAPTURE_INTERFACE, &good.capture);
  given = good;
  given.plugin.name = given.plugin.device_type = "faulty";
  given.plugin.errors = &given.errors;
  given.plugin.get_interface = get_interface;
  if (cpu) given.kernel.list = list;
  if (fault == nullptr) {
    given.plugin.initialize = refuse;
  } else {
    fault->install();
  }
}

}  // namespace

da_plugin_entry entry = [](const da_plugin_request *) -> const da_plugin * { return &given.plugin; };

}  // namespace faulty

DA_EXPORT const da_plugin *device_api_plugin(const da_plugin_request *request) {
  static std::once_flag built;
  std::call_once(built, faulty::build, request);
  return faulty::entry(request);
}
