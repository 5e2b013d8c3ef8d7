// The rules that hold for every slot: order, threads, pointers, struct sizes, out parameters, errors.
#include "validate.hpp"

#include "json.hpp"
#include "scratch.hpp"
#include "visitor.hpp"

namespace device_api::layers {

namespace {

constexpr unsigned char kPoison = 0x5c;

// Whether an argument that is a handle or a struct may be NULL.
bool may_be_null(Slot slot, const char *name) {
  const bool is_stream = std::strcmp(name, "stream") == 0;
  switch (slot) {
    case Slot::device_close:
    case Slot::capture_destroy:
    case Slot::collective_destroy:
    case Slot::graph_destroy:
      return true;
    case Slot::stream_destroy:
      return is_stream;
    case Slot::stream_event_destroy:
      return std::strcmp(name, "event") == 0;
    case Slot::memory_copy:
    case Slot::memory_set:
    case Slot::random_bits:
    case Slot::capture_replay:
      return is_stream;
    default:
      return is_stream && std::strcmp(kSlotFacts[static_cast<uint32_t>(slot)].group, "collective") == 0;
  }
}

bool is_pointer_optional(Slot slot, const char *name) {
  switch (slot) {
    case Slot::memory_wrap:
    case Slot::memory_free:
    case Slot::memory_unwrap:
    case Slot::memory_set:
    case Slot::random_bits:
    case Slot::kernel_launch:
    case Slot::kernel_release:
      return true;
    default:
      return std::strcmp(name, "user_data") == 0 || std::strcmp(name, "host_context") == 0 ||
             std::strcmp(name, "context") == 0 || std::strcmp(name, "error") == 0;
  }
}

constexpr uint64_t least_size(const da_device_properties *) { return DA_DEVICE_PROPERTIES_MIN_SIZE; }
constexpr uint64_t least_size(const da_kernel_list *) { return DA_KERNEL_LIST_MIN_SIZE; }
constexpr uint64_t least_size(const da_pass_list *) { return DA_PASS_LIST_MIN_SIZE; }
constexpr uint64_t least_size(const da_custom_op_list *) { return DA_CUSTOM_OP_LIST_MIN_SIZE; }
constexpr uint64_t least_size(const da_output_shape *) { return DA_OUTPUT_SHAPE_MIN_SIZE; }
constexpr uint64_t least_size(const da_claim_list *) { return DA_CLAIM_LIST_MIN_SIZE; }
constexpr uint64_t least_size(const da_bytes *) { return DA_BYTES_MIN_SIZE; }
constexpr uint64_t least_size(const da_unique_id *) { return DA_UNIQUE_ID_MIN_SIZE; }

}  // namespace

// Visits the arguments before the call. Tensors and attributes are checked with the rules of their interface.
class Arguments : public Visitor {
 public:
  Arguments(Validate &layer, Call &call) : layer_(layer), call_(call) {}

  void handle(const char *name, const da_device *value) { object(Kind::device, name, value); }
  void handle(const char *name, const da_stream *value) { object(Kind::stream, name, value); }
  void handle(const char *name, const da_event *value) { object(Kind::event, name, value); }
  void handle(const char *name, const da_capture *value) { object(Kind::capture, name, value); }
  void handle(const char *name, const da_communicator *value) { object(Kind::communicator, name, value); }
  void handle(const char *name, const da_executable *value) { object(Kind::executable, name, value); }
  void structure(const char *name, const da_copy *value) {
    layer_.check_struct(call_, name, value, DA_COPY_MIN_SIZE);
  }
  void structure(const char *name, const da_callback *value) {
    layer_.check_struct(call_, name, value, DA_CALLBACK_MIN_SIZE);
  }
  void structure(const char *name, const da_kernel_context *value) {
    layer_.check_struct(call_, name, value, DA_KERNEL_CONTEXT_MIN_SIZE);
  }
  void structure(const char *name, const da_communicator_options *value) {
    layer_.check_struct(call_, name, value, DA_COMMUNICATOR_OPTIONS_MIN_SIZE);
  }
  void structure(const char *, const da_host *) {}  // has a rule of its own
  void text(const char *name, const char *value) { needed(name, value); }
  void pointer(const char *name, const void *value) {
    if (!is_pointer_optional(call_.slot, name)) needed(name, value);
  }
  void bytes(const char *name, const void *value, uint64_t size) {
    if (size != 0) needed(name, value);
  }

