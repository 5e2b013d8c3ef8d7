// The layer that checks both sides of the border. One object watches one plugin; a single mutex guards what
// it knows, and is never held while the host, the plugin or a log is called.
#ifndef DEVICE_API_LAYERS_VALIDATE_HPP
#define DEVICE_API_LAYERS_VALIDATE_HPP

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "generated/rules.hpp"
#include "instance.hpp"
#include "pages.hpp"

namespace device_api::layers {

enum class Kind : uint32_t { device, stream, event, capture, communicator, executable };
constexpr uint32_t kKinds = 6;

// One handle that the plugin gave out. A handle may come back after its end: then `generation` grows.
struct Object {
  bool alive = false;
  const da_device *device = nullptr;
  uint64_t generation = 0;
  uint64_t flags = 0;      // device: index; event: flags; communicator: ranks
  uint64_t depth = 0;      // stream: being captured; communicator: open groups; device: being recorded
  uint64_t submitted = 0;  // stream: work so far, and how much of it is known to be done
  uint64_t finished = 0;
  const void *mark_stream = nullptr;  // event: what it recorded last
  uint64_t mark = 0;
  struct Wait {
    uint64_t position;
    const void *stream;
    uint64_t mark;
  };
  std::vector<Wait> waits;  // stream: work from `position` on stands behind work of another stream
};

struct DeviceFacts {
  bool known = false;
  uint64_t flags = 0, dtypes = 0, alignment = 0;
  uint32_t max_rank = DA_MAX_RANK;
  bool listed = false;
  const void *list_first = nullptr;
  uint64_t list_count = 0, list_stride = 0;
};

struct Allocation {
  uint64_t bytes = 0;
  int32_t kind = 0;
  const da_device *device = nullptr;
  bool alive = false;
  bool wrapped = false;
};

struct Watched;  // a callback under watch

// Bytes of a tensor relative to its handle, and whether they are all its own.
struct Extent {
  int64_t low = 0, high = 0;
  bool empty = false, dense = false;
};
Extent extent_of(const da_tensor &tensor);
bool is_contiguous(const da_tensor &tensor);

class Validate final : public Layer {
 public:
  explicit Validate(Instance &instance) : Layer(instance) {}
  ~Validate() override;

  std::string configure(const Options &options) override;
  bool before(Call &call) override;
  void after(Call &call) override;
  void report(Json *out) override;
  void reset() override;

  // Called by the stand-ins of callbacks, from any thread.
  void callback_runs(Watched *watched, int32_t status);
  void callback_ends(Watched *watched);
  void activity(const da_activity *activity);

 private:
  friend class Arguments;
  friend class Outputs;

  // --- findings
  void find(Call &call, Rule rule, const std::string &message);
  void find(Slot slot, Rule rule, const std::string &message);
  std::string last_text(Slot slot) const;  // the latest finding of a slot
  void flush();                            // logs what was found; the mutex is not held

  // --- what holds for every slot
  void check_order(Call &call);
  bool enter(Call &call, const void *object);
  void leave(Call &call);
  void check_error(Call &call);
  template <class T>
  bool check_struct(Call &call, const char *name, const T *value, uint64_t least);

  // --- objects
  Object *look(Kind kind, const void *handle);
  // Finds use of what does not exist or has ended; true when the handle is alive.
  bool check_object(Call &call, Kind kind, const char *name, const void *handle);
  void check_same_device(Call &call, Kind kind, const void *handle, const void *device);
  Object &add_object(Call &call, Kind kind, const void *handle, const void *device);
  void end_object(Kind kind, const void *handle);
  void check_left(Call &call, Kind kind, Rule rule, const void *device, const char *what);
  void check_left_memory(Call &call, const void *device);

  // --- memory
  // True when handle + [offset, offset + bytes) is live memory; device NULL: of any device.
  bool check_range(Call &call, const char *what, const void *handle, uint64_t offset, uint64_t bytes,
                   const void *device, Rule missing, Rule outside);
  void use_memory(const void *handle, const void *stream, uint64_t position);
  void check_unused(Call &call, const void *handle);
  void forget_uses(const void *handle);

  // --- streams
  // Counts work on a stream; its position there, 0 for the NULL stream.
  uint64_t submit(const void *stream);
  void finish(const void *stream, uint64_t position);
  void finish_device(const void *device);

