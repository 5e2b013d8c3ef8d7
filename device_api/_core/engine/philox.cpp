#include "philox.hpp"

namespace device_api {

namespace {

void philox_block(uint64_t seed, uint64_t block, uint32_t out[4]) {
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  uint32_t c0 = static_cast<uint32_t>(block), c1 = static_cast<uint32_t>(block >> 32), c2 = 0, c3 = 0;
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = UINT64_C(0xD2511F53) * c0;
    const uint64_t product1 = UINT64_C(0xCD9E8D57) * c2;
    const uint32_t next0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ key0;
    const uint32_t next2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ key1;
    c1 = static_cast<uint32_t>(product1);
    c3 = static_cast<uint32_t>(product0);
    c0 = next0;
    c2 = next2;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

}  // namespace

void philox_words(uint64_t seed, uint64_t offset, uint32_t *out, uint64_t count) {
  uint32_t words[4];
  for (uint64_t i = 0; i < count; ++i) {
    if (i % 4 == 0) philox_block(seed, offset + i / 4, words);
    out[i] = words[i % 4];
  }
}

}  // namespace device_api
