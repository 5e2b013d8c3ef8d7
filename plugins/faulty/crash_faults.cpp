// Kernels that take the process with them, or never come back.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "faults.hpp"

namespace faulty {
namespace {

FAULT(cpu, crashes) {
  stand_before("sqrt", [](const Launch &) -> da_error * {
    volatile int *volatile nowhere = nullptr;
    *nowhere = 1;
    return nullptr;
  });
}
FAULT(cpu, hangs) {
  stand_before("sqrt", [](const Launch &) -> da_error * {
    for (;;) usleep(1000);
  });
}
FAULT(cpu, exits_quietly) {
  stand_before("sqrt", [](const Launch &) -> da_error * { std::exit(0); });
}
FAULT(cpu, aborts) {
  stand_before("sqrt", [](const Launch &) -> da_error * { std::abort(); });
}
FAULT(cpu, throws_across_the_border) {
  stand_before("sqrt", [](const Launch &) -> da_error * { throw std::runtime_error("nobody catches this"); });
}
FAULT(cpu, overflows_its_stack) {
  stand_before("sqrt", [](const Launch &launch) -> da_error * {
    struct Recursion {
      static int deeper(volatile char *above, int level) {
        volatile char frame[4096];
        frame[0] = above[0];
        return level < 1'000'000 ? deeper(frame, level + 1) + frame[0] : 0;
      }
    };
    volatile char first[1] = {1};
    return Recursion::deeper(first, 0) == 0 ? nullptr : launch.run();
  });
}
FAULT(cpu, corrupts_the_heap) {
  spoil("sqrt", DA_FLOAT32, [](const Launch &launch) {
    // Over the allocator's own words before and behind the block, as a loop with a wrong bound does.
    std::memset(static_cast<char *>(launch.out().dl.data) - 16, 0xFF, 16);
  });
}
FAULT(cpu, floods_its_output) {
  spoil("sqrt", DA_FLOAT32, [](const Launch &launch) {
    const std::string line(4095, 'x');
    for (int i = 0; i < 2000; ++i) std::puts(line.c_str());
    std::fflush(stdout);
    std::fputs("the last words\n", stderr);
    Elements<float>(launch.out())[0] += 1;
  });
}
FAULT(cpu, fails_at_random_sizes) {
  stand_before("log", [](const Launch &launch) -> da_error * {
    return count_of(launch.out()) % 7 == 3 ? make_error(DA_STATUS_INTERNAL, "vendor error 0x57")
                                           : launch.run();
  });
}
// Fails in the company of other cases, passes alone: the suite calls it flaky, which is no pass.
FAULT(cpu, breaks_when_warm) {
  spoil("floor", DA_FLOAT64, [](const Launch &launch) {
    static std::atomic<int> calls{0};
    if (++calls > 14) Elements<double>(launch.out())[0] += 1;
  });
}

}  // namespace
}  // namespace faulty
