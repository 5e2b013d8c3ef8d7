// The plugin's version, said once; sim.json repeats it and a test compares them.
#ifndef SIMULATED_VERSION_HPP
#define SIMULATED_VERSION_HPP

namespace simulated {
inline constexpr const char *kVersion = "0.9.0";
}

#endif
