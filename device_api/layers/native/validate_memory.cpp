// Memory: what is allocated, where ranges lie, and which queued work still uses it.
#include "validate.hpp"

namespace device_api::layers {

namespace {

// Freed handles are remembered, to tell use after free from handles of nobody; not for ever.
constexpr size_t kMostRemembered = 1 << 16;

std::string range_text(uint64_t offset, uint64_t bytes) {
  return "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes);
}

}  // namespace

bool Validate::check_range(Call &call, const char *what, const void *handle, uint64_t offset, uint64_t bytes,
                           const void *device, Rule missing, Rule outside) {
  auto found = memory_.find(handle);
  if (found == memory_.end()) {
    find(call, missing, std::string(what) + " " + address_text(handle) + " is no memory that allocate gave");
    return false;
  }
  const Allocation &allocation = found->second;
  if (!allocation.alive) {
    find(call, missing == Rule::MEMORY_02 ? Rule::MEMORY_03 : missing,
         std::string(what) + " " + address_text(handle) + " was freed");
    return false;
  }
  if (device != nullptr && allocation.device != device) {
    find(call, missing == Rule::MEMORY_02 ? Rule::MEMORY_12 : missing,
         std::string(what) + " " + address_text(handle) + " belongs to device " +
             address_text(allocation.device) + ", not to " + address_text(device));
  }
  if (offset > allocation.bytes || bytes > allocation.bytes - offset) {
    find(call, outside,
         std::string(what) + " " + address_text(handle) + ": " + range_text(offset, bytes) + " of " +
             std::to_string(allocation.bytes));
    return false;
  }
  return true;
}

void Validate::use_memory(const void *handle, const void *stream, uint64_t position) {
  if (stream != nullptr && memory_.count(handle) != 0) uses_[{handle, stream}] = position;
}

void Validate::check_unused(Call &call, const void *handle) {
  for (auto use = uses_.lower_bound({handle, nullptr}); use != uses_.end() && use->first.first == handle;
       ++use) {
    const void *stream = use->first.second;
    const Object *object = look(Kind::stream, stream);
    if (object == nullptr || !object->alive || object->finished >= use->second) continue;
    find(call, Rule::MEMORY_17,
         "work " + std::to_string(use->second) + " of stream " + address_text(stream) +
             " uses it, and nobody has waited for more than work " + std::to_string(object->finished));
    return;
  }
}

void Validate::forget_uses(const void *handle) {
  auto use = uses_.lower_bound({handle, nullptr});
  while (use != uses_.end() && use->first.first == handle) use = uses_.erase(use);
}

void Validate::check(Call &call, MemoryAllocate &arguments) {
  if (arguments.kind < DA_MEMORY_DEVICE || arguments.kind > DA_MEMORY_MANAGED)
    find(call, Rule::MEMORY_01, "kind is " + std::to_string(arguments.kind));
}

void Validate::done(Call &call, MemoryAllocate &arguments) {
  if (call.failed() || arguments.out_handle == nullptr || *arguments.out_handle == nullptr) return;
  const void *handle = *arguments.out_handle;
  if (memory_.size() > kMostRemembered) {
    for (auto item = memory_.begin(); item != memory_.end();)
      item = item->second.alive ? std::next(item) : memory_.erase(item);
  }
  Allocation &allocation = memory_[handle];
  if (allocation.alive && allocation.bytes != 0 && arguments.bytes != 0)
    find(call, Rule::MEMORY_13, "handle " + address_text(handle) + " is in use already");
  allocation = Allocation{arguments.bytes, arguments.kind, arguments.device, true, false};
  forget_uses(handle);
  const DeviceFacts &facts = facts_[arguments.device];
  const uint64_t alignment = facts.alignment;
  if (arguments.bytes != 0 && arguments.kind == DA_MEMORY_DEVICE &&
      (facts.flags & DA_DEVICE_HOST_VISIBLE) != 0 && alignment != 0 &&
      reinterpret_cast<uintptr_t>(handle) % alignment != 0)
    find(call, Rule::MEMORY_14,
         "handle " + address_text(handle) + " is no multiple of " + std::to_string(alignment));
}

void Validate::check(Call &call, MemoryFree &arguments) {
  if (arguments.kind < DA_MEMORY_DEVICE || arguments.kind > DA_MEMORY_MANAGED)
    find(call, Rule::MEMORY_01, "kind is " + std::to_string(arguments.kind));
  if (arguments.handle == nullptr) return;
  auto found = memory_.find(arguments.handle);
  if (found == memory_.end()) {
    find(call, Rule::MEMORY_02,
         "handle " + address_text(arguments.handle) + " is no memory that allocate gave");
    return;
  }
  const Allocation &allocation = found->second;
  if (!allocation.alive) {
    find(call, Rule::MEMORY_04, "handle " + address_text(arguments.handle) + " was freed before");
    return;
  }
  if (allocation.wrapped)
    find(call, Rule::MEMORY_06, "handle " + address_text(arguments.handle) + " came from wrap");
  else if (allocation.device != arguments.device || allocation.kind != arguments.kind)
    find(call, Rule::MEMORY_05,
         "allocated as kind " + std::to_string(allocation.kind) + " on device " +
             address_text(allocation.device) + ", freed as kind " + std::to_string(arguments.kind) + " on " +
             address_text(arguments.device));
  check_unused(call, arguments.handle);
}

void Validate::done(Call &call, MemoryFree &arguments) {
  auto found = memory_.find(arguments.handle);
  if (!call.failed() && found != memory_.end()) found->second.alive = false;
}

void Validate::check(Call &call, MemoryCopy &arguments) {
  const da_copy *copy = arguments.copy;
  check_same_device(call, Kind::stream, arguments.stream, arguments.device);
  if (copy == nullptr || copy->struct_size < DA_COPY_MIN_SIZE) return;
  const int32_t kind = copy->kind;
  if (kind < DA_COPY_HOST_TO_DEVICE || kind > DA_COPY_PEER) {
    find(call, Rule::MEMORY_07, "kind is " + std::to_string(kind));
    return;
  }
  const Object *peer = copy->peer == nullptr ? nullptr : look(Kind::device, copy->peer);
  if (kind == DA_COPY_PEER ? peer == nullptr || !peer->alive : copy->peer != nullptr)
    find(call, Rule::MEMORY_11, "kind is " + std::to_string(kind) + ", peer is " + address_text(copy->peer));
  if (copy->bytes == 0) return;
  const uint64_t position = submit(arguments.stream);
  const bool from_host = kind == DA_COPY_HOST_TO_DEVICE;
  const bool to_host = kind == DA_COPY_DEVICE_TO_HOST;
  if ((from_host && copy->source == nullptr) || (to_host && copy->destination == nullptr))
    find(call, Rule::MEMORY_09, from_host ? "source is NULL" : "destination is NULL");
  if (!to_host) {
    check_range(call, "destination", copy->destination, copy->destination_offset, copy->bytes,
                arguments.device, Rule::MEMORY_02, Rule::MEMORY_08);
    use_memory(copy->destination, arguments.stream, position);
  }
  if (!from_host) {
    check_range(call, "source", copy->source, copy->source_offset, copy->bytes,
                kind == DA_COPY_PEER ? copy->peer : arguments.device, Rule::MEMORY_02, Rule::MEMORY_08);
    use_memory(copy->source, arguments.stream, position);
  }
  if (kind == DA_COPY_DEVICE_TO_DEVICE && copy->source == copy->destination) {
    const uint64_t a = copy->source_offset;
    const uint64_t b = copy->destination_offset;
    if (a != b && a < b + copy->bytes && b < a + copy->bytes)
      find(call, Rule::MEMORY_10, range_text(a, copy->bytes) + " to " + range_text(b, copy->bytes));
  }
}

void Validate::done(Call &call, MemoryCopy &arguments) {
  if (arguments.stream == nullptr && !call.failed()) finish_device(arguments.device);
}

void Validate::check(Call &call, MemorySet &arguments) {
  check_same_device(call, Kind::stream, arguments.stream, arguments.device);
  if (arguments.bytes == 0) return;
  check_range(call, "handle", arguments.handle, arguments.offset, arguments.bytes, arguments.device,
              Rule::MEMORY_02, Rule::MEMORY_08);
  use_memory(arguments.handle, arguments.stream, submit(arguments.stream));
}

void Validate::done(Call &call, MemorySet &arguments) {
  if (arguments.stream == nullptr && !call.failed()) finish_device(arguments.device);
}

void Validate::done(Call &call, MemoryInfo &arguments) {
  if (call.failed() || arguments.out_free == nullptr || arguments.out_total == nullptr) return;
  if (*arguments.out_free > *arguments.out_total)
    find(call, Rule::MEMORY_16,
         std::to_string(*arguments.out_free) + " free of " + std::to_string(*arguments.out_total));
}

void Validate::done(Call &call, MemoryWrap &arguments) {
  if (call.failed() || arguments.out_handle == nullptr || *arguments.out_handle == nullptr) return;
  memory_[*arguments.out_handle] = Allocation{arguments.bytes, 0, arguments.device, true, true};
  forget_uses(*arguments.out_handle);
}

void Validate::check(Call &call, MemoryUnwrap &arguments) {
  if (arguments.handle == nullptr) return;
  auto found = memory_.find(arguments.handle);
  if (found == memory_.end()) {
    find(call, Rule::MEMORY_02, "handle " + address_text(arguments.handle) + " is no memory that wrap gave");
  } else if (!found->second.alive) {
    find(call, Rule::MEMORY_04, "handle " + address_text(arguments.handle) + " was unwrapped before");
  } else if (!found->second.wrapped) {
    find(call, Rule::MEMORY_06, "handle " + address_text(arguments.handle) + " came from allocate");
  } else {
    check_unused(call, arguments.handle);
  }
}

void Validate::done(Call &call, MemoryUnwrap &arguments) {
  auto found = memory_.find(arguments.handle);
  if (!call.failed() && found != memory_.end()) found->second.alive = false;
}

void Validate::check(Call &call, RandomBits &arguments) {
  check_same_device(call, Kind::stream, arguments.stream, arguments.device);
  if (arguments.count == 0) return;
  if (arguments.count > UINT64_MAX / 4) {
    find(call, Rule::RANDOM_01, std::to_string(arguments.count) + " words are more than an address space");
    return;
  }
  check_range(call, "handle", arguments.handle, arguments.byte_offset, arguments.count * 4, arguments.device,
              Rule::RANDOM_01, Rule::RANDOM_01);
  use_memory(arguments.handle, arguments.stream, submit(arguments.stream));
}

void Validate::done(Call &call, RandomBits &arguments) {
  if (arguments.stream == nullptr && !call.failed()) finish_device(arguments.device);
}

}  // namespace device_api::layers
