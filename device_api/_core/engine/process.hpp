// Facts about the process: whether it is a forked child, and whether the interpreter is going away.
//
// Devices belong to the process that opened them. A fork is noticed by a counter that every child raises
// before it runs anything else, so that the check in the hot path is one load.
#ifndef DEVICE_API_CORE_PROCESS_HPP
#define DEVICE_API_CORE_PROCESS_HPP

#include <atomic>
#include <cstdint>

namespace device_api {

inline std::atomic<uint32_t> fork_generation{0};
inline std::atomic<bool> process_closing{false};

// Starts to count forks; a second call does nothing.
void watch_forks();

// From now on no plugin is called to give memory or states back: the end of the process does that.
inline void close_process() { process_closing.store(true); }

}  // namespace device_api

#endif
