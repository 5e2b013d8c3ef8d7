// Reading the SIM_ variables. Every wrong value is an error: a test that misspells one must not pass by luck.
#include "configuration.hpp"

#include <cstdlib>
#include <cstring>

#include "address_space.hpp"
#include "error.hpp"

namespace simulated {
namespace {

constexpr uint64_t kAllTypes = ((uint64_t{1} << (DA_FLOAT8_E5M2 + 1)) - 1) & ~uint64_t{1};

const char *text_of(const char *variable) {
  const char *text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? nullptr : text;
}

[[noreturn]] void refuse(const char *variable, const char *text, const std::string &allowed) {
  throw Failure(DA_STATUS_INVALID_ARGUMENT, std::string(variable) + " is '" + text + "', which is not " +
                                                allowed + "; correct or unset it");
}

uint64_t parse(const char *variable, const char *text, uint64_t least, uint64_t most, const char **out_end) {
  char *end = nullptr;
  const unsigned long long number = std::strtoull(text, &end, 10);
  if (end == text || *text == '-' || number < least || number > most) {
    refuse(variable, text, "a number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  *out_end = end;
  return number;
}

uint64_t number(const char *variable, uint64_t otherwise, uint64_t least, uint64_t most) {
  const char *text = text_of(variable);
  if (text == nullptr) return otherwise;
  const char *end = nullptr;
  const uint64_t value = parse(variable, text, least, most, &end);
  if (*end != '\0') refuse(variable, text, "a plain number");
  return value;
}

bool flag(const char *variable, bool otherwise) { return number(variable, otherwise, 0, 1) != 0; }

FailurePoint failure_point(const char *variable) {
  const char *text = text_of(variable);
  if (text == nullptr) return {};
  const char *end = nullptr;
  FailurePoint point{parse(variable, text, 1, UINT64_MAX, &end), false};
  if (*end == '+') {
    point.onwards = true;
    ++end;
  }
  if (*end != '\0') refuse(variable, text, "a number n (the n-th fails) or n+ (the n-th and all after it)");
  return point;
}

bool lazy_mode() {
  const char *text = text_of("SIM_MODE");
  if (text == nullptr || std::strcmp(text, "lazy") == 0) return true;
  if (std::strcmp(text, "eager") == 0) return false;
  refuse("SIM_MODE", text, "lazy or eager");
}

std::vector<std::string> patterns(const char *variable) {
  std::vector<std::string> found;
  const char *text = text_of(variable);
  std::string rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string pattern = rest.substr(0, comma);
    if (!pattern.empty()) found.push_back(pattern);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
  }
  return found;
}

}  // namespace

bool streams_configured() {
  const char *text = text_of("SIM_STREAMS");
  return text == nullptr || std::strcmp(text, "0") != 0;
}

Configuration read_configuration() {
  Configuration made;
  made.devices = static_cast<uint32_t>(number("SIM_DEVICES", made.devices, 0, 64));
  made.memory = number("SIM_MEMORY", made.memory, 0, uint64_t{1} << 44) / kAlignment * kAlignment;
  made.lazy = lazy_mode();
  made.seed = number("SIM_SEED", made.seed, 0, UINT64_MAX);
  made.max_delay_ns = number("SIM_MAX_DELAY_US", made.max_delay_ns / 1000, 0, 10'000'000) * 1000;
  made.streams = flag("SIM_STREAMS", made.streams);
  made.strides = flag("SIM_STRIDES", made.strides);
  made.in_place = flag("SIM_IN_PLACE", made.in_place);
  made.max_rank = static_cast<uint32_t>(number("SIM_MAX_RANK", made.max_rank, 3, DA_MAX_RANK));
  made.dtypes = kAllTypes;
  if (!flag("SIM_FLOAT64", true)) made.dtypes &= ~(DA_DTYPE_BIT(DA_FLOAT64) | DA_DTYPE_BIT(DA_COMPLEX128));
  made.hidden_ops = patterns("SIM_HIDE_OPS");
  made.fail_allocation = failure_point("SIM_FAIL_ALLOCATION");
  made.fail_launch = failure_point("SIM_FAIL_LAUNCH");
  made.lose_device = failure_point("SIM_LOSE_DEVICE");
  return made;
}

}  // namespace simulated
