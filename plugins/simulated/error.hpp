// Errors of the plugin: the exception that carries a failure through C++ code, the shared cause that work
// leaves on streams and events, and the wrapper that lets no exception cross the border. Knows nothing of
// devices.
#ifndef SIMULATED_ERROR_HPP
#define SIMULATED_ERROR_HPP

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "device_api/base.h"

namespace simulated {

class Failure : public std::exception {
 public:
  Failure(int32_t code, std::string message) : code_(code), message_(std::move(message)) {}
  int32_t code() const { return code_; }
  const char *what() const noexcept override { return message_.c_str(); }

 private:
  int32_t code_;
  std::string message_;
};

// Why work failed. Whoever waits for that work holds the same object, so the first cause reaches all of them.
struct Cause {
  int32_t code;
  std::string message;
  uint64_t order;  // causes count up in the order in which they happened
};
using SharedCause = std::shared_ptr<const Cause>;
SharedCause make_cause(int32_t code, std::string message);

// A new error owned by the caller; the static out-of-memory error when there is no memory for it.
da_error *make_error(int32_t code, const char *entry, const char *message) noexcept;
da_error *out_of_memory_error() noexcept;

extern const da_error_interface error_interface;

// Throws when the process is a fork of the one that initialised the plugin: its threads do not exist here.
void check_process();
// Notes that this process is the one that uses the plugin.
void adopt_process();

// Runs `body` and turns whatever it throws into an error that names `entry`.
template <class Body>
da_error *guarded(const char *entry, Body &&body) noexcept {
  try {
    check_process();
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

// Throws INVALID_ARGUMENT when a struct of the host is smaller than it was in its first release.
void check_size(const char *type, uint64_t size, uint64_t smallest);

}  // namespace simulated

#endif
