// Plugins that start, end or live badly: initialize, shutdown, the host's table, and the end of the process.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "faults.hpp"

namespace faulty {
namespace {

const da_host *the_host;

FAULT(cpu, crashes_at_start) {
  given.plugin.initialize = [](const da_host *) -> da_error * { std::abort(); };
}
FAULT(cpu, throws_at_start) {
  given.plugin.initialize = [](const da_host *) -> da_error * { throw std::runtime_error("no driver"); };
}
FAULT(cpu, exits_at_start) {
  given.plugin.initialize = [](const da_host *) -> da_error * { std::exit(0); };
}
FAULT(cpu, hangs_at_start) {
  given.plugin.initialize = [](const da_host *) -> da_error * {
    for (;;) usleep(1000);
  };
}
FAULT(cpu, fails_at_start) {
  given.plugin.initialize = [](const da_host *) -> da_error * {
    return make_error(DA_STATUS_INTERNAL, "error 999");
  };
}
FAULT(cpu, wants_hosts_of_its_own_size) {
  given.plugin.initialize = [](const da_host *host) -> da_error * {
    if (host->struct_size != sizeof(da_host)) return make_error(DA_STATUS_INVALID_ARGUMENT, "unknown host");
    return good.plugin.initialize(host);
  };
}
FAULT(cpu, needs_the_newest_host) {
  given.plugin.initialize = [](const da_host *host) -> da_error * {
    if (host->abi_minor > DA_ABI_MINOR) return make_error(DA_STATUS_INVALID_ARGUMENT, "host is too new");
    return good.plugin.initialize(host);
  };
}
FAULT(cpu, calls_services_that_may_be_absent) {
  given.plugin.initialize = [](const da_host *host) -> da_error * {
    host->trace_end(host->context, host->trace_begin(host->context, "initialize"));
    return good.plugin.initialize(host);
  };
}
FAULT(cpu, second_shutdown_aborts) {
  given.plugin.shutdown = []() -> da_error * {
    static std::atomic<int> calls{0};
    if (calls++ > 0) std::abort();
    return good.plugin.shutdown();
  };
}
FAULT(cpu, second_shutdown_is_an_error) {
  given.plugin.shutdown = []() -> da_error * {
    static std::atomic<int> calls{0};
    return calls++ > 0 ? make_error(DA_STATUS_FAILED_PRECONDITION, "not started") : good.plugin.shutdown();
  };
}
FAULT(cpu, shutdown_waits_for_ever_for_live_memory) {
  static std::atomic<int> alive{0};
  given.memory.allocate = [](da_device *device, int32_t kind, uint64_t bytes, void **out) -> da_error * {
    ++alive;
    return good.memory.allocate(device, kind, bytes, out);
  };
  given.memory.free = [](da_device *device, int32_t kind, void *handle) -> da_error * {
    --alive;
    return good.memory.free(device, kind, handle);
  };
  given.plugin.shutdown = []() -> da_error * {
    while (alive > 0) usleep(1000);
    return good.plugin.shutdown();
  };
}
FAULT(cpu, shutdown_asserts_that_nothing_is_alive) {
  static std::atomic<int> streams{0};
  given.stream.create = [](da_device *device, int32_t priority, da_stream **out) -> da_error * {
    ++streams;
    return good.stream.create(device, priority, out);
  };
  given.plugin.shutdown = []() -> da_error * {
    if (streams > 0) std::abort();
    return good.plugin.shutdown();
  };
}
FAULT(cpu, shutdown_throws) {
  given.plugin.shutdown = []() -> da_error * { throw std::runtime_error("driver shutting down"); };
}
FAULT(cpu, crashes_when_the_process_ends) {
  std::atexit([] { std::abort(); });
}
FAULT(cpu, changes_the_status_of_the_process) {
  std::atexit([] { _exit(0); });
}
FAULT(cpu, hangs_when_the_process_ends) {
  std::atexit([] {
    for (;;) usleep(1000);
  });
}
FAULT(cpu, logs_after_shutdown) {
  given.plugin.initialize = [](const da_host *host) -> da_error * {
    the_host = host;
    return good.plugin.initialize(host);
  };
  given.plugin.shutdown = []() -> da_error * {
    da_error *error = good.plugin.shutdown();
    // A thread of the plugin says goodbye when it is told that all is over.
    std::thread([] {
      usleep(50'000);
      the_host->log(the_host->context, DA_LOG_INFO, "goodbye");
    }).detach();
    return error;
  };
}
FAULT(cpu, logs_without_end) {
  given.memory.allocate = [](da_device *device, int32_t kind, uint64_t bytes, void **out) -> da_error * {
    const std::string line(1000, 'x');
    for (int i = 0; i < 200; ++i) std::puts(line.c_str());
    std::fflush(stdout);
    return good.memory.allocate(device, kind, bytes, out);
  };
}

}  // namespace
}  // namespace faulty
