// The lists inside an interface, kernels, graph passes and custom ops, as a layer shows them.
#ifndef DEVICE_API_LAYERS_KERNELS_HPP
#define DEVICE_API_LAYERS_KERNELS_HPP

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "generated/slots.hpp"

namespace device_api::layers {

struct Instance;

// One kernel of a list. The host sees `shown`, which is also the address it passes back to prepare and
// supports.
struct KernelEntry {
  da_kernel shown;
  Instance *instance;
  const da_kernel *origin;  // the plugin's own, passed down
  da_kernel below;          // a copy of full size
  uint64_t index;
};

struct PassEntry {
  da_pass shown;
  Instance *instance;
  const da_pass *origin;
  da_pass below;
  uint64_t index;
};

struct CustomOpEntry {
  da_custom_op shown;
  Instance *instance;
  const da_custom_op *origin;
  da_custom_op below;
  uint64_t index;
};

// A list of the plugin, and what a layer shows instead. Lists live until the instance is released.
template <class Entry, class Item>
struct Book {
  const Item *first;
  uint64_t count;
  uint64_t stride;
  std::vector<Entry> entries;
};

struct KernelBook {
  std::list<Book<KernelEntry, da_kernel>> kernels;
  std::list<Book<PassEntry, da_pass>> passes;
  std::list<Book<CustomOpEntry, da_custom_op>> custom_ops;
};

// Puts the layer's own kernels into a list that kernel.list has filled; an error when there are too many.
da_error *replace_kernels(Instance &self, KernelList &arguments);
void replace_passes(Instance &self, GraphPasses &arguments);
void replace_custom_ops(Instance &self, CustomOpList &arguments);
// Forgets the lists of an instance.
void release_books(Instance &self);

}  // namespace device_api::layers

#endif
