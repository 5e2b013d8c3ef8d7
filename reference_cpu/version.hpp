// The plugin's version, said once; cpu.json repeats it and a test compares them.
#ifndef REFERENCE_CPU_VERSION_HPP
#define REFERENCE_CPU_VERSION_HPP

namespace reference_cpu {
inline constexpr const char *kVersion = "0.9.0";
}

#endif