  // --- tensors
  // False when a tensor is too broken to be looked at any further.
  bool check_tensor(Call &call, const std::string &name, const da_tensor *tensor, const void *device);
  void check_placed(Call &call, const std::string &name, const da_tensor &tensor, const void *device);
  void use_tensors(const void *stream, uint64_t position, const da_tensor *const *tensors, uint32_t count);
  void check_tensors(Call &call, const KernelEntry *entry, const void *device, const da_tensor *const *inputs,
                     uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count,
                     bool launched);
  void check_aliases(Call &call, const KernelEntry *entry, const da_tensor *const *inputs,
                     uint32_t input_count, const da_tensor *const *outputs, uint32_t output_count);
  void check_attributes(Call &call, const void *attributes);
  void check_context(Call &call, const da_kernel_context *context);
  void check_kernel(Call &call, uint64_t number, const da_kernel *kernel);
  void check_custom_op(Call &call, uint64_t number, const da_custom_op *op);
  void check_bytes(Call &call, const da_bytes *bytes);

  // --- single slots: before, and after. Most need nothing beyond the rules for all.
  template <class A>
  void check(Call &, A &) {}
  template <class A>
  void done(Call &, A &) {}
  void check(Call &call, PluginInitialize &arguments);
  void done(Call &call, PluginInitialize &arguments);
  void done(Call &call, PluginShutdown &arguments);
  void done(Call &call, PluginGetInterface &arguments);
  void check(Call &call, ErrorCode &arguments);
  void check(Call &call, ErrorMessage &arguments);
  void check(Call &call, ErrorDestroy &arguments);
  void check(Call &call, HostLog &arguments);
  void check(Call &call, HostReportAsyncError &arguments);
  void done(Call &call, DeviceCount &arguments);
  void check(Call &call, DeviceOpen &arguments);
  void done(Call &call, DeviceOpen &arguments);
  void done(Call &call, DeviceClose &arguments);
  void done(Call &call, DeviceProperties &arguments);
  void done(Call &call, DeviceSynchronize &arguments);
  void check(Call &call, MemoryAllocate &arguments);
  void done(Call &call, MemoryAllocate &arguments);
  void check(Call &call, MemoryFree &arguments);
  void done(Call &call, MemoryFree &arguments);
  void check(Call &call, MemoryCopy &arguments);
  void done(Call &call, MemoryCopy &arguments);
  void check(Call &call, MemorySet &arguments);
  void done(Call &call, MemorySet &arguments);
  void done(Call &call, MemoryInfo &arguments);
  void done(Call &call, MemoryWrap &arguments);
  void check(Call &call, MemoryUnwrap &arguments);
  void done(Call &call, MemoryUnwrap &arguments);
  void check(Call &call, RandomBits &arguments);
  void done(Call &call, RandomBits &arguments);
  void done(Call &call, KernelList &arguments);
  void check(Call &call, KernelLaunch &arguments);
  void done(Call &call, KernelLaunch &arguments);
  void check(Call &call, KernelPrepare &arguments);
  void done(Call &call, KernelPrepare &arguments);
  void check(Call &call, KernelRelease &arguments);
  void done(Call &call, KernelRelease &arguments);
  void check(Call &call, KernelSupports &arguments);
  void done(Call &call, KernelSupports &arguments);
  void done(Call &call, CustomOpList &arguments);
  void check(Call &call, CustomInfer &arguments);
  void done(Call &call, CustomInfer &arguments);
  void done(Call &call, StreamCreate &arguments);
  void done(Call &call, StreamWrap &arguments);
  void check(Call &call, StreamDestroy &arguments);
  void done(Call &call, StreamDestroy &arguments);
  void check(Call &call, StreamSynchronize &arguments);
  void done(Call &call, StreamSynchronize &arguments);
  void check(Call &call, StreamQuery &arguments);
  void done(Call &call, StreamQuery &arguments);
  void check(Call &call, StreamWaitEvent &arguments);
  void check(Call &call, StreamAddCallback &arguments);
  void done(Call &call, StreamAddCallback &arguments);
  void check(Call &call, StreamEventCreate &arguments);
  void done(Call &call, StreamEventCreate &arguments);
  void check(Call &call, StreamEventDestroy &arguments);
  void done(Call &call, StreamEventDestroy &arguments);
  void check(Call &call, StreamEventRecord &arguments);
  void done(Call &call, StreamEventRecord &arguments);
  void check(Call &call, StreamEventQuery &arguments);
  void done(Call &call, StreamEventQuery &arguments);
  void check(Call &call, StreamEventSynchronize &arguments);
  void done(Call &call, StreamEventSynchronize &arguments);
  void check(Call &call, StreamEventElapsed &arguments);
  void done(Call &call, StreamEventElapsed &arguments);
  void check(Call &call, CaptureBegin &arguments);
  void done(Call &call, CaptureBegin &arguments);
  void check(Call &call, CaptureEnd &arguments);
  void done(Call &call, CaptureEnd &arguments);
  void done(Call &call, CaptureIsCapturing &arguments);
  void done(Call &call, CaptureDestroy &arguments);
  void check(Call &call, CollectiveCreate &arguments);
  void done(Call &call, CollectiveCreate &arguments);
  void done(Call &call, CollectiveSplit &arguments);
  void done(Call &call, CollectiveDestroy &arguments);
  void check(Call &call, CollectiveAllReduce &arguments);
  void check(Call &call, CollectiveReduce &arguments);
  void check(Call &call, CollectiveBroadcast &arguments);
  void check(Call &call, CollectiveReduceScatter &arguments);
  void check(Call &call, CollectiveSend &arguments);
  void check(Call &call, CollectiveReceive &arguments);
  void check(Call &call, CollectiveGather &arguments);
  void check(Call &call, CollectiveScatter &arguments);
  void check(Call &call, CollectiveGroupStart &arguments);
  void check(Call &call, CollectiveGroupEnd &arguments);
  void check_rank(Call &call, const void *communicator, const char *name, uint32_t rank);
  void check_reduction(Call &call, int32_t reduction);
  void check_message(Call &call, const void *communicator, const char *name, const da_tensor *tensor);
  void done(Call &call, GraphCompile &arguments);
  void done(Call &call, GraphDeserialise &arguments);
  void done(Call &call, GraphSerialise &arguments);
  void done(Call &call, GraphDestroy &arguments);
  void check(Call &call, GraphExecute &arguments);
  void done(Call &call, PassRun &arguments);
  void check(Call &call, ProfilerStart &arguments);
  void done(Call &call, ProfilerStart &arguments);
  void check(Call &call, ProfilerStop &arguments);
  void done(Call &call, ProfilerStop &arguments);
  void check(Call &call, ProfilerCollect &arguments);

