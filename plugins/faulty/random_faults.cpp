// Random bits that are not those of the published generator, or not where they should be.
#include <cstring>

#include "faults.hpp"

namespace faulty {
namespace {

da_error *bits(uint64_t seed, uint64_t offset, da_device *device, da_stream *stream, void *handle,
               uint64_t byte_offset, uint64_t count) {
  return good.random.bits(device, stream, seed, offset, handle, byte_offset, count);
}

#define BITS                                                                                             \
  [](da_device *device, da_stream *stream, uint64_t seed, uint64_t offset, void *handle, uint64_t start, \
     uint64_t count)                                                                                     \
      ->da_error *

FAULT(cpu, random_ignores_the_seed) {
  given.random.bits = BITS {
    (void)seed;
    return bits(0, offset, device, stream, handle, start, count);
  };
}
FAULT(cpu, random_ignores_the_offset) {
  given.random.bits = BITS {
    (void)offset;
    return bits(seed, 0, device, stream, handle, start, count);
  };
}
FAULT(cpu, random_takes_seeds_of_32_bits) {
  given.random.bits = BITS {
    return bits(static_cast<uint32_t>(seed), offset, device, stream, handle, start, count);
  };
}
FAULT(cpu, random_takes_offsets_of_32_bits) {
  given.random.bits = BITS {
    return bits(seed, static_cast<uint32_t>(offset), device, stream, handle, start, count);
  };
}
FAULT(cpu, random_counts_offsets_in_words) {
  given.random.bits = BITS { return bits(seed, offset / 4, device, stream, handle, start, count); };
}
FAULT(cpu, random_counter_does_not_carry) {
  given.random.bits = BITS {
    const uint64_t blocks_left = (UINT64_C(1) << 32) - (offset & 0xFFFFFFFF);
    if (count <= blocks_left * 4) return bits(seed, offset, device, stream, handle, start, count);
    da_error *error = bits(seed, offset, device, stream, handle, start, blocks_left * 4);
    if (error != nullptr) return error;
    return bits(seed, offset & ~UINT64_C(0xFFFFFFFF), device, stream, handle, start + blocks_left * 16,
                count - blocks_left * 4);
  };
}
FAULT(cpu, random_goes_on_from_the_last_call) {
  given.random.bits = BITS {
    static uint64_t moved;
    moved += count;
    return bits(seed, offset + moved - count, device, stream, handle, start, count);
  };
}
FAULT(cpu, random_writes_whole_blocks) {
  given.random.bits = BITS { return bits(seed, offset, device, stream, handle, start, (count + 3) / 4 * 4); };
}
FAULT(cpu, random_ignores_where_to_write) {
  given.random.bits = BITS {
    (void)start;
    return bits(seed, offset, device, stream, handle, 0, count);
  };
}
FAULT(cpu, random_swaps_words) {
  given.random.bits = BITS {
    da_error *error = bits(seed, offset, device, stream, handle, start, count);
    uint32_t *const words = reinterpret_cast<uint32_t *>(static_cast<char *>(handle) + start);
    for (uint64_t i = 0; i + 1 < count; i += 2) {
      const uint32_t word = words[i];
      words[i] = words[i + 1];
      words[i + 1] = word;
    }
    return error;
  };
}
FAULT(cpu, random_words_are_of_31_bits) {
  given.random.bits = BITS {
    da_error *error = bits(seed, offset, device, stream, handle, start, count);
    uint32_t *const words = reinterpret_cast<uint32_t *>(static_cast<char *>(handle) + start);
    for (uint64_t i = 0; i < count; ++i) words[i] &= 0x7FFFFFFF;
    return error;
  };
}
FAULT(cpu, random_threads_start_alike) {
  given.random.bits = BITS {
    const uint64_t piece = 400'000;
    for (uint64_t done = 0; done < count; done += piece) {
      const uint64_t words = count - done < piece ? count - done : piece;
      da_error *error = bits(seed, offset, device, stream, handle, start + done * 4, words);
      if (error != nullptr) return error;
    }
    return nullptr;
  };
}
FAULT(simulated, random_ignores_its_stream) {
  given.random.bits = BITS {
    // A hidden stream: nobody waits for it.
    static da_stream *hidden = nullptr;
    if (stream == nullptr) return bits(seed, offset, device, stream, handle, start, count);
    if (hidden == nullptr) {
      da_error *error = good.stream.create(device, 0, &hidden);
      if (error != nullptr) return error;
    }
    return bits(seed, offset, device, hidden, handle, start, count);
  };
}

}  // namespace
}  // namespace faulty
