// The objects behind `da_error`. Their type is private and reached by a cast, because the reference CPU's
// kernels, which live in this library too, have a `da_error` of their own.
#include "error.hpp"

#include <unistd.h>

#include <atomic>

namespace simulated {
namespace {

// Made when the library is opened, never destroyed: an error may be read after static destructors ran.
Cause *const static_out_of_memory =
    new Cause{DA_STATUS_OUT_OF_MEMORY, "simulated: the host has no memory left for the plugin's own use", 0};

std::atomic<pid_t> owner{0};

const Cause *cause_of(const da_error *error) { return reinterpret_cast<const Cause *>(error); }

int32_t code(const da_error *error) { return cause_of(error)->code; }

const char *message(const da_error *error) { return cause_of(error)->message.c_str(); }

void destroy(da_error *error) {
  if (cause_of(error) != static_out_of_memory) delete cause_of(error);
}

}  // namespace

da_error *out_of_memory_error() noexcept { return reinterpret_cast<da_error *>(static_out_of_memory); }

da_error *make_error(int32_t code, const char *entry, const char *message) noexcept {
  try {
    return reinterpret_cast<da_error *>(
        new Cause{code, std::string("simulated: ") + entry + ": " + message, 0});
  } catch (...) {
    return out_of_memory_error();
  }
}

SharedCause make_cause(int32_t code, std::string message) {
  static std::atomic<uint64_t> happened{0};
  return std::make_shared<const Cause>(Cause{code, std::move(message), ++happened});
}

void adopt_process() { owner = getpid(); }

void check_process() {
  const pid_t known = owner;
  if (known != 0 && known != getpid()) {
    throw Failure(DA_STATUS_FAILED_PRECONDITION,
                  "the device was in use in process " + std::to_string(known) +
                      ", and this process is a fork of "
                      "it, where its streams do not exist; start processes with spawn or forkserver");
  }
}

void check_size(const char *type, uint64_t size, uint64_t smallest) {
  if (size >= smallest) return;
  throw Failure(DA_STATUS_INVALID_ARGUMENT, "struct_size " + std::to_string(size) +
                                                " is below the smallest " + type + ", " +
                                                std::to_string(smallest));
}

const da_error_interface error_interface = {sizeof(da_error_interface), nullptr, code, message, destroy};

}  // namespace simulated
