#include "host.hpp"

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "process.hpp"

namespace device_api {

namespace {

constexpr size_t kLogCapacity = 1024;

struct Report {
  const da_device *device;
  const da_stream *stream;
  Failure *failure;
};

struct Services {
  std::mutex mutex;
  std::vector<LogLine> lines;
  uint64_t dropped = 0;
  void (*notify)() = nullptr;
  std::vector<Report> errors;
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

void report_async_error(void *, da_device *device, da_stream *stream, int32_t code, const char *message) {
  Services &state = services();
  std::string text = message != nullptr && message[0] != '\0' ? message : "the plugin gave no message";
  std::lock_guard<std::mutex> guard(state.mutex);
  // The first cause is the one that explains the others.
  for (const Report &known : state.errors) {
    if (known.device == device && known.stream == stream) return;
  }
  state.errors.push_back(Report{device, stream, fail(code, "asynchronous work", std::move(text))});
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

Failure *take_async_error(const da_device *device, const da_stream *stream) {
  Services &state = services();
  if (state.error_count.load() == 0) return nullptr;
  std::lock_guard<std::mutex> guard(state.mutex);
  for (auto it = state.errors.begin(); it != state.errors.end(); ++it) {
    if (it->device != device) continue;
    if (stream != nullptr && it->stream != nullptr && it->stream != stream) continue;
    Failure *failure = it->failure;
    state.errors.erase(it);
    state.error_count.fetch_sub(1);
    return failure;
  }
  return nullptr;
}

}  // namespace device_api
