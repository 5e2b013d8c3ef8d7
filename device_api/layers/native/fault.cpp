// The layer that breaks things: the n-th call of a slot fails, comes late, is lost, copies too little, or
// gives a wrong result.
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "fault_spec.hpp"
#include "instance.hpp"
#include "json.hpp"

namespace device_api::layers {

namespace {

const KernelEntry *entry_of(Call &call) {
  switch (call.slot) {
    case Slot::kernel_launch:
      return static_cast<KernelLaunch *>(call.arguments)->entry;
    case Slot::kernel_prepare:
      return static_cast<KernelPrepare *>(call.arguments)->entry;
    case Slot::kernel_release:
      return static_cast<KernelRelease *>(call.arguments)->entry;
    case Slot::kernel_supports:
      return static_cast<KernelSupports *>(call.arguments)->entry;
    default:
      return nullptr;
  }
}

class FaultLayer final : public Layer {
 public:
  using Layer::Layer;

  std::string configure(const Options &options) override {
    std::vector<Fault> faults;
    for (const auto &[key, value] : options) {
      if (key != "spec") return "fault takes the option spec, not " + key;
      std::string problem = parse_faults(value, &faults);
      if (!problem.empty()) return problem;
    }
    std::lock_guard<std::mutex> guard(mutex_);
    faults_ = std::move(faults);
    for (auto &armed : armed_) armed = false;
    for (const Fault &fault : faults_) armed_[static_cast<uint32_t>(fault.slot)] = true;
    return "";
  }

  bool before(Call &call) override {
    if (!armed_[static_cast<uint32_t>(call.slot)]) return true;
    bool pass = true;
    for (const Fault &fault : take(call)) pass = act(call, fault) && pass;
    return pass;
  }

  void after(Call &call) override {
    if (call.note[0] != 0 && !call.failed()) flip(call);
  }

  void report(Json *out) override {
    std::lock_guard<std::mutex> guard(mutex_);
    out->begin_array();
    for (const Fault &fault : faults_) {
      out->begin_object();
      out->text("fault", fault.text);
      out->number("calls", fault.calls);
      out->number("done", fault.done);
      out->end_object();
    }
    out->end_array();
  }

  void reset() override {
    std::lock_guard<std::mutex> guard(mutex_);
    for (Fault &fault : faults_) fault.calls = fault.done = 0;
  }

 private:
  // The faults whose turn it is.
  std::vector<Fault> take(Call &call) {
    std::vector<Fault> taken;
    std::lock_guard<std::mutex> guard(mutex_);
    for (Fault &fault : faults_) {
      if (fault.slot != call.slot || !matches(call, fault)) continue;
      ++fault.calls;
      if (fault.calls < fault.first || fault.calls > fault.last) continue;
      ++fault.done;
      taken.push_back(fault);
    }
    return taken;
  }

  static bool matches(Call &call, const Fault &fault) {
    if (fault.op.empty()) return true;
    if (call.slot == Slot::plugin_get_interface) {
      const char *id = static_cast<PluginGetInterface *>(call.arguments)->id;
      return id != nullptr && fault.op == id;
    }
    const KernelEntry *entry = entry_of(call);
    return entry != nullptr && entry->below.op != nullptr && fault.op == entry->below.op;
  }

  // False when the call must not go down.
  bool act(Call &call, const Fault &fault) {
    switch (fault.action) {
      case FaultAction::delay:
        std::this_thread::sleep_for(std::chrono::milliseconds(fault.value));
        return true;
      case FaultAction::fail:
        *call.error = make_error(static_cast<int32_t>(fault.value),
                                 "the fault layer made call " + std::to_string(fault.calls) + " of " +
                                     kSlotFacts[static_cast<uint32_t>(call.slot)].name + " fail with " +
                                     status_name(static_cast<int32_t>(fault.value)) + ", as it was told");
        return false;
      case FaultAction::drop:
      case FaultAction::hide:
        return false;
      case FaultAction::shorten:
        shorten(static_cast<MemoryCopy *>(call.arguments), fault);
        return true;
      case FaultAction::flip:
        call.note[0] = 1;
        return true;
    }
    return true;
  }