  struct Finding {
    Rule rule;
    Slot slot;
    std::string message;
    uint64_t count;
  };
  enum class Life { new_, starting, running, ended };

  std::mutex mutex_;
  bool errors_ = false;       // findings become errors
  std::set<uintptr_t> kept_;  // memory that the host leaves on purpose, for those who know its address
  std::vector<Finding> findings_;
  std::vector<std::string> unsaid_;  // lines for the log

  Life life_ = Life::new_;
  uint32_t device_count_ = UINT32_MAX;  // unknown
  std::unordered_map<const void *, Object> objects_[kKinds];
  std::unordered_map<const void *, DeviceFacts> facts_;
  struct CustomOps {
    bool listed;
    const void *first;
    uint64_t count, stride;
  } custom_ops_{};
  Pages pages_;
  std::pmr::unsynchronized_pool_resource pool_{&pages_};
  std::pmr::unordered_map<const void *, Allocation> memory_{&pool_};
  // (memory, stream) -> the last work of the stream with this memory
  std::pmr::map<std::pair<const void *, const void *>, uint64_t> uses_{&pool_};
  std::map<std::pair<const void *, const void *>, uint64_t>
      states_;  // (kernel, state) -> how often it is out
  std::unordered_map<const void *, uint64_t> live_errors_;
  struct Busy {
    std::thread::id thread;
    uint32_t depth;
  };
  std::unordered_map<const void *, Busy> busy_;
  std::map<std::string, const void *> tables_;
  std::deque<Watched *> callbacks_;
};

// A handle in words: "0x1234".
std::string address_text(const void *handle);

}  // namespace device_api::layers

#endif
