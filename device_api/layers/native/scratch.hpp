// The context of a launch as the plugin sees it through a layer: calls for scratch memory are calls too.
#ifndef DEVICE_API_LAYERS_SCRATCH_HPP
#define DEVICE_API_LAYERS_SCRATCH_HPP

#include "instance.hpp"

namespace device_api::layers {

class Scratch {
 public:
  Scratch(Instance &self, const KernelEntry *entry, const da_kernel_context *context);

  // What to pass down; the very context when it is NULL or too small to be copied.
  const da_kernel_context *context() const { return shown_; }

  Instance &instance() { return instance_; }
  const KernelEntry *entry() const { return entry_; }
  const da_kernel_context *above() const { return above_; }

  // An error that the host gave to the plugin in this launch: it may come back as the launch's own.
  da_error *served_error = nullptr;

 private:
  static da_error *serve(void *host_context, uint64_t bytes, void **out_handle, uint64_t *out_offset);

  Instance &instance_;
  const KernelEntry *entry_;
  const da_kernel_context *above_;
  const da_kernel_context *shown_;
  da_kernel_context copy_;
};

}  // namespace device_api::layers

#endif
