// What the fault layer is told to do, read from its text.
#ifndef DEVICE_API_LAYERS_FAULT_SPEC_HPP
#define DEVICE_API_LAYERS_FAULT_SPEC_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "generated/slots.hpp"

namespace device_api::layers {

enum class FaultAction { fail, delay, drop, shorten, flip, hide };

// One item: "memory.allocate:3:out_of_memory", "kernel.launch[add]:2+:flip", "hide:stream".
struct Fault {
  std::string text;
  Slot slot;
  std::string op;      // kernel slots: only this op; get_interface: the id to hide; "" for all
  uint64_t first = 1;  // of the calls that match, counted from 1
  uint64_t last = 1;   // inclusive
  FaultAction action = FaultAction::fail;
  int64_t value = 0;   // status code, milliseconds, or bytes that a short copy leaves out (0: half)
  uint64_t calls = 0;  // matching calls so far
  uint64_t done = 0;   // how often the action was taken
};

// Reads items with commas between. Returns what is wrong, "" when nothing is.
std::string parse_faults(const std::string &spec, std::vector<Fault> *out_faults);

}  // namespace device_api::layers

#endif
