#include "host.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "process.hpp"

namespace device_api {

namespace {

constexpr size_t kLogCapacity = 1024;

struct Services {
  std::mutex mutex;
  std::vector<LogLine> lines;
  uint64_t dropped = 0;
  void (*notify)() = nullptr;
  std::unordered_map<const da_device *, Failure *> errors;
  // Lets a wait look without the lock: almost never is there an error.
  std::atomic<uint64_t> error_count{0};
};

Services &services() {
  static Services *const only = new Services;
  return *only;
}

void log(void *, int32_t level, const char *message) {
  Services &state = services();
  void (*notify)() = nullptr;
  {
    std::lock_guard<std::mutex> guard(state.mutex);
    if (state.lines.size() >= kLogCapacity) {
      ++state.dropped;
      return;
    }
    if (state.lines.empty()) notify = state.notify;
    state.lines.push_back(LogLine{level, message != nullptr ? message : ""});
  }
  if (notify != nullptr && !process_closing.load()) notify();
}

void report_async_error(void *, da_device *device, da_stream *, int32_t code, const char *message) {
  Services &state = services();
  std::string text = message != nullptr && message[0] != '\0' ? message : "the plugin gave no message";
  std::lock_guard<std::mutex> guard(state.mutex);
  // The first cause is the one that explains the others.
  if (state.errors.count(device) != 0) return;
  state.errors[device] = fail(code, "asynchronous work", std::move(text));
  state.error_count.fetch_add(1);
}

}  // namespace

const da_host *host_services() {
  static const da_host *const table = [] {
    da_host *made = new da_host{};
    made->struct_size = sizeof(da_host);
    made->abi_major = DA_ABI_MAJOR;
    made->abi_minor = DA_ABI_MINOR;
    made->log = log;
    made->report_async_error = report_async_error;
    return made;
  }();
  return table;
}

void set_log_notify(void (*notify)()) {
  Services &state = services();
  std::lock_guard<std::mutex> guard(state.mutex);
  state.notify = notify;
}

std::vector<LogLine> take_log(uint64_t *out_dropped) {
  Services &state = services();
  std::lock_guard<std::mutex> guard(state.mutex);
  *out_dropped = std::exchange(state.dropped, 0);
  return std::exchange(state.lines, {});
}

Failure *take_async_error(const da_device *device) {
  Services &state = services();
  if (state.error_count.load() == 0) return nullptr;
  std::lock_guard<std::mutex> guard(state.mutex);
  auto found = state.errors.find(device);
  if (found == state.errors.end()) return nullptr;
  Failure *failure = found->second;
  state.errors.erase(found);
  state.error_count.fetch_sub(1);
  return failure;
}

}  // namespace device_api
