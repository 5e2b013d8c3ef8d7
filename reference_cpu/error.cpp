// The objects behind `da_error`. One of them is static, so that running out of memory needs no memory.
#include "error.hpp"

struct da_error {
  int32_t code;
  std::string message;
};

namespace reference_cpu {
namespace {

// Made when the library is opened, never destroyed: an error may be read after static destructors ran.
da_error *const static_out_of_memory = new da_error{
    DA_STATUS_OUT_OF_MEMORY, "reference_cpu: the host has no memory left for the plugin's own use"};

int32_t code(const da_error *error) { return error->code; }

const char *message(const da_error *error) { return error->message.c_str(); }

void destroy(da_error *error) {
  if (error != static_out_of_memory) delete error;
}

}  // namespace

da_error *out_of_memory_error() noexcept { return static_out_of_memory; }

da_error *make_error(int32_t code, const char *entry, const char *message) noexcept {
  try {
    return new da_error{code, std::string("reference_cpu: ") + entry + ": " + message};
  } catch (...) {
    return static_out_of_memory;
  }
}

const da_error_interface error_interface = {sizeof(da_error_interface), nullptr, code, message, destroy};

}  // namespace reference_cpu