  static void shorten(MemoryCopy *arguments, const Fault &fault) {
    thread_local da_copy shorter;  // lives until the call is over
    if (arguments->copy == nullptr || arguments->copy->struct_size < sizeof(da_copy)) return;
    shorter = *arguments->copy;
    const uint64_t missing = fault.value == 0 ? shorter.bytes / 2 : static_cast<uint64_t>(fault.value);
    shorter.bytes -= std::min(missing, shorter.bytes);
    arguments->copy = &shorter;
  }

  void flip(Call &call) {
    switch (call.slot) {
      case Slot::memory_copy: {
        const auto &arguments = *static_cast<MemoryCopy *>(call.arguments);
        const da_copy &copy = *arguments.copy;
        if (copy.bytes == 0) return;
        if (copy.kind != DA_COPY_DEVICE_TO_HOST)
          return flip_byte(arguments.device, copy.destination, copy.destination_offset + copy.bytes - 1,
                           0x40);
        if (arguments.stream != nullptr && instance_.below.stream.synchronize != nullptr)
          forget(instance_.below.stream.synchronize(arguments.device, arguments.stream));
        static_cast<uint8_t *>(copy.destination)[copy.destination_offset + copy.bytes - 1] ^= 0x40;
        return;
      }
      case Slot::memory_set: {
        const auto &arguments = *static_cast<MemorySet *>(call.arguments);
        if (arguments.bytes != 0)
          flip_byte(arguments.device, arguments.handle, arguments.offset + arguments.bytes - 1, 0x40);
        return;
      }
      case Slot::random_bits: {
        const auto &arguments = *static_cast<RandomBits *>(call.arguments);
        if (arguments.count != 0)
          flip_byte(arguments.device, arguments.handle, arguments.byte_offset + arguments.count * 4 - 1,
                    0x40);
        return;
      }
      default: {
        const auto &arguments = *static_cast<KernelLaunch *>(call.arguments);
        if (arguments.output_count == 0 || arguments.outputs[0] == nullptr) return;
        // The most significant byte of the first element; of a bool its only bit.
        const da_dl_tensor &output = arguments.outputs[0]->dl;
        const uint64_t size = (output.dtype.bits + 7u) / 8u;
        flip_byte(arguments.context->device, output.data, output.byte_offset + size - 1,
                  size == 1 ? 0x01 : 0x40);
      }
    }
  }

  // Changes bits of one byte of device memory, after everything queued.
  void flip_byte(da_device *device, void *handle, uint64_t offset, uint8_t bits) {
    uint8_t byte = 0;
    da_copy copy{};
    copy.struct_size = sizeof(copy);
    copy.kind = DA_COPY_DEVICE_TO_HOST;
    copy.destination = &byte;
    copy.source = handle;
    copy.source_offset = offset;
    copy.bytes = 1;
    if (forget(instance_.below.memory.copy(device, nullptr, &copy))) return;
    byte ^= bits;
    copy.kind = DA_COPY_HOST_TO_DEVICE;
    copy.destination = handle;
    copy.destination_offset = offset;
    copy.source = &byte;
    copy.source_offset = 0;
    forget(instance_.below.memory.copy(device, nullptr, &copy));
  }

  bool forget(da_error *error) {
    if (error != nullptr) instance_.errors_below.destroy(error);
    return error != nullptr;
  }

  std::mutex mutex_;
  std::vector<Fault> faults_;
  std::atomic<bool> armed_[kSlots] = {};
};

}  // namespace

std::unique_ptr<Layer> make_fault(Instance &instance) { return std::make_unique<FaultLayer>(instance); }

}  // namespace device_api::layers
