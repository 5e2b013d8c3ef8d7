#include "fault_spec.hpp"

#include <cstdlib>

#include "instance.hpp"
#include "visitor.hpp"

namespace device_api::layers {

namespace {

constexpr const char *kForm =
    "a fault is written slot:number:action, for example memory.allocate:3:out_of_memory";

// Whether a call can be left out without anybody missing what it should have written.
struct HasOutput : Visitor {
  bool found = false;
  template <class T>
  void out(const char *, T *) {
    found = true;
  }
};

template <class Arguments>
bool writes_output() {
  HasOutput visitor;
  const Arguments arguments{};
  arguments.each(visitor);
  return visitor.found;
}

bool writes_output(Slot slot) {
  bool found = false;
  dispatch(slot, nullptr,
           [&](auto &arguments) { found = writes_output<std::remove_reference_t<decltype(arguments)>>(); });
  return found;
}

bool parse_number(const std::string &text, int64_t *out_number) {
  char *end = nullptr;
  *out_number = std::strtoll(text.c_str(), &end, 10);
  return !text.empty() && *end == '\0' && *out_number >= 0;
}

bool find_slot(const std::string &name, Slot *out_slot) {
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    if (name != kSlotFacts[slot].name) continue;
    *out_slot = static_cast<Slot>(slot);
    return true;
  }
  return false;
}

// "3" is one call, "3+" all from the third on, "*" all.
std::string parse_range(std::string text, Fault *fault) {
  if (text == "*") text = "1+";
  const bool open = !text.empty() && text.back() == '+';
  if (open) text.pop_back();
  int64_t first = 0;
  if (!parse_number(text, &first) || first == 0)
    return "the number of a call counts from 1: write 3, 3+ (from the third on) or *";
  fault->first = static_cast<uint64_t>(first);
  fault->last = open ? UINT64_MAX : fault->first;
  return "";
}

std::string parse_action(const std::string &text, Fault *fault) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const SlotFacts &facts = kSlotFacts[static_cast<uint32_t>(fault->slot)];
  if (equals != std::string::npos && !parse_number(text.substr(equals + 1), &fault->value))
    return "what follows = is a number";
  if (name == "delay") {
    fault->action = FaultAction::delay;
    return equals == std::string::npos ? "delay needs milliseconds: delay=5" : "";
  }
  if (name == "drop") {
    fault->action = FaultAction::drop;
    return writes_output(fault->slot) || fault->slot == Slot::plugin_get_interface
               ? "a call that gives something back cannot be dropped"
               : "";
  }
  if (name == "short") {
    fault->action = FaultAction::shorten;
    return fault->slot == Slot::memory_copy ? "" : "only memory.copy can be short";
  }
  if (name == "flip") {
    fault->action = FaultAction::flip;
    const bool writes = fault->slot == Slot::memory_copy || fault->slot == Slot::memory_set ||
                        fault->slot == Slot::random_bits || fault->slot == Slot::kernel_launch;
    return writes ? "" : "flip is for kernel.launch, memory.copy, memory.set and random.bits";
  }
  if (name == "hide") {
    fault->action = FaultAction::hide;
    return fault->slot == Slot::plugin_get_interface ? "" : "hide is for plugin.get_interface";
  }
  if (!facts.fallible) return "this slot gives no error; it can be delayed or dropped";
  if (name != "code") fault->value = status_code(name);
  if (fault->value == 0 || fault->value > INT32_MAX)
    return "the action is a status such as out_of_memory, code=70000, delay=5, drop, short, flip or hide";
  return "";
}

std::string parse_fault(const std::string &text, Fault *fault) {
  fault->text = text;
  if (text.rfind("hide:", 0) == 0) {
    fault->slot = Slot::plugin_get_interface;
    fault->op = "device_api." + text.substr(5);
    fault->last = UINT64_MAX;
    fault->action = FaultAction::hide;
    for (const InterfaceFacts &facts : kInterfaceFacts)
      if (fault->op == facts.id) return "";
    return "there is no interface of that name";
  }
  const size_t first = text.find(':');
  const size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  if (second == std::string::npos) return kForm;
  std::string name = text.substr(0, first);
  const size_t bracket = name.find('[');
  if (bracket != std::string::npos && name.back() == ']') {
    fault->op = name.substr(bracket + 1, name.size() - bracket - 2);
    name.resize(bracket);
  }
  if (!find_slot(name, &fault->slot)) return "there is no slot of that name";
  if (!fault->op.empty() && std::string(kSlotFacts[static_cast<uint32_t>(fault->slot)].group) != "kernel")
    return "only kernel slots can be chosen by op";
  std::string problem = parse_range(text.substr(first + 1, second - first - 1), fault);
  return problem.empty() ? parse_action(text.substr(second + 1), fault) : problem;
}

}  // namespace

std::string parse_faults(const std::string &spec, std::vector<Fault> *out_faults) {
  for (size_t at = 0; at < spec.size();) {
    size_t end = spec.find(',', at);
    if (end == std::string::npos) end = spec.size();
    const std::string text = spec.substr(at, end - at);
    at = end + 1;
    if (text.empty()) continue;
    Fault fault{};
    fault.first = fault.last = 1;
    const std::string problem = parse_fault(text, &fault);
    if (!problem.empty()) return "fault '" + text + "': " + problem;
    out_faults->push_back(fault);
  }
  return "";
}

}  // namespace device_api::layers
