// Philox 4x32-10 (Salmon et al., SC 2011), block by block: each block depends on its counter alone, so
// threads may share the work in any way. random.h says which counter a word comes from.
#include "random.hpp"

#include <cstring>

#include "error.hpp"
#include "pool.hpp"

namespace reference_cpu {
namespace {

constexpr uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
constexpr uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
constexpr int kRounds = 10;
constexpr int64_t kWordsPerBlock = 4;
constexpr int64_t kBlocksPerPiece = 16384;

struct Block {
  uint32_t words[kWordsPerBlock];
};

Block philox(uint64_t seed, uint64_t counter) {
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  uint32_t c0 = static_cast<uint32_t>(counter), c1 = static_cast<uint32_t>(counter >> 32), c2 = 0, c3 = 0;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t product0 = uint64_t{kMultiplier0} * c0, product1 = uint64_t{kMultiplier1} * c2;
    const uint32_t next0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ key0;
    const uint32_t next2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ key1;
    c1 = static_cast<uint32_t>(product1);
    c3 = static_cast<uint32_t>(product0);
    c0 = next0;
    c2 = next2;
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return {{c0, c1, c2, c3}};
}

da_error *bits(da_device *, da_stream *, uint64_t seed, uint64_t offset, void *handle, uint64_t byte_offset,
               uint64_t count) {
  return guarded("bits", [&] {
    char *out = static_cast<char *>(handle) + byte_offset;
    const int64_t words = static_cast<int64_t>(count);
    const int64_t blocks = words / kWordsPerBlock + (words % kWordsPerBlock != 0);
    parallel_for(blocks, kBlocksPerPiece, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        const Block made = philox(seed, offset + static_cast<uint64_t>(block));
        const int64_t first = block * kWordsPerBlock;
        const int64_t kept = words - first < kWordsPerBlock ? words - first : kWordsPerBlock;
        std::memcpy(out + first * 4, made.words, static_cast<size_t>(kept) * 4);
      }
    });
  });
}

}  // namespace

const da_random_interface random_interface = {sizeof(da_random_interface), nullptr,
                                              DA_RANDOM_INTERFACE_VERSION, 0, bits};

}  // namespace reference_cpu
