#include "instance.hpp"

#include <chrono>
#include <cstring>

#include "interpose.hpp"

namespace device_api::layers {

Instance *instances[kInstances];

namespace {

std::mutex instances_mutex;

// --- the host, as the plugin sees it ----------------------------------------------------------------------

void host_log(void *context, int32_t level, const char *text) {
  Instance &self = *static_cast<Instance *>(context);
  HostLog arguments{context, level, text};
  Call call(self, Slot::host_log, &arguments, static_cast<void *>(nullptr));
  const da_host *above = self.host_above.load();
  if (self.layer->before(call) && above != nullptr) above->log(above->context, arguments.level, text);
  self.layer->after(call);
}

uint64_t host_trace_begin(void *context, const char *name) {
  Instance &self = *static_cast<Instance *>(context);
  HostTraceBegin arguments{{}, context, name};
  Call call(self, Slot::host_trace_begin, &arguments, &arguments.result);
  const da_host *above = self.host_above.load();
  if (self.layer->before(call) && above != nullptr)
    arguments.result = above->trace_begin(above->context, name);
  self.layer->after(call);
  return arguments.result;
}

void host_trace_end(void *context, uint64_t span) {
  Instance &self = *static_cast<Instance *>(context);
  HostTraceEnd arguments{context, span};
  Call call(self, Slot::host_trace_end, &arguments, static_cast<void *>(nullptr));
  const da_host *above = self.host_above.load();
  if (self.layer->before(call) && above != nullptr) above->trace_end(above->context, span);
  self.layer->after(call);
}

void host_report_async_error(void *context, da_device *device, da_stream *stream, int32_t status,
                             const char *text) {
  Instance &self = *static_cast<Instance *>(context);
  HostReportAsyncError arguments{context, device, stream, status, text};
  Call call(self, Slot::host_report_async_error, &arguments, static_cast<void *>(nullptr));
  const da_host *above = self.host_above.load();
  if (self.layer->before(call) && above != nullptr)
    above->report_async_error(above->context, device, stream, status, text);
  self.layer->after(call);
}

// --- the descriptor ---------------------------------------------------------------------------------------

da_error *initialize(Instance &self, const da_host *host) {
  PluginInitialize arguments{{}, host};
  Call call(self, Slot::plugin_initialize, &arguments, &arguments.result);
  if (self.layer->before(call)) {
    const da_host *passed = arguments.host;
    if (passed != nullptr && passed->struct_size >= DA_HOST_MIN_SIZE) {
      self.host_above.store(passed);
      self.host.abi_major = passed->abi_major;
      self.host.abi_minor = passed->abi_minor;
      self.host.log = passed->log == nullptr ? nullptr : host_log;
      self.host.report_async_error =
          passed->report_async_error == nullptr ? nullptr : host_report_async_error;
      self.host.trace_begin = passed->trace_begin == nullptr ? nullptr : host_trace_begin;
      self.host.trace_end = passed->trace_end == nullptr ? nullptr : host_trace_end;
      passed = &self.host;
    }
    arguments.result = self.plugin_below.initialize(passed);
  }
  self.layer->after(call);
  return arguments.result;
}

da_error *shutdown(Instance &self) {
  PluginShutdown arguments{{}};
  Call call(self, Slot::plugin_shutdown, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.plugin_below.shutdown();
  self.layer->after(call);
  if (arguments.result == nullptr) self.host_above.store(nullptr);
  return arguments.result;
}

const void *get_interface(Instance &self, const char *id, uint32_t min_version) {
  PluginGetInterface arguments{{}, id, min_version};
  Call call(self, Slot::plugin_get_interface, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.plugin_below.get_interface(arguments.id, min_version);
  self.layer->after(call);
  if (arguments.result == nullptr || id == nullptr) return arguments.result;
  std::lock_guard<std::mutex> guard(self.mutex);
  for (const InterfaceFacts &facts : kInterfaceFacts)
    if (std::strcmp(facts.id, id) == 0) return facts.interpose(self, arguments.result);
  // An interface that this version does not know cannot be watched; it is passed on.
  return arguments.result;
}

// --- errors -----------------------------------------------------------------------------------------------

int32_t code(Instance &self, const da_error *error) {
  if (is_own_error(error)) return own_code(error);
  ErrorCode arguments{{}, error};
  Call call(self, Slot::error_code, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.errors_below.code(arguments.error);
  self.layer->after(call);
  return arguments.result;
}

const char *message(Instance &self, const da_error *error) {
  if (is_own_error(error)) return own_message(error);
  ErrorMessage arguments{{}, error};
  Call call(self, Slot::error_message, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.errors_below.message(arguments.error);
  self.layer->after(call);
  return arguments.result;
}

void destroy(Instance &self, da_error *error) {
  if (is_own_error(error)) return destroy_own(error);
  ErrorDestroy arguments{error};
  Call call(self, Slot::error_destroy, &arguments, static_cast<void *>(nullptr));
  if (self.layer->before(call)) self.errors_below.destroy(arguments.error);
  self.layer->after(call);
}

template <size_t N>
struct Shims {
  static da_error *initialize(const da_host *host) { return layers::initialize(*instances[N], host); }
  static da_error *shutdown() { return layers::shutdown(*instances[N]); }
  static const void *get_interface(const char *id, uint32_t min_version) {
    return layers::get_interface(*instances[N], id, min_version);
  }
  static void fill(const da_plugin &, da_plugin *above) {
    above->initialize = initialize;
    above->shutdown = shutdown;
    above->get_interface = get_interface;
  }
};

template <size_t N>
struct ErrorShims {
  static int32_t code(const da_error *error) { return layers::code(*instances[N], error); }
  static const char *message(const da_error *error) { return layers::message(*instances[N], error); }
  static void destroy(da_error *error) { layers::destroy(*instances[N], error); }
  static void fill(const da_error_interface &, da_error_interface *above) {
    above->code = code;
    above->message = message;
    above->destroy = destroy;
  }
};

struct NamedLayer {
  const char *name;
  LayerFactory make;
};
constexpr NamedLayer named_layers[] = {
    {"fault", make_fault}, {"stats", make_stats}, {"trace", make_trace}, {"validate", make_validate}};

}  // namespace

uint64_t now() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

void Instance::log(int32_t level, const std::string &text) {
  const da_host *above = host_above.load();
  if (above != nullptr && above->log != nullptr) above->log(above->context, level, text.c_str());
}

bool parse_options(const char *text, Options *out_options) {
  const std::string all = text == nullptr ? "" : text;
  for (size_t at = 0; at < all.size();) {
    size_t end = all.find(';', at);
    if (end == std::string::npos) end = all.size();
    const std::string part = all.substr(at, end - at);
    at = end + 1;
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    if (equals == std::string::npos) return false;
    (*out_options)[part.substr(0, equals)] = part.substr(equals + 1);
  }
  return true;
}

Instance *make_instance(const da_plugin *next, const std::string &layer, const Options &options,
                        std::string *out_message) {
  LayerFactory make = nullptr;
  for (const NamedLayer &named : named_layers)
    if (layer == named.name) make = named.make;
  if (make == nullptr) {
    *out_message = "there is no layer of that name";
    return nullptr;
  }
  std::lock_guard<std::mutex> guard(instances_mutex);
  size_t number = 0;
  while (number < kInstances && instances[number] != nullptr) ++number;
  if (number == kInstances) {
    *out_message =
        "there can be " + std::to_string(kInstances) + " layers in one process, and all are in use";
    return nullptr;
  }
  auto made = std::make_unique<Instance>();
  made->number = number;
  made->name = layer;
  made->next = next;
  copy_full(next, &made->plugin_below);
  copy_full(next->errors, &made->errors_below);
  made->plugin = made->plugin_below;
  made->plugin.struct_size = sizeof(da_plugin);
  made->plugin.errors = &made->errors;
  made->errors.struct_size = sizeof(da_error_interface);
  fill_table<Shims>(number, made->plugin_below, &made->plugin, std::make_index_sequence<kInstances>{});
  fill_table<ErrorShims>(number, made->errors_below, &made->errors, std::make_index_sequence<kInstances>{});
  made->host.struct_size = sizeof(da_host);
  made->host.context = made.get();
  made->layer = make(*made);
  *out_message = made->layer->configure(options);
  if (!out_message->empty()) return nullptr;
  instances[number] = made.release();
  return instances[number];
}

Instance *find_instance(const da_plugin *plugin) {
  std::lock_guard<std::mutex> guard(instances_mutex);
  for (Instance *instance : instances)
    if (instance != nullptr && &instance->plugin == plugin) return instance;
  return nullptr;
}

void release_instance(Instance *instance) {
  release_books(*instance);
  std::lock_guard<std::mutex> guard(instances_mutex);
  instances[instance->number] = nullptr;
  delete instance;
}

}  // namespace device_api::layers
