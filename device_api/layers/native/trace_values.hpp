// Arguments and results of a call as JSON.
#ifndef DEVICE_API_LAYERS_TRACE_VALUES_HPP
#define DEVICE_API_LAYERS_TRACE_VALUES_HPP

#include "generated/slots.hpp"
#include "json.hpp"
#include "kernels.hpp"
#include "visitor.hpp"

namespace device_api::layers {

enum class Payload { inline_, hash, none };

// Bytes that a call carries: all of them as base64, or a hash, or only how many.
void write_payload(Json *out, const char *key, Payload payload, const void *data, uint64_t size);

// What goes into a call; out parameters are left out.
class TraceInputs : public Visitor {
 public:
  TraceInputs(Json *out, Payload payload) : out_(out), payload_(payload) {}

  void handle(const char *name, const void *value) { out_->address(name, value); }
  void pointer(const char *name, const void *value) { out_->address(name, value); }
  void number(const char *name, uint64_t value) { out_->number(name, value); }
  void number(const char *name, uint32_t value) { out_->number(name, static_cast<uint64_t>(value)); }
  void number(const char *name, uint8_t value) { out_->number(name, static_cast<uint64_t>(value)); }
  void number(const char *name, int32_t value) { out_->number(name, static_cast<int64_t>(value)); }
  void text(const char *name, const char *value) { out_->text(name, value); }
  void bytes(const char *name, const uint8_t *value, uint64_t size) {
    write_payload(out_, name, payload_, value, value == nullptr ? 0 : size);
  }
  void tensor(const char *name, const da_tensor *value);
  void tensors(const char *name, const da_tensor *const *values, uint32_t count);
  void attributes(const char *name, const void *value, const KernelEntry *entry);
  // The layout of a custom op's attributes is in its schema, which a trace does not read.
  void attributes(const char *name, const void *value, const CustomOpEntry *entry);
  void structure(const char *name, const da_copy *value);
  void structure(const char *name, const da_callback *value) { out_->address(name, value->user_data); }
  void structure(const char *name, const da_kernel_context *value);
  void structure(const char *name, const da_communicator_options *value);
  void structure(const char *name, const da_host *) { out_->null(name); }
  void entry(const char *name, const KernelEntry *entry);
  void entry(const char *name, const PassEntry *entry);
  void entry(const char *name, const CustomOpEntry *entry);

 private:
  Json *out_;
  Payload payload_;
};

// What comes out of a call that succeeded.
class TraceOutputs : public Visitor {
 public:
  TraceOutputs(Json *out, Payload payload) : out_(out), payload_(payload) {}

  template <class T>
  void out(const char *name, T **value) {
    if (value != nullptr) out_->address(name, *value);
  }
  void out(const char *name, const uint32_t *value) {
    if (value != nullptr) out_->number(name, static_cast<uint64_t>(*value));
  }
  void out(const char *name, const uint64_t *value) {
    if (value != nullptr) out_->number(name, *value);
  }
  void out(const char *name, const int32_t *value) {
    if (value != nullptr) out_->number(name, static_cast<int64_t>(*value));
  }
  void out(const char *name, const double *value) {
    if (value != nullptr) out_->number(name, *value);
  }
  void out(const char *name, const da_device_properties *value);
  void out(const char *name, const da_output_shape *value);
  void out(const char *name, const da_bytes *value) {
    if (value != nullptr) write_payload(out_, name, payload_, value->data, value->size);
  }
  void out(const char *name, const da_unique_id *value) {
    if (value != nullptr) write_payload(out_, name, Payload::inline_, value->bytes, sizeof(value->bytes));
  }
  template <class T>
  void out(const char *name, const T *list) {  // da_kernel_list and its like
    if (list != nullptr) out_->number(name, list->count);
  }

 private:
  Json *out_;
  Payload payload_;
};

}  // namespace device_api::layers

#endif
