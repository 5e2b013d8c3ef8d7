#include "scratch.hpp"

#include <algorithm>
#include <cstring>

namespace device_api::layers {

Scratch::Scratch(Instance &self, const KernelEntry *entry, const da_kernel_context *context)
    : instance_(self), entry_(entry), above_(context), shown_(context) {
  if (context == nullptr || context->struct_size < DA_KERNEL_CONTEXT_MIN_SIZE || context->scratch == nullptr)
    return;
  std::memcpy(&copy_, context, std::min<uint64_t>(context->struct_size, sizeof(copy_)));
  copy_.struct_size = std::min<uint64_t>(context->struct_size, sizeof(copy_));
  copy_.host_context = this;
  copy_.scratch = serve;
  shown_ = &copy_;
}

da_error *Scratch::serve(void *host_context, uint64_t bytes, void **out_handle, uint64_t *out_offset) {
  Scratch *self = static_cast<Scratch *>(host_context);
  ContextScratch arguments{{}, self, bytes, out_handle, out_offset};
  Call call(self->instance_, Slot::context_scratch, &arguments, &arguments.result);
  if (self->instance_.layer->before(call)) {
    arguments.result = self->above_->scratch(self->above_->host_context, arguments.bytes,
                                             arguments.out_handle, arguments.out_offset);
  }
  self->instance_.layer->after(call);
  if (arguments.result != nullptr) self->served_error = arguments.result;
  return arguments.result;
}

}  // namespace device_api::layers
