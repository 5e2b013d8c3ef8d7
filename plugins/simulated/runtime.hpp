// Everything that lives between `initialize` and `shutdown`, in one object. It is never destroyed: threads
// and handles may outlive their welcome, and must then meet an error instead of freed memory.
#ifndef SIMULATED_RUNTIME_HPP
#define SIMULATED_RUNTIME_HPP

#include <memory>
#include <vector>

#include "blocks.hpp"
#include "configuration.hpp"
#include "device.hpp"
#include "device_api/host.h"
#include "handles.hpp"
#include "profiler.hpp"
#include "scheduler.hpp"
#include "stream.hpp"

namespace simulated {

struct Runtime {
  Runtime(Configuration settings, const da_host *host);

  const Configuration configuration;
  const da_host *const host;
  std::vector<std::unique_ptr<Device>> devices;
  Blocks blocks;
  Recorder recorder;
  Scheduler scheduler;
  Handles<Stream> streams{"stream", 0x7100000000000000};
  Handles<Stream> wrapped{"wrapped stream", 0x7180000000000000};  // second handles of streams
  Handles<Event> events{"event", 0x7200000000000000};
  Handles<Capture> captures{"capture", 0x7300000000000000};
};

// Throws FAILED_PRECONDITION before `initialize` and after `shutdown`.
Runtime &runtime();
// NULL before `initialize` and after `shutdown`.
Runtime *runtime_or_null() noexcept;

da_error *initialize(const da_host *host);
da_error *shutdown();

}  // namespace simulated

#endif