  // Fills an out parameter with a pattern, so that it can be seen whether the call writes it.
  template <class T>
  void out(const char *name, T *value) {
    if (!needed(name, value)) return;
    if constexpr (std::is_class_v<T>) {
      layer_.check_struct(call_, name, value, least_size(value));
    }
    if (used_ + sizeof(T) > sizeof(call_.saved)) return;
    std::memcpy(call_.saved + used_, value, sizeof(T));
    used_ += sizeof(T);
    if constexpr (!std::is_class_v<T>) std::memset(static_cast<void *>(value), kPoison, sizeof(T));
  }

 private:
  bool needed(const char *name, const void *value) {
    if (value != nullptr) return true;
    layer_.find(call_, Rule::CALL_01, std::string(name) + " is NULL");
    return false;
  }

  void object(Kind kind, const char *name, const void *value) {
    if (value == nullptr) {
      if (!may_be_null(call_.slot, name)) needed(name, value);
      return;
    }
    layer_.check_object(call_, kind, name, value);
  }

  Validate &layer_;
  Call &call_;
  uint64_t used_ = 0;
};

// Visits the arguments after the call: out parameters are filled on success, and keep their value otherwise.
class Outputs : public Visitor {
 public:
  Outputs(Validate &layer, Call &call) : layer_(layer), call_(call) {}

  template <class T>
  void out(const char *name, T *value) {
    if (value == nullptr || used_ + sizeof(T) > sizeof(call_.saved)) return;
    const unsigned char *saved = call_.saved + used_;
    used_ += sizeof(T);
    if constexpr (std::is_class_v<T>) {
      if (call_.failed() && !call_.answered && std::memcmp(saved, value, sizeof(T)) != 0)
        layer_.find(call_, Rule::CALL_05, std::string(name) + " was written by a call that failed");
    } else {
      unsigned char poison[sizeof(T)];
      std::memset(poison, kPoison, sizeof(T));
      const bool written = std::memcmp(poison, value, sizeof(T)) != 0;
      if (call_.failed() || call_.answered) {
        if (written && !call_.answered)
          layer_.find(call_, Rule::CALL_05, std::string(name) + " was written by a call that failed");
        std::memcpy(static_cast<void *>(value), saved, sizeof(T));
      } else if (!written) {
        layer_.find(call_, Rule::CALL_06, std::string(name) + " was not written by a call that succeeded");
        std::memcpy(static_cast<void *>(value), saved, sizeof(T));
      } else if constexpr (std::is_pointer_v<T>) {
        if (*value == nullptr && !null_is_fine())
          layer_.find(call_, Rule::CALL_06, std::string(name) + " is NULL after a call that succeeded");
      }
    }
  }

 private:
  bool null_is_fine() const {
    switch (call_.slot) {
      case Slot::memory_allocate:
        return static_cast<MemoryAllocate *>(call_.arguments)->bytes == 0;
      case Slot::memory_wrap:
        return static_cast<MemoryWrap *>(call_.arguments)->bytes == 0;
      case Slot::context_scratch:
        return static_cast<ContextScratch *>(call_.arguments)->bytes == 0;
      case Slot::collective_split:
        return static_cast<CollectiveSplit *>(call_.arguments)->color < 0;
      case Slot::kernel_prepare:
        return true;  // a state may be nothing
      default:
        return false;
    }
  }

