// Written by `python -m device_api.layers.generate` from the headers; do not edit.
// clang-format off

#include "../interpose.hpp"

namespace device_api::layers {
namespace {

da_error *random_bits(Instance &self, da_device *device, da_stream *stream, uint64_t seed, uint64_t offset, void *handle, uint64_t byte_offset, uint64_t count) {
  RandomBits arguments{{}, device, stream, seed, offset, handle, byte_offset, count};
  Call call(self, Slot::random_bits, &arguments, &arguments.result);
  if (self.layer->before(call)) arguments.result = self.below.random.bits(arguments.device, arguments.stream, arguments.seed, arguments.offset, arguments.handle, arguments.byte_offset, arguments.count);
  self.layer->after(call);
  return arguments.result;
}

template <size_t N>
struct Shims {
  static da_error *bits(da_device *device, da_stream *stream, uint64_t seed, uint64_t offset, void *handle, uint64_t byte_offset, uint64_t count) { return random_bits(*instances[N], device, stream, seed, offset, handle, byte_offset, count); }
  static void fill(const da_random_interface &below, da_random_interface *above) {
    above->bits = below.bits == nullptr ? nullptr : bits;
  }
};

}  // namespace

const void *interpose_random(Instance &self, const void *table) {
  return interpose_table<Shims>(self, static_cast<const da_random_interface *>(table), &self.below.random, &self.above.random);
}

}  // namespace device_api::layers
