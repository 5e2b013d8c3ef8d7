// Findings of the validation layer: collecting, saying and giving them.
#include <cstdio>
#include <cstdlib>

#include "json.hpp"
#include "validate.hpp"

namespace device_api::layers {

namespace {

constexpr size_t kMostFindings = 1000;

}  // namespace

std::string address_text(const void *handle) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(handle)));
  return text;
}

std::string Validate::configure(const Options &options) {
  std::lock_guard<std::mutex> guard(mutex_);
  for (const auto &[key, value] : options) {
    if (key == "kept") {
      for (const char *at = value.c_str(); *at != '\0';) {
        char *end = nullptr;
        kept_.insert(static_cast<uintptr_t>(std::strtoull(at, &end, 10)));
        if (end == at) return "kept is handles as decimal numbers, with blanks between them";
        at = end;
      }
    } else if (key == "errors") {
      if (value != "0" && value != "1") return "errors is 0 or 1";
      errors_ = value == "1";
    } else {
      return "validate takes the options errors and kept, not " + key;
    }
  }
  return "";
}

void Validate::find(Call &call, Rule rule, const std::string &message) {
  ++call.note[3];
  find(call.slot, rule, message);
}

void Validate::find(Slot slot, Rule rule, const std::string &message) {
  for (Finding &finding : findings_) {
    if (finding.rule != rule || finding.slot != slot) continue;
    ++finding.count;
    return;
  }
  if (findings_.size() == kMostFindings) return;
  findings_.push_back({rule, slot, message, 1});
  const RuleFacts &facts = kRuleFacts[static_cast<uint32_t>(rule)];
  unsaid_.push_back(std::string(facts.id) + " [" + facts.side + "] " +
                    kSlotFacts[static_cast<uint32_t>(slot)].name + ": " + message + ". " + facts.text);
}

std::string Validate::last_text(Slot slot) const {
  for (auto finding = findings_.rbegin(); finding != findings_.rend(); ++finding)
    if (finding->slot == slot)
      return std::string(kRuleFacts[static_cast<uint32_t>(finding->rule)].id) + ": " + finding->message;
  return "more findings than are kept";
}

void Validate::flush() {
  std::vector<std::string> lines;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    lines.swap(unsaid_);
  }
  for (const std::string &line : lines) instance_.log(DA_LOG_WARNING, line);
}

void Validate::report(Json *out) {
  std::lock_guard<std::mutex> guard(mutex_);
  out->begin_array();
  for (const Finding &finding : findings_) {
    const RuleFacts &facts = kRuleFacts[static_cast<uint32_t>(finding.rule)];
    out->begin_object();
    out->text("rule", facts.id);
    out->text("side", facts.side);
    out->text("slot", kSlotFacts[static_cast<uint32_t>(finding.slot)].name);
    out->text("message", finding.message);
    out->number("count", finding.count);
    out->end_object();
  }
  out->end_array();
}

void Validate::reset() {
  std::lock_guard<std::mutex> guard(mutex_);
  findings_.clear();
  unsaid_.clear();
}

}  // namespace device_api::layers
