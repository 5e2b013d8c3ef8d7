// One layer over one table: what lies below, what it shows above, and its own errors.
#ifndef DEVICE_API_LAYERS_INSTANCE_HPP
#define DEVICE_API_LAYERS_INSTANCE_HPP

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "generated/interfaces.hpp"
#include "kernels.hpp"
#include "layer.hpp"

namespace device_api::layers {

// A table function has no argument that tells whose it is, so there is one set of functions for each
// instance.
constexpr size_t kInstances = 48;
extern Instance *instances[kInstances];

struct Instance {
  size_t number = 0;
  std::string name;
  const da_plugin *next = nullptr;
  da_plugin plugin_below{};  // copies of full size; what `next` lacks is zero
  da_error_interface errors_below{};
  InterfaceTables below{};
  da_plugin plugin{};  // what the layer shows
  da_error_interface errors{};
  InterfaceTables above{};
  da_host host{};  // what the plugin sees of the host
  std::atomic<const da_host *> host_above{nullptr};
  std::mutex mutex;  // guards the lists and the tables while they are made
  KernelBook kernels;
  std::unique_ptr<Layer> layer;

  // A line in the log of the host; lost before `initialize` and after `shutdown`.
  void log(int32_t level, const std::string &message);
};

// Puts a layer over `next`; NULL, and a message, when that is impossible.
Instance *make_instance(const da_plugin *next, const std::string &layer, const Options &options,
                        std::string *out_message);
// The instance that shows `plugin`, else NULL.
Instance *find_instance(const da_plugin *plugin);
void release_instance(Instance *instance);

// "key=value;key=value" as a map. False when a part has no "=".
bool parse_options(const char *text, Options *out_options);

// An error of a layer's own; every layer's error table understands it.
da_error *make_error(int32_t code, std::string message);
bool is_own_error(const da_error *error);
int32_t own_code(const da_error *error);
const char *own_message(const da_error *error);
void destroy_own(da_error *error);

// The name of a status code, for messages.
std::string status_name(int32_t code);
// The code of a status name in any case, 0 for no name.
int32_t status_code(std::string name);

}  // namespace device_api::layers

#endif
