// Errors of the plugin: the object behind `da_error`, the exception that carries one through C++ code, and
// the wrapper that lets no exception cross the border. Knows nothing of kernels or devices.
#ifndef REFERENCE_CPU_ERROR_HPP
#define REFERENCE_CPU_ERROR_HPP

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "device_api/base.h"

namespace reference_cpu {

// What a kernel throws: a status of base.h and the words for it.
class Failure : public std::exception {
 public:
  Failure(int32_t code, std::string message) : code_(code), message_(std::move(message)) {}
  int32_t code() const { return code_; }
  const char *what() const noexcept override { return message_.c_str(); }

 private:
  int32_t code_;
  std::string message_;
};

// A new error owned by the caller; the static out-of-memory error when there is no memory for it.
da_error *make_error(int32_t code, const char *entry, const char *message) noexcept;
da_error *out_of_memory_error() noexcept;

extern const da_error_interface error_interface;

// The attributes of an op, as its own header sees them.
template <class Attributes>
const Attributes &attributes_of(const void *given) {
  const Attributes *attributes = static_cast<const Attributes *>(given);
  if (attributes == nullptr || attributes->struct_size < sizeof(Attributes)) {
    throw Failure(DA_STATUS_INVALID_ARGUMENT, "the attributes are absent, or their struct_size is too small");
  }
  return *attributes;
}

// Runs `body` and turns whatever it throws into an error that names `entry`.
template <class Body>
da_error *guarded(const char *entry, Body &&body) noexcept {
  try {
    body();
    return nullptr;
  } catch (const Failure &failure) {
    return make_error(failure.code(), entry, failure.what());
  } catch (const std::bad_alloc &) {
    return out_of_memory_error();
  } catch (const std::exception &problem) {
    return make_error(DA_STATUS_INTERNAL, entry, problem.what());
  } catch (...) {
    return make_error(DA_STATUS_INTERNAL, entry, "an exception of unknown type");
  }
}

}  // namespace reference_cpu

#endif
