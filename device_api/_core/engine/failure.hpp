// Failures inside the engine, and the translation of a plugin's errors into them.
//
// A plugin reports with an opaque da_error that only its own table can read and destroy. That object never
// travels: it is read, destroyed and turned into a Failure here, so no caller can leak it or lose its text.
#ifndef DEVICE_API_CORE_FAILURE_HPP
#define DEVICE_API_CORE_FAILURE_HPP

#include <cstdint>
#include <string>

#include "device_api/base.h"

namespace device_api {

// Codes of failures that the host itself finds; they lie outside the range of plugins (int32 >= 0).
enum HostCode : int32_t {
  kForked = -1,
  kRetired = -2,
  kMalformed = -3,    // the plugin returned something that cannot be used
  kThrew = -4,        // a C++ exception crossed the border
  kNotReplayed = -5,  // recorded work that has not run
};

struct Failure {
  int32_t code;         // enum da_status, a vendor code, or HostCode
  std::string entry;    // the function that failed
  std::string message;  // the plugin's own words, never empty
  int64_t step = -1;    // of a program, when one failed
};

// Reads and destroys `error`; nullptr for nullptr. The caller owns the result.
Failure *translate(const da_error_interface *errors, da_error *error, const char *entry);

Failure *fail(int32_t code, const char *entry, std::string message);

// What a host function gives to a plugin when it fails: a plugin returns it unchanged, and the runner
// recognises it by address.
da_error *host_error();

}  // namespace device_api

#endif
