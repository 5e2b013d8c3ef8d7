// What stands in a stream's queue, and the marks that events leave there. Plain data; the scheduler gives it
// life.
#ifndef SIMULATED_WORK_HPP
#define SIMULATED_WORK_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "blocks.hpp"
#include "device_api/stream.h"
#include "error.hpp"

namespace simulated {

struct Stream;
struct Capture;

// One recording of an event: a place in a stream. All fields but the first three change under the scheduler's
// lock.
struct Mark {
  std::shared_ptr<Stream> stream;
  uint64_t number = 0;               // of the item in that stream
  const Capture *capture = nullptr;  // recorded while that capture ran: nobody outside may wait for it
  bool reached = false;
  uint64_t time_ns = 0;
  SharedCause cause;
  uint32_t looks = 0;  // how often somebody asked without waiting
};
using SharedMark = std::shared_ptr<Mark>;

// One launch, copy or set. It can run many times, because a capture replays it, and it owns all that it needs
// except the host's side of a copy, which is read and written when the work runs.
struct Work {
  int32_t activity = 0;  // enum da_activity_kind
  std::string name;
  uint64_t bytes = 0;
  uint64_t correlation = 0;
  std::vector<SharedBlock> blocks;
  std::function<void()> body;
};
using SharedWork = std::shared_ptr<const Work>;

// Exactly one of these is set.
struct Item {
  SharedWork work;
  SharedMark reach;
  SharedMark await;
  std::unique_ptr<da_callback> callback;
};

}  // namespace simulated

#endif
