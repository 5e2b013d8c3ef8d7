// Written by `python -m device_api.layers.generate` from the headers; do not edit.
// clang-format off
#ifndef DEVICE_API_LAYERS_INTERFACES_HPP
#define DEVICE_API_LAYERS_INTERFACES_HPP

namespace device_api::layers {

struct Instance;

const void *interpose_capture(Instance &self, const void *table);
const void *interpose_collective(Instance &self, const void *table);
const void *interpose_custom_op(Instance &self, const void *table);
const void *interpose_device(Instance &self, const void *table);
const void *interpose_kernel(Instance &self, const void *table);
const void *interpose_graph(Instance &self, const void *table);
const void *interpose_memory(Instance &self, const void *table);
const void *interpose_profiler(Instance &self, const void *table);
const void *interpose_random(Instance &self, const void *table);
const void *interpose_stream(Instance &self, const void *table);

struct InterfaceFacts {
  const char *id;
  const char *name;
  const void *(*interpose)(Instance &self, const void *table);
};
constexpr InterfaceFacts kInterfaceFacts[] = {
    {"device_api.capture", "capture", interpose_capture},
    {"device_api.collective", "collective", interpose_collective},
    {"device_api.custom_op", "custom_op", interpose_custom_op},
    {"device_api.device", "device", interpose_device},
    {"device_api.kernel", "kernel", interpose_kernel},
    {"device_api.graph", "graph", interpose_graph},
    {"device_api.memory", "memory", interpose_memory},
    {"device_api.profiler", "profiler", interpose_profiler},
    {"device_api.random", "random", interpose_random},
    {"device_api.stream", "stream", interpose_stream},
};

}  // namespace device_api::layers

#endif
