#include "trace_values.hpp"

#include <cstdio>
#include <cstring>

#include "generated/attributes.hpp"

namespace device_api::layers {

namespace {

// FNV-1a, 64 bits: it tells payloads apart, it protects nothing.
uint64_t hash_of(const void *data, uint64_t size) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  const unsigned char *bytes = static_cast<const unsigned char *>(data);
  for (uint64_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  return hash;
}

void write_list(Json *out, const char *key, const int64_t *values, int32_t count) {
  out->begin_array(key);
  for (int32_t i = 0; values != nullptr && i < count; ++i) out->number(nullptr, values[i]);
  out->end_array();
}

void write_tensor(Json *out, const char *key, const da_tensor *tensor) {
  if (tensor == nullptr) return out->null(key);
  out->begin_object(key);
  out->address("data", tensor->dl.data);
  out->number("byte_offset", tensor->dl.byte_offset);
  out->number("dtype", static_cast<int64_t>(tensor->dtype));
  out->begin_array("dl");
  out->number(nullptr, static_cast<int64_t>(tensor->dl.device.type));
  out->number(nullptr, static_cast<int64_t>(tensor->dl.device.id));
  out->number(nullptr, static_cast<int64_t>(tensor->dl.dtype.code));
  out->number(nullptr, static_cast<int64_t>(tensor->dl.dtype.bits));
  out->number(nullptr, static_cast<int64_t>(tensor->dl.dtype.lanes));
  out->end_array();
  const int32_t rank = tensor->dl.ndim > DA_MAX_RANK ? DA_MAX_RANK : tensor->dl.ndim;
  write_list(out, "shape", tensor->dl.shape, rank);
  write_list(out, "strides", tensor->dl.strides, rank);
  out->end_object();
}

}  // namespace

void write_payload(Json *out, const char *key, Payload payload, const void *data, uint64_t size) {
  out->begin_object(key);
  out->number("size", size);
  if (payload == Payload::inline_) {
    out->bytes("data", data, size);
  } else if (payload == Payload::hash) {
    char text[24];
    std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash_of(data, size)));
    out->text("hash", text);
  }
  out->end_object();
}

void TraceInputs::tensor(const char *name, const da_tensor *value) { write_tensor(out_, name, value); }

void TraceInputs::tensors(const char *name, const da_tensor *const *values, uint32_t count) {
  out_->begin_array(name);
  for (uint32_t i = 0; values != nullptr && i < count; ++i) write_tensor(out_, nullptr, values[i]);
  out_->end_array();
}

void TraceInputs::attributes(const char *name, const void *value, const KernelEntry *entry) {
  if (value == nullptr) return out_->null(name);
  const char *bytes = static_cast<const char *>(value);
  const uint64_t size = *static_cast<const uint64_t *>(value);
  out_->begin_object(name);
  out_->bytes("data", bytes, size);
  out_->begin_array("pointers");
  for (const AttributePointer &pointer : kAttributePointers) {
    if (entry->below.op == nullptr || std::strcmp(pointer.op, entry->below.op) != 0) continue;
    if (pointer.offset + sizeof(void *) > size) continue;
    const char *target = nullptr;
    int64_t count = -1;
    std::memcpy(&target, bytes + pointer.offset, sizeof(target));
    if (pointer.count_offset >= 0) std::memcpy(&count, bytes + pointer.count_offset, sizeof(count));
    if (target == nullptr || (pointer.count_offset >= 0 && count <= 0)) continue;
    out_->begin_object();
    out_->number("at", pointer.offset);
    out_->bytes("data", target,
                count < 0 ? std::strlen(target) + 1 : static_cast<uint64_t>(count) * sizeof(int64_t));
    out_->end_object();
  }
  out_->end_array();
  out_->end_object();
}

void TraceInputs::attributes(const char *name, const void *value, const CustomOpEntry *) {
  if (value == nullptr) return out_->null(name);
  out_->begin_object(name);
  out_->bytes("data", static_cast<const char *>(value), *static_cast<const uint64_t *>(value));
  out_->end_object();
}

void TraceInputs::structure(const char *name, const da_copy *value) {
  if (value == nullptr || value->struct_size < DA_COPY_MIN_SIZE) return out_->null(name);
  out_->begin_object(name);
  out_->number("kind", static_cast<int64_t>(value->kind));
  out_->address("destination", value->destination);
  out_->number("destination_offset", value->destination_offset);
  out_->address("source", value->source);
  out_->number("source_offset", value->source_offset);
  out_->number("bytes", value->bytes);
  out_->address("peer", value->peer);
  if (value->kind == DA_COPY_HOST_TO_DEVICE && value->source != nullptr) {
    write_payload(out_, "payload", payload_, static_cast<const char *>(value->source) + value->source_offset,
                  value->bytes);
  }
  out_->end_object();
}

void TraceInputs::structure(const char *name, const da_kernel_context *value) {
  if (value == nullptr || value->struct_size < DA_KERNEL_CONTEXT_MIN_SIZE) return out_->null(name);
  out_->begin_object(name);
  out_->address("device", value->device);
  out_->address("stream", value->stream);
  out_->number("flags", value->flags);
  out_->number("random_seed", value->random_seed);
  out_->number("random_offset", value->random_offset);
  out_->end_object();
}

void TraceInputs::structure(const char *name, const da_communicator_options *value) {
  if (value == nullptr || value->struct_size < DA_COMMUNICATOR_OPTIONS_MIN_SIZE) return out_->null(name);
  out_->begin_object(name);
  out_->number("rank", static_cast<uint64_t>(value->rank));
  out_->number("rank_count", static_cast<uint64_t>(value->rank_count));
  out_->number("timeout_ns", value->timeout_ns);
  out_->end_object();
}

void TraceInputs::entry(const char *name, const KernelEntry *entry) {
  out_->begin_object(name);
  out_->number("index", entry->index);
  out_->text("op", entry->below.op);
  out_->end_object();
}

void TraceInputs::entry(const char *name, const PassEntry *entry) {
  out_->begin_object(name);
  out_->number("index", entry->index);
  out_->text("name", entry->below.name);
  out_->end_object();
}

void TraceInputs::entry(const char *name, const CustomOpEntry *entry) {
  out_->begin_object(name);
  out_->number("index", entry->index);
  out_->text("schema", entry->below.schema);
  out_->end_object();
}

void TraceOutputs::out(const char *name, const da_output_shape *value) {
  if (value == nullptr) return;
  out_->begin_array(name);  // The first output; an op of several has them in its schema.
  for (int32_t i = 0; i < value->rank && i < DA_MAX_RANK; ++i) out_->number(nullptr, value->sizes[i]);
  out_->end_array();
}

void TraceOutputs::out(const char *name, const da_device_properties *value) {
  if (value == nullptr) return;
  out_->begin_object(name);
  out_->text("name", value->name);
  out_->number("total_memory", value->total_memory);
  out_->number("allocation_alignment", value->allocation_alignment);
  out_->number("flags", value->flags);
  out_->number("dtypes", value->dtypes);
  out_->number("max_rank", static_cast<uint64_t>(value->max_rank));
  out_->end_object();
}

}  // namespace device_api::layers
