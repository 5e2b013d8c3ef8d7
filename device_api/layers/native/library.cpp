#include "library.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "instance.hpp"
#include "json.hpp"

using device_api::layers::find_instance;
using device_api::layers::Instance;
using device_api::layers::Json;
using device_api::layers::Options;

namespace {

void give_message(const std::string &message, char *out_message, uint64_t size) {
  if (out_message != nullptr && size != 0) std::snprintf(out_message, size, "%s", message.c_str());
}

}  // namespace

const da_plugin *da_layers_wrap(const da_plugin *next, const char *layer, const char *options,
                                char *out_message, uint64_t message_size) {
  Options parsed;
  std::string message;
  if (!device_api::layers::parse_options(options, &parsed)) {
    give_message("options are written key=value;key=value", out_message, message_size);
    return nullptr;
  }
  Instance *made = device_api::layers::make_instance(next, layer, parsed, &message);
  give_message(message, out_message, message_size);
  return made == nullptr ? nullptr : &made->plugin;
}

int32_t da_layers_release(const da_plugin *layer) {
  Instance *found = find_instance(layer);
  if (found == nullptr) return 0;
  device_api::layers::release_instance(found);
  return 1;
}

const char *da_layers_report(const da_plugin *layer) {
  Instance *found = find_instance(layer);
  if (found == nullptr) return nullptr;
  Json json;
  found->layer->report(&json);
  char *text = static_cast<char *>(std::malloc(json.result().size() + 1));
  if (text != nullptr) std::memcpy(text, json.result().c_str(), json.result().size() + 1);
  return text;
}

void da_layers_free(const char *text) { std::free(const_cast<char *>(text)); }

int32_t da_layers_reset(const da_plugin *layer) {
  Instance *found = find_instance(layer);
  if (found == nullptr) return 0;
  found->layer->reset();
  return 1;
}

int32_t da_layers_configure(const da_plugin *layer, const char *options, char *out_message,
                            uint64_t message_size) {
  Instance *found = find_instance(layer);
  Options parsed;
  if (found == nullptr || !device_api::layers::parse_options(options, &parsed)) {
    give_message("options are written key=value;key=value", out_message, message_size);
    return 0;
  }
  const std::string message = found->layer->configure(parsed);
  give_message(message, out_message, message_size);
  return message.empty() ? 1 : 0;
}
