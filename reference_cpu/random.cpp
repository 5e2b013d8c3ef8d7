// Philox 4x32-10 (Salmon et al., SC 2011), some blocks at a time: each block depends on its counter alone, so
// threads may share the work in any way. random.h says which counter a word comes from.
#include "random.hpp"

#include <algorithm>
#include <cstring>

#include "error.hpp"
#include "loops.hpp"
#include "pool.hpp"

namespace reference_cpu {
namespace {

constexpr uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
constexpr uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
constexpr int kRounds = 10;
constexpr int64_t kWordsPerBlock = 4;
constexpr int kTogether = 64;  // blocks that are made at once; loops over fewer are unrolled, not vectorised
constexpr int64_t kBlocksPerPiece = 256 * kTogether;

// What kTogether neighbouring blocks hold, the words of each block side by side: each word of the state is
// kept for all blocks at once, so that the rounds vectorise.
REFERENCE_CPU_CLONES void philox(uint64_t seed, uint64_t counter, uint32_t *words) {
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  uint32_t c0[kTogether], c1[kTogether], c2[kTogether] = {}, c3[kTogether] = {};
  for (int i = 0; i < kTogether; ++i) {
    const uint64_t block = counter + static_cast<uint64_t>(i);
    c0[i] = static_cast<uint32_t>(block);
    c1[i] = static_cast<uint32_t>(block >> 32);
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kTogether; ++i) {
      const uint64_t product0 = uint64_t{kMultiplier0} * c0[i], product1 = uint64_t{kMultiplier1} * c2[i];
      c0[i] = static_cast<uint32_t>(product1 >> 32) ^ c1[i] ^ key0;
      c2[i] = static_cast<uint32_t>(product0 >> 32) ^ c3[i] ^ key1;
      c1[i] = static_cast<uint32_t>(product1);
      c3[i] = static_cast<uint32_t>(product0);
    }
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  for (int i = 0; i < kTogether; ++i) {
    words[kWordsPerBlock * i + 0] = c0[i];
    words[kWordsPerBlock * i + 1] = c1[i];
    words[kWordsPerBlock * i + 2] = c2[i];
    words[kWordsPerBlock * i + 3] = c3[i];
  }
}

da_error *bits(da_device *, da_stream *, uint64_t seed, uint64_t offset, void *handle, uint64_t byte_offset,
               uint64_t count) {
  return guarded("bits", [&] {
    char *out = static_cast<char *>(handle) + byte_offset;
    const int64_t words = static_cast<int64_t>(count);
    const int64_t blocks = words / kWordsPerBlock + (words % kWordsPerBlock != 0);
    parallel_for(blocks, kBlocksPerPiece, [&](int64_t begin, int64_t end) {
      alignas(64) uint32_t made[kTogether * kWordsPerBlock];
      for (int64_t block = begin; block < end; block += kTogether) {
        philox(seed, offset + static_cast<uint64_t>(block), made);
        const int64_t first = block * kWordsPerBlock;
        const int64_t kept = std::min<int64_t>(kTogether * kWordsPerBlock, words - first);
        std::memcpy(out + first * 4, made, static_cast<size_t>(kept) * 4);
      }
    });
  });
}

}  // namespace

const da_random_interface random_interface = {sizeof(da_random_interface), nullptr,
                                              DA_RANDOM_INTERFACE_VERSION, 0, bits};

}  // namespace reference_cpu
