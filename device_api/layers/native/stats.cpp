// The layer that counts calls and their time.
#include <atomic>

#include "json.hpp"
#include "layer.hpp"

namespace device_api::layers {

namespace {

// Counters of one slot; on a cache line of its own, because threads use different slots.
struct alignas(64) Counter {
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> failures{0};
  std::atomic<uint64_t> total_ns{0};
  std::atomic<uint64_t> greatest_ns{0};
};

class Stats final : public Layer {
 public:
  using Layer::Layer;

  std::string configure(const Options &options) override {
    return options.empty() ? "" : "stats takes no option, not " + options.begin()->first;
  }

  bool before(Call &call) override {
    call.start = now();
    return true;
  }

  void after(Call &call) override {
    const uint64_t duration = now() - call.start;
    Counter &counter = counters_[static_cast<uint32_t>(call.slot)];
    counter.calls.fetch_add(1, std::memory_order_relaxed);
    counter.total_ns.fetch_add(duration, std::memory_order_relaxed);
    if (call.failed()) counter.failures.fetch_add(1, std::memory_order_relaxed);
    uint64_t greatest = counter.greatest_ns.load(std::memory_order_relaxed);
    while (duration > greatest &&
           !counter.greatest_ns.compare_exchange_weak(greatest, duration, std::memory_order_relaxed)) {
    }
  }

  void report(Json *out) override {
    out->begin_array();
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      const Counter &counter = counters_[slot];
      if (counter.calls == 0) continue;
      out->begin_object();
      out->text("slot", kSlotFacts[slot].name);
      out->number("calls", counter.calls.load());
      out->number("failures", counter.failures.load());
      out->number("total_ns", counter.total_ns.load());
      out->number("max_ns", counter.greatest_ns.load());
      out->end_object();
    }
    out->end_array();
  }

  void reset() override {
    for (Counter &counter : counters_) {
      counter.calls = 0;
      counter.failures = 0;
      counter.total_ns = 0;
      counter.greatest_ns = 0;
    }
  }

 private:
  Counter counters_[kSlots];
};

}  // namespace

std::unique_ptr<Layer> make_stats(Instance &instance) { return std::make_unique<Stats>(instance); }

}  // namespace device_api::layers