  Validate &layer_;
  Call &call_;
  uint64_t used_ = 0;
};

template <class T>
bool Validate::check_struct(Call &call, const char *name, const T *value, uint64_t least) {
  if (value == nullptr) {
    find(call, Rule::CALL_01, std::string(name) + " is NULL");
    return false;
  }
  if (value->struct_size < least || value->struct_size % 8 != 0) {
    find(call, Rule::CALL_02,
         std::string(name) + ".struct_size is " + std::to_string(value->struct_size) + ", at least " +
             std::to_string(least) + " is needed");
    return false;
  }
  if (value->extension != nullptr) find(call, Rule::CALL_03, std::string(name) + ".extension is not NULL");
  return true;
}

void Validate::check_order(Call &call) {
  switch (call.slot) {
    case Slot::plugin_get_interface:
    case Slot::plugin_initialize:
    case Slot::plugin_shutdown:
    case Slot::error_code:
    case Slot::error_message:
    case Slot::error_destroy:
      return;
    case Slot::host_log:
    case Slot::host_trace_begin:
    case Slot::host_trace_end:
    case Slot::host_report_async_error:
      if (life_ == Life::ended) find(call, Rule::PLUGIN_08, "the plugin uses the host after it has ended");
      return;
    default:
      break;
  }
  if (life_ == Life::new_) find(call, Rule::PLUGIN_01, "the plugin has not been initialised");
  if (life_ == Life::ended) find(call, Rule::PLUGIN_02, "the plugin was shut down");
}

bool Validate::enter(Call &call, const void *object) {
  Busy &busy = busy_[object];
  if (busy.depth != 0 && busy.thread != std::this_thread::get_id()) {
    find(call, Rule::CALL_04, address_text(object) + " is in use by another thread at the same time");
    return false;
  }
  busy.thread = std::this_thread::get_id();
  ++busy.depth;
  return true;
}

bool Validate::before(Call &call) {
  bool pass = true;
  // Calls from the plugin to the host have rules of their own.
  const bool by_plugin = call.slot >= Slot::host_log && call.slot <= Slot::host_report_async_error;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    check_order(call);
    dispatch(call.slot, call.arguments, [&](auto &arguments) {
      const void *object = arguments.synchronised(this);
      call.busy = object != nullptr && enter(call, object) ? object : nullptr;
      if (!by_plugin) arguments.each(Arguments(*this, call));
      check(call, arguments);
    });
    const bool gone = by_plugin && life_ == Life::ended;
    if ((errors_ && call.note[3] != 0 && call.error != nullptr) || gone) {
      pass = false;
      call.answered = true;
      if (call.error != nullptr)
        *call.error = make_error(DA_STATUS_INVALID_ARGUMENT,
                                 "the validation layer stopped the call: " + last_text(call.slot));
    }
  }
  flush();
  return pass;
}

void Validate::after(Call &call) {
  {
    std::lock_guard<std::mutex> guard(mutex_);
    const uint64_t found = call.note[3];
    if (!call.answered) check_error(call);
    dispatch(call.slot, call.arguments, [&](auto &arguments) {
      arguments.each(Outputs(*this, call));
      if (!call.answered) done(call, arguments);
    });
    if (call.busy != nullptr) leave(call);
    if (errors_ && call.note[3] != found && call.error != nullptr && *call.error == nullptr)
      *call.error = make_error(DA_STATUS_INTERNAL, "the validation layer found: " + last_text(call.slot));
  }
  flush();
}

void Validate::leave(Call &call) {
  auto found = busy_.find(call.busy);
  if (found != busy_.end() && --found->second.depth == 0) busy_.erase(found);
}

void Validate::check_error(Call &call) {
  if (!call.failed() || is_own_error(*call.error)) return;
  const da_error *error = *call.error;
  if (call.slot == Slot::context_scratch) return;  // the host's own
  if (call.slot == Slot::kernel_launch && call.extra != nullptr &&
      static_cast<Scratch *>(call.extra)->served_error == error)
    return;
  ++live_errors_[error];
  const int32_t code = instance_.errors_below.code(error);
  if (code <= 0 || (code > DA_STATUS_FAILED_PRECONDITION && code < DA_STATUS_VENDOR))
    find(call, Rule::ERROR_01, "the code of the error is " + std::to_string(code));
  const char *message = instance_.errors_below.message(error);
  if (message == nullptr || message[0] == '\0')
    find(call, Rule::ERROR_02, "the error has no message");
  else if (!is_utf8(message))
    find(call, Rule::ERROR_02, "the message is not UTF-8");
}

std::unique_ptr<Layer> make_validate(Instance &instance) { return std::make_unique<Validate>(instance); }

}  // namespace device_api::layers
