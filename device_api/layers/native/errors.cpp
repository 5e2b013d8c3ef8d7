// Errors that layers make themselves. Any layer's table may be asked about one, since layers stand on layers.
#include <algorithm>
#include <cctype>
#include <mutex>
#include <unordered_set>

#include "instance.hpp"

namespace device_api::layers {

namespace {

struct OwnError {
  int32_t code;
  std::string message;
};

std::mutex own_mutex;
std::unordered_set<const void *> own_errors;
std::atomic<size_t> own_count{0};

constexpr const char *kStatusNames[] = {
    "INVALID", "UNIMPLEMENTED", "INVALID_ARGUMENT", "OUT_OF_MEMORY", "UNAVAILABLE",        "INTERNAL",
    "TIMEOUT", "ABORTED",       "DEVICE_LOST",      "OUT_OF_RANGE",  "FAILED_PRECONDITION"};
constexpr int32_t kStatusCount = sizeof(kStatusNames) / sizeof(kStatusNames[0]);

}  // namespace

da_error *make_error(int32_t code, std::string message) {
  OwnError *error = new OwnError{code, std::move(message)};
  std::lock_guard<std::mutex> guard(own_mutex);
  own_errors.insert(error);
  own_count.store(own_errors.size());
  return reinterpret_cast<da_error *>(error);
}

bool is_own_error(const da_error *error) {
  if (own_count.load() == 0) return false;
  std::lock_guard<std::mutex> guard(own_mutex);
  return own_errors.count(error) != 0;
}

int32_t own_code(const da_error *error) { return reinterpret_cast<const OwnError *>(error)->code; }

const char *own_message(const da_error *error) {
  return reinterpret_cast<const OwnError *>(error)->message.c_str();
}

void destroy_own(da_error *error) {
  {
    std::lock_guard<std::mutex> guard(own_mutex);
    own_errors.erase(error);
    own_count.store(own_errors.size());
  }
  delete reinterpret_cast<OwnError *>(error);
}

std::string status_name(int32_t code) {
  return code >= 0 && code < kStatusCount ? kStatusNames[code] : "status " + std::to_string(code);
}

int32_t status_code(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  for (int32_t code = 1; code < kStatusCount; ++code)
    if (name == kStatusNames[code]) return code;
  return 0;
}

}  // namespace device_api::layers
