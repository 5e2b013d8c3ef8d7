// The layer that writes every call down, as JSON lines from which `device_api.layers.replay` makes the same
// calls.
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "instance.hpp"
#include "scratch.hpp"
#include "trace_values.hpp"

namespace device_api::layers {

namespace {

uint64_t thread_number() {
  thread_local const uint64_t number = static_cast<uint64_t>(syscall(SYS_gettid));
  return number;
}

// Reads memory that may be gone by now. False when it is.
bool read_safely(const void *from, uint64_t size, std::vector<char> *out) {
  out->resize(size);
  const iovec local{out->data(), size};
  const iovec remote{const_cast<void *>(from), size};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

class TraceLayer final : public Layer {
 public:
  using Layer::Layer;

  ~TraceLayer() override {
    if (file_ != nullptr) std::fclose(file_);
  }

  std::string configure(const Options &options) override {
    std::string path;
    for (const auto &[key, value] : options) {
      if (key == "file") {
        path = value;
      } else if (key == "payload" && (value == "inline" || value == "hash" || value == "none")) {
        payload_ = value == "inline" ? Payload::inline_ : value == "hash" ? Payload::hash : Payload::none;
      } else if (key == "flush" && (value == "0" || value == "1")) {
        flush_ = value == "1";
      } else {
        return "trace takes file=PATH, payload=inline, hash or none, and flush=0 or 1, not " + key + "=" +
               value;
      }
    }
    if (path.empty()) return "trace needs file=PATH";
    FILE *file = std::fopen(path.c_str(), "we");
    if (file == nullptr) return "cannot write " + path + ": " + std::strerror(errno);
    std::lock_guard<std::mutex> guard(mutex_);
    if (file_ != nullptr) std::fclose(file_);
    file_ = file;
    path_ = path;
    begin_ = now();
    write_head();
    return "";
  }

  bool before(Call &call) override {
    Json *line = new Json();
    call.note[0] = reinterpret_cast<uintptr_t>(line);
    line->begin_object();
    call.note[1] = next_.fetch_add(1);
    line->number("n", call.note[1]);
    line->number("thread", thread_number());
    line->text("slot", kSlotFacts[static_cast<uint32_t>(call.slot)].name);
    line->begin_object("in");
    dispatch(call.slot, call.arguments, [&](auto &arguments) {
      arguments.each(TraceInputs(line, payload_));
      write_entry(line, arguments);
    });
    line->end_object();
    call.start = now();
    return true;
  }

  void after(Call &call) override {
    const uint64_t end = now();
    Json *line = reinterpret_cast<Json *>(static_cast<uintptr_t>(call.note[0]));
    line->number("t", call.start - begin_);
    line->number("d", end - call.start);
    if (call.failed()) {
      write_error(line, call);
    } else {
      line->begin_object("out");
      dispatch(call.slot, call.arguments, [&](auto &arguments) {
        arguments.each(TraceOutputs(line, payload_));
        write_result(line, arguments);
      });
      if (call.slot == Slot::memory_copy) take_copy(call, line);
      line->end_object();
    }
    line->end_object();
    std::lock_guard<std::mutex> guard(mutex_);
    write(line->result());
    delete line;
    finish_copies(call);
    if (flush_ || call.slot == Slot::plugin_shutdown) std::fflush(file_);
  }

  void report(Json *out) override {
    std::lock_guard<std::mutex> guard(mutex_);
    std::fflush(file_);
    out->begin_object();
    out->text("file", path_);
    out->number("calls", next_.load());
    out->boolean("complete", complete_);
    out->end_object();
  }

  void reset() override {}

 private:
  struct PendingCopy {
    uint64_t number;
    const da_device *device;
    const da_stream *stream;
    const void *address;
    uint64_t bytes;
  };

  void write(const std::string &text) {
    // A full disk makes a trace incomplete; the program it watches goes on.
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fputc('\n', file_) == EOF)
      complete_ = false;
  }

  void write_head() {
    const da_plugin &plugin = instance_.plugin_below;
    Json line;
    line.begin_object();
    line.text("format", "device_api trace");
    line.number("version", UINT64_C(1));
    line.text("plugin", plugin.name);
    line.text("plugin_version", plugin.version);
    line.text("device_type", plugin.device_type);
    line.number("abi_major", static_cast<uint64_t>(plugin.abi_major));
    line.number("abi_minor", static_cast<uint64_t>(plugin.abi_minor));
    line.text("payload", payload_ == Payload::inline_ ? "inline"
                         : payload_ == Payload::hash  ? "hash"
                                                      : "none");
    line.number("process", static_cast<uint64_t>(getpid()));
    line.end_object();
    write(line.result());
  }

  // Slots whose kernel is no argument of the C function.
  void write_entry(Json *line, const KernelLaunch &arguments) {
    TraceInputs(line, payload_).entry("kernel", arguments.entry);
  }
  void write_entry(Json *line, const KernelRelease &arguments) {
    TraceInputs(line, payload_).entry("kernel", arguments.entry);
  }
  template <class A>
  void write_entry(Json *, const A &) {}

  void write_result(Json *line, const ErrorCode &arguments) {
    line->number("result", static_cast<int64_t>(arguments.result));
  }
  void write_result(Json *line, const ErrorMessage &arguments) { line->text("result", arguments.result); }
  void write_result(Json *line, const HostTraceBegin &arguments) { line->number("result", arguments.result); }
  void write_result(Json *line, const PluginGetInterface &arguments) {
    line->boolean("result", arguments.result != nullptr);
  }
  template <class A>
  void write_result(Json *, const A &) {}

  void write_error(Json *line, Call &call) {
    const da_error *error = *call.error;
    const bool own = is_own_error(error);
    // An error that the host gave for want of scratch memory: the plugin cannot read that.
    const bool host =
        call.slot == Slot::context_scratch || (call.slot == Slot::kernel_launch && call.extra != nullptr &&
                                               static_cast<Scratch *>(call.extra)->served_error == error);
    const da_error_interface &errors = instance_.errors_below;
    line->begin_object("error");
    line->number("code", static_cast<int64_t>(own ? own_code(error) : host ? 0 : errors.code(error)));
    line->text("message", own ? own_message(error) : host ? "no scratch memory" : errors.message(error));
    line->end_object();
  }

  void take_copy(Call &call, Json *line) {
    const auto &arguments = *static_cast<MemoryCopy *>(call.arguments);
    const da_copy *copy = arguments.copy;
    if (copy == nullptr || copy->struct_size < DA_COPY_MIN_SIZE || copy->kind != DA_COPY_DEVICE_TO_HOST ||
        copy->bytes == 0 || copy->destination == nullptr)
      return;
    const void *address = static_cast<const char *>(copy->destination) + copy->destination_offset;
    if (arguments.stream == nullptr) {
      write_payload(line, "payload", payload_, address, copy->bytes);
      return;
    }
    std::lock_guard<std::mutex> guard(mutex_);
    pending_.push_back({call.note[1], arguments.device, arguments.stream, address, copy->bytes});
  }

  // Copies on a stream are written down when the stream was waited for.
  void finish_copies(Call &call) {
    if (pending_.empty() || call.failed()) return;
    const da_stream *stream = nullptr;
    const da_device *device = nullptr;
    if (call.slot == Slot::stream_synchronize) {
      stream = static_cast<StreamSynchronize *>(call.arguments)->stream;
    } else if (call.slot == Slot::device_synchronize) {
      device = static_cast<DeviceSynchronize *>(call.arguments)->device;
    } else {
      return;
    }
    std::vector<PendingCopy> rest;
    for (const PendingCopy &copy : pending_) {
      if (copy.stream != stream && copy.device != device) {
        rest.push_back(copy);
        continue;
      }
      std::vector<char> data;
      Json line;
      line.begin_object();
      line.number("n", next_.fetch_add(1));
      line.number("later", copy.number);
      if (read_safely(copy.address, copy.bytes, &data))
        write_payload(&line, "payload", payload_, data.data(), copy.bytes);
      line.end_object();
      write(line.result());
    }
    pending_.swap(rest);
  }

  std::mutex mutex_;
  FILE *file_ = nullptr;
  std::string path_;
  Payload payload_ = Payload::inline_;
  bool flush_ = false;  // after every call, so that a crash loses none
  bool complete_ = true;
  uint64_t begin_ = 0;
  std::atomic<uint64_t> next_{0};
  std::vector<PendingCopy> pending_;
};

}  // namespace

std::unique_ptr<Layer> make_trace(Instance &instance) { return std::make_unique<TraceLayer>(instance); }

}  // namespace device_api::layers
