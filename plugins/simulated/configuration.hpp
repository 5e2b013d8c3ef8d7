// What the environment asks the simulated accelerator to be. Read once per initialisation; README.md lists
// the variables. Knows nothing of how the rest acts on it.
#ifndef SIMULATED_CONFIGURATION_HPP
#define SIMULATED_CONFIGURATION_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "device_api/base.h"

namespace simulated {

// Which of a sequence of calls fails: the n-th, or the n-th and all that follow. 0: none.
struct FailurePoint {
  uint64_t first = 0;
  bool onwards = false;
  bool hits(uint64_t number) const { return first != 0 && (onwards ? number >= first : number == first); }
};

struct Configuration {
  uint32_t devices = 2;
  uint64_t memory = uint64_t{256} << 20;  // bytes of each device
  bool lazy = true;
  uint64_t seed = 0;
  uint64_t max_delay_ns = 200'000;
  bool streams = true;
  bool strides = true;
  bool in_place = true;
  uint32_t max_rank = DA_MAX_RANK;
  uint64_t dtypes = 0;                  // DA_DTYPE_BIT set
  std::vector<std::string> hidden_ops;  // patterns of the shell
  FailurePoint fail_allocation, fail_launch, lose_device;
};

// Throws Failure naming the variable, its value and what it may be.
Configuration read_configuration();

// Just SIM_STREAMS: asked before `initialize`, where a wrong value counts as set.
bool streams_configured();

}  // namespace simulated

#endif
