// Handles and their lives: devices, streams, events, captures, communicators, executables.
#include "validate.hpp"

namespace device_api::layers {

namespace {

struct KindFacts {
  const char *name;
  const char *origin;
  Rule unknown;
  Rule ended;
};
constexpr KindFacts kKindFacts[kKinds] = {
    {"device", "open", Rule::DEVICE_01, Rule::DEVICE_02},
    {"stream", "create", Rule::STREAM_01, Rule::STREAM_02},
    {"event", "event_create", Rule::STREAM_04, Rule::STREAM_05},
    {"capture", "end", Rule::CAPTURE_01, Rule::CAPTURE_02},
    {"communicator", "create", Rule::COLLECTIVE_01, Rule::COLLECTIVE_02},
    {"executable", "compile", Rule::GRAPH_01, Rule::GRAPH_02},
};

}  // namespace

Object *Validate::look(Kind kind, const void *handle) {
  auto &objects = objects_[static_cast<uint32_t>(kind)];
  auto found = objects.find(handle);
  return found == objects.end() ? nullptr : &found->second;
}

bool Validate::check_object(Call &call, Kind kind, const char *name, const void *handle) {
  const KindFacts &facts = kKindFacts[static_cast<uint32_t>(kind)];
  const Object *object = look(kind, handle);
  if (object == nullptr) {
    find(call, facts.unknown,
         std::string(name) + " " + address_text(handle) + " is no " + facts.name + " that " + facts.origin +
             " gave");
    return false;
  }
  if (!object->alive) {
    find(call, facts.ended,
         std::string(name) + " " + address_text(handle) + " has ended (generation " +
             std::to_string(object->generation) + ")");
    return false;
  }
  return true;
}

void Validate::check_same_device(Call &call, Kind kind, const void *handle, const void *device) {
  const Object *object = look(kind, handle);
  if (object == nullptr || !object->alive || device == nullptr || object->device == device) return;
  find(call, kind == Kind::event ? Rule::STREAM_06 : Rule::STREAM_03,
       std::string(kKindFacts[static_cast<uint32_t>(kind)].name) + " " + address_text(handle) +
           " belongs to device " + address_text(object->device) + ", not to " + address_text(device));
}

Object &Validate::add_object(Call &call, Kind kind, const void *handle, const void *device) {
  Object &object = objects_[static_cast<uint32_t>(kind)][handle];
  if (object.alive && (kind == Kind::stream || kind == Kind::event)) {
    find(call, Rule::STREAM_10,
         std::string(kKindFacts[static_cast<uint32_t>(kind)].name) + " " + address_text(handle) +
             " was given out and has not ended");
  }
  const uint64_t generation = object.generation + 1;
  object = Object{};
  object.alive = true;
  object.generation = generation;
  object.device = static_cast<const da_device *>(device);
  return object;
}

void Validate::end_object(Kind kind, const void *handle) {
  if (Object *object = look(kind, handle)) object->alive = false;
}

void Validate::check_left(Call &call, Kind kind, Rule rule, const void *device, const char *what) {
  uint64_t left = 0;
  const void *first = nullptr;
  for (auto &[handle, object] : objects_[static_cast<uint32_t>(kind)]) {
    if (!object.alive || (device != nullptr && object.device != device)) continue;
    object.alive = false;
    first = handle;
    ++left;
  }
  if (left != 0)
    find(call, rule, std::to_string(left) + " " + what + " left, for example " + address_text(first));
}

void Validate::check_left_memory(Call &call, const void *device) {
  uint64_t left = 0;
  uint64_t bytes = 0;
  for (auto &[handle, allocation] : memory_) {
    if (!allocation.alive || (device != nullptr && allocation.device != device)) continue;
    allocation.alive = false;
    if (kept_.count(reinterpret_cast<uintptr_t>(handle)) != 0) continue;
    bytes += allocation.bytes;
    ++left;
  }
  if (left != 0)
    find(call, Rule::MEMORY_15,
         std::to_string(left) + " allocations left, " + std::to_string(bytes) + " bytes");
}

// --- devices ----------------------------------------------------------------------------------------------

void Validate::done(Call &call, DeviceCount &arguments) {
  if (!call.failed() && arguments.out_count != nullptr) device_count_ = *arguments.out_count;
}

void Validate::check(Call &call, DeviceOpen &arguments) {
  if (device_count_ != UINT32_MAX && arguments.index >= device_count_)
    find(call, Rule::DEVICE_03,
         "index " + std::to_string(arguments.index) + " of " + std::to_string(device_count_) + " devices");
}

void Validate::done(Call &call, DeviceOpen &arguments) {
  if (call.failed() || arguments.out_device == nullptr || *arguments.out_device == nullptr) return;
  const void *handle = *arguments.out_device;
  for (const auto &[known, object] : objects_[static_cast<uint32_t>(Kind::device)]) {
    if (!object.alive) continue;
    if (known == handle && object.flags != arguments.index)
      find(call, Rule::DEVICE_05,
           "indices " + std::to_string(object.flags) + " and " + std::to_string(arguments.index) +
               " have the handle " + address_text(handle));
    if (known != handle && object.flags == arguments.index)
      find(call, Rule::DEVICE_04,
           "index " + std::to_string(arguments.index) + " was " + address_text(known) + " and is now " +
               address_text(handle));
  }
  Object *object = look(Kind::device, handle);
  if (object != nullptr && object->alive) return;
  add_object(call, Kind::device, handle, handle).flags = arguments.index;
}

void Validate::done(Call &call, DeviceClose &arguments) {
  const Object *device = look(Kind::device, arguments.device);
  if (call.failed() || device == nullptr || !device->alive) return;
  check_left_memory(call, arguments.device);
  check_left(call, Kind::stream, Rule::STREAM_07, arguments.device, "streams");
  check_left(call, Kind::event, Rule::STREAM_08, arguments.device, "events");
  end_object(Kind::device, arguments.device);
}

void Validate::done(Call &call, DeviceProperties &arguments) {
  if (call.failed() || arguments.out_properties == nullptr) return;
  const da_device_properties &properties = *arguments.out_properties;
  DeviceFacts &facts = facts_[arguments.device];
  facts.known = true;
  facts.flags = properties.flags;
  facts.dtypes = properties.dtypes;
  facts.alignment = properties.allocation_alignment;
  facts.max_rank = properties.max_rank;
  constexpr uint64_t kKnownFlags = DA_DEVICE_HOST_VISIBLE | DA_DEVICE_DETERMINISTIC | DA_DEVICE_SYNCHRONOUS;
  constexpr uint64_t kKnown = (DA_DTYPE_BIT(DA_FLOAT8_E5M2) << 1) - 2;
  const uint64_t alignment = facts.alignment;
  const char *wrong =
      properties.name == nullptr                                     ? "name is NULL"
      : alignment == 0 || (alignment & (alignment - 1)) != 0         ? "alignment is no power of two"
      : properties.max_rank < 3 || properties.max_rank > DA_MAX_RANK ? "max_rank is not 3 to 32"
      : properties.dtypes == 0 || (properties.dtypes & ~kKnown) != 0 ? "dtypes has none or unknown ones"
      : (properties.flags & ~kKnownFlags) != 0                       ? "flags has unknown bits"
                                                                     : nullptr;
  if (wrong != nullptr) find(call, Rule::DEVICE_07, wrong);
}

void Validate::done(Call &, DeviceSynchronize &arguments) { finish_device(arguments.device); }

}  // namespace device_api::layers
