// Random bits come from the reference CPU's generator, on the stream.
#include "random.hpp"

#include "device_api/profiler.h"
#include "error.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "reference_cpu/random.hpp"
#include "runtime.hpp"

namespace simulated {
namespace {

da_error *bits(da_device *handle, da_stream *stream, uint64_t seed, uint64_t offset, void *memory,
               uint64_t byte_offset, uint64_t count) {
  return guarded("bits", [&] {
    Device &device = device_of(handle);
    if (count == 0) return;
    if (count > UINT64_MAX / 4) {
      throw Failure(DA_STATUS_OUT_OF_RANGE, std::to_string(count) + " words are more than memory can hold");
    }
    const Piece piece = runtime().blocks.device_piece(&device, memory, byte_offset, count * 4, "random bits");
    Work work;
    work.activity = DA_ACTIVITY_KERNEL;
    work.name = "random_bits";
    work.bytes = count * 4;
    work.blocks.push_back(piece.block);
    work.body = [=] {
      throw_if(reference_cpu::random_interface.bits(nullptr, nullptr, seed, offset, piece.address, 0, count));
    };
    enqueue(device, stream, std::move(work));
  });
}

}  // namespace

const da_random_interface random_interface = {sizeof(da_random_interface), nullptr,
                                              DA_RANDOM_INTERFACE_VERSION, 0, bits};

}  // namespace simulated
