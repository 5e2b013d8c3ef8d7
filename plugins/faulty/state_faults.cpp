// Kernels that remember what they should not, or share what others use: plans, scratch memory, static
// buffers, and results that are not the same twice.
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "faults.hpp"

namespace faulty {
namespace {

FAULT(cpu, every_second_result_differs) {
  spoil("multiply", DA_FLOAT32, [](const Launch &launch) {
    static std::atomic<unsigned> calls{0};
    if (calls++ % 2 == 1 && count_of(launch.out()) > 1000) {
      *reinterpret_cast<uint32_t *>(address_of(launch.out(), 7)) ^= 1;
    }
  });
}

// The first input of a plan is copied at its first launch, and used again by the others.
FAULT(cpu, plan_keeps_the_values_of_its_first_launch) {
  stand_before("add", [](const Launch &launch) -> da_error * {
    static std::map<void *, std::string> kept;
    static std::mutex lock;
    if (launch.state == nullptr || !dense(launch.in())) return launch.run();
    std::lock_guard<std::mutex> guard(lock);
    const size_t bytes = static_cast<size_t>(count_of(launch.in()) * item_bytes(launch.in()));
    const char *const values = address_of(launch.in(), 0);
    const auto found = kept.try_emplace(launch.state, values, bytes).first;
    if (found->second.size() != bytes) found->second.assign(values, bytes);
    Altered first(launch.in());
    first.tensor.dl.data = found->second.data();
    first.tensor.dl.byte_offset = 0;
    return launch.run_on({&first.tensor, &launch.in(1)});
  });
}

// Forgets a state when the host releases it, as a state's address comes back.
std::mutex seen_lock;
std::map<void *, int> seen;
void (*good_release)(void *state);
void release_seen(void *state) {
  {
    std::lock_guard<std::mutex> guard(seen_lock);
    seen.erase(state);
  }
  good_release(state);
}
int launches_of(void *state) {
  std::lock_guard<std::mutex> guard(seen_lock);
  return seen[state]++;
}
void count_launches_of(const char *op) {
  good_release = kernel_of(op).release;
  kernel_of(op).release = release_seen;
}

FAULT(cpu, plan_runs_once) {
  stand_before("subtract", [](const Launch &launch) -> da_error * {
    if (launch.state != nullptr && launches_of(launch.state) > 0) return nullptr;
    return launch.run();
  });
  count_launches_of("subtract");
}

FAULT(cpu, does_nothing_without_a_plan) {
  stand_before("multiply", [](const Launch &launch) -> da_error * {
    return launch.state == nullptr ? nullptr : launch.run();
  });
}

FAULT(cpu, takes_for_granted_that_there_is_a_plan) {
  stand_before("maximum", [](const Launch &launch) -> da_error * {
    static_cast<void>(*static_cast<const volatile char *>(launch.state));
    return launch.run();
  });
}

FAULT(cpu, plan_writes_where_it_wrote_first) {
  stand_before("exp", [](const Launch &launch) -> da_error * {
    static std::map<void *, void *> outputs;
    if (launch.state == nullptr) return launch.run();
    if (launches_of(launch.state) == 0) outputs[launch.state] = launch.out().dl.data;
    Altered out(launch.out());
    out.tensor.dl.data = outputs[launch.state];
    return launch.run_on({&launch.in()}, {&out.tensor});
  });
  count_launches_of("exp");
}

FAULT(cpu, plan_adds_to_its_last_result) {
  stand_before("batch_matmul", [](const Launch &launch) -> da_error * {
    static std::map<void *, float> last;
    da_error *error = launch.run();
    if (error != nullptr || launch.state == nullptr || launch.dtype() != DA_FLOAT32) return error;
    const Elements<float> out(launch.out());
    if (launches_of(launch.state) > 0) out[0] += last[launch.state];
    last[launch.state] = out[0];
    return nullptr;
  });
  count_launches_of("batch_matmul");
}

// ---- scratch memory

// The host's scratch memory; its error when there is none.
da_error *scratch(const Launch &launch, uint64_t bytes, char **out) {
  void *handle = nullptr;
  uint64_t offset = 0;
  da_error *error = launch.context->scratch(launch.context->host_context, bytes, &handle, &offset);
  if (error == nullptr) *out = static_cast<char *>(handle) + offset;
  return error;
}

FAULT(cpu, takes_scratch_memory_for_zeros) {
  stand_before("reduce_sum", [](const Launch &launch) -> da_error * {
    char *memory = nullptr;
    da_error *error = scratch(launch, 64, &memory);
    if (error == nullptr) error = launch.run();
    if (error == nullptr && launch.dtype() == DA_INT32) {
      int32_t start;
      std::memcpy(&start, memory, 4);
      Elements<int32_t>(launch.out())[0] += start;
    }
    return error;
  });
}

FAULT(cpu, writes_past_its_scratch_memory) {
  stand_before("reduce_max", [](const Launch &launch) -> da_error * {
    char *memory = nullptr;
    da_error *error = scratch(launch, 64, &memory);
    if (error != nullptr) return error;
    std::memset(memory, 0, 65);
    return launch.run();
  });
}

FAULT(cpu, goes_on_without_scratch_memory) {
  stand_before("reduce_min", [](const Launch &launch) -> da_error * {
    char *memory = nullptr;
    return scratch(launch, 64, &memory) == nullptr ? launch.run() : nullptr;
  });
}

FAULT(cpu, destroys_the_error_of_the_host) {
  stand_before("reduce_prod", [](const Launch &launch) -> da_error * {
    char *memory = nullptr;
    da_error *error = scratch(launch, 64, &memory);
    if (error == nullptr) return launch.run();
    good.errors.destroy(error);
    return make_error(DA_STATUS_OUT_OF_MEMORY, "no scratch memory");
  });
}

// ---- threads

FAULT(cpu, shares_one_buffer_among_threads) {
  stand_before("maximum", [](const Launch &launch) -> da_error * {
    if (!dense(launch.out()) || count_of(launch.out()) < 1000) return launch.run();
    da_error *error = launch.run();
    char *const out = address_of(launch.out(), 0);
    const size_t bytes = static_cast<size_t>(count_of(launch.out()) * item_bytes(launch.out()));
    static char shared[1 << 20];
    if (error != nullptr || bytes > sizeof(shared)) return error;
    std::memcpy(shared, out, bytes);
    std::this_thread::yield();
    std::memcpy(out, shared, bytes);
    return nullptr;
  });
}

FAULT(cpu, keeps_its_attributes_in_a_static) {
  stand_before("argsort_last", [](const Launch &launch) {
    static const void *volatile attributes;
    attributes = launch.attributes;
    for (int i = 0; i < 20; ++i) std::this_thread::yield();
    Launch other = launch;
    other.attributes = attributes;
    return other.run();
  });
}

}  // namespace
}  // namespace faulty
