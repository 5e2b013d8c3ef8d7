// The descriptor: start and end, interfaces, errors, and what the plugin asks of the host.
#include "validate.hpp"

namespace device_api::layers {

void Validate::check(Call &call, PluginInitialize &arguments) {
  if (life_ == Life::running) find(call, Rule::PLUGIN_03, "the plugin is running");
  const da_host *host = arguments.host;
  if (host == nullptr || host->struct_size < DA_HOST_MIN_SIZE || host->log == nullptr ||
      host->report_async_error == nullptr)
    find(call, Rule::PLUGIN_09,
         host == nullptr ? "host is NULL" : "the host table is too small or lacks log or report_async_error");
  if (life_ != Life::running) life_ = Life::starting;
}

void Validate::done(Call &call, PluginInitialize &) {
  if (life_ == Life::starting) life_ = call.failed() ? Life::new_ : Life::running;
}

void Validate::done(Call &call, PluginShutdown &) {
  if (life_ != Life::running || call.failed()) return;
  check_left(call, Kind::device, Rule::DEVICE_06, nullptr, "devices");
  check_left_memory(call, nullptr);
  check_left(call, Kind::stream, Rule::STREAM_07, nullptr, "streams");
  check_left(call, Kind::event, Rule::STREAM_08, nullptr, "events");
  check_left(call, Kind::capture, Rule::CAPTURE_05, nullptr, "captures");
  check_left(call, Kind::communicator, Rule::COLLECTIVE_05, nullptr, "communicators");
  check_left(call, Kind::executable, Rule::GRAPH_03, nullptr, "executables");
  if (!states_.empty())
    find(call, Rule::KERNEL_16, std::to_string(states_.size()) + " states of kernels left");
  states_.clear();
  uint64_t errors = 0;
  for (const auto &[error, count] : live_errors_) errors += count;
  if (errors != 0) find(call, Rule::ERROR_05, std::to_string(errors) + " errors left");
  live_errors_.clear();
  life_ = Life::ended;
}

void Validate::done(Call &call, PluginGetInterface &arguments) {
  if (arguments.id == nullptr || arguments.result == nullptr) return;
  const auto table = tables_.emplace(arguments.id, arguments.result).first;
  if (table->second != arguments.result)
    find(call, Rule::PLUGIN_04,
         std::string(arguments.id) + " was at " + address_text(table->second) + " and is now at " +
             address_text(arguments.result));
  // Every interface begins alike: size, extension, version.
  struct Head {
    uint64_t struct_size;
    const void *extension;
    uint32_t version;
  };
  const Head *head = static_cast<const Head *>(arguments.result);
  if (head->struct_size < 32 || head->struct_size % 8 != 0 || head->version == 0)
    find(call, Rule::PLUGIN_05,
         std::string(arguments.id) + " has size " + std::to_string(head->struct_size) + ", version " +
             std::to_string(head->version));
}

// --- errors -----------------------------------------------------------------------------------------------

void Validate::check(Call &call, ErrorCode &arguments) {
  if (live_errors_.count(arguments.error) == 0)
    find(call, Rule::ERROR_04, address_text(arguments.error) + " is no living error");
}

void Validate::check(Call &call, ErrorMessage &arguments) {
  if (live_errors_.count(arguments.error) == 0)
    find(call, Rule::ERROR_04, address_text(arguments.error) + " is no living error");
}

void Validate::check(Call &call, ErrorDestroy &arguments) {
  if (arguments.error == nullptr) return;
  auto found = live_errors_.find(arguments.error);
  if (found == live_errors_.end()) {
    find(call, Rule::ERROR_03, address_text(arguments.error) + " was destroyed, or no call gave it");
  } else if (--found->second == 0) {
    live_errors_.erase(found);
  }
}

// --- the host, as the plugin uses it ----------------------------------------------------------------------

void Validate::check(Call &call, HostLog &arguments) {
  if (arguments.level < DA_LOG_DEBUG || arguments.level > DA_LOG_ERROR || arguments.message == nullptr)
    find(call, Rule::PLUGIN_06,
         "level is " + std::to_string(arguments.level) +
             (arguments.message == nullptr ? ", message is NULL" : ""));
}

void Validate::check(Call &call, HostReportAsyncError &arguments) {
  const Object *device = look(Kind::device, arguments.device);
  const Object *stream = arguments.stream == nullptr ? nullptr : look(Kind::stream, arguments.stream);
  const bool wrong = device == nullptr || (arguments.stream != nullptr && stream == nullptr) ||
                     arguments.code <= 0 || arguments.message == nullptr;
  if (wrong)
    find(call, Rule::PLUGIN_07,
         "device " + address_text(arguments.device) + ", stream " + address_text(arguments.stream) +
             ", code " + std::to_string(arguments.code) +
             (arguments.message == nullptr ? ", no message" : ""));
}

}  // namespace device_api::layers
