// Programs: the steps that one call of an op, or a whole graph, runs, with their memory plan.
//
// Everything that can be known once is computed when the program is built: descriptors, attribute blocks, the
// states of kernels. A run copies the descriptors of a step to the stack, puts the addresses in, and calls.
// There is one executor; a step that is no kernel (a Python function) is run by whoever drives the frame.
#ifndef DEVICE_API_CORE_PROGRAM_HPP
#define DEVICE_API_CORE_PROGRAM_HPP

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device.hpp"
#include "layout.hpp"
#include "tensor.hpp"

namespace device_api {

enum class SlotKind : int32_t { input, out, output, temp, constant };

struct Slot {
  SlotKind kind;
  uint64_t value;  // input and out: position; output: bytes, rounded; temp: offset in the arena
  StorageRef constant;
  uint64_t constant_start = 0;  // byte offset in the constant's handle
  int64_t lowest = 0;           // bytes from the slot's start that operands and results reach
  int64_t highest = 0;
};

struct Operand {
  bool present;
  uint32_t slot;
  uint64_t byte_offset;
  LayoutRef layout;
};

enum class StepKind : int32_t { kernel, random, external };

struct Step {
  StepKind kind;
  bool skipped;    // all outputs are empty
  uint32_t first;  // operand
  uint32_t input_count;
  uint32_t output_count;
  const da_kernel *kernel;
  void *state;
  uint64_t random_blocks;
  uint64_t random_before;  // blocks drawn by earlier steps
  std::vector<uint64_t> attributes;
  std::vector<std::vector<uint64_t>> pointed;  // what relocated pointers point at
  int32_t scalar_input;                        // -1: none
  uint32_t scalar_index;                       // in the frame
  uint32_t scalar_word;                        // where in `attributes`
  int32_t scalar_dtype;
};

struct Place {
  void *handle;
  uint64_t offset;
};

// One run. Lives on the stack of the caller; bigger programs take memory from the heap.
class Frame {
 public:
  Frame() = default;
  ~Frame() { clear(); }
  Frame(const Frame &) = delete;
  Frame &operator=(const Frame &) = delete;

  // Host lock. Gives every slot its memory: operands (which fit the program), outputs, the arena. Returns the
  // bytes of the first block that the pool could not serve at once, or 0. After `supply` (it takes the
  // reference) of such a block, call `resume`.
  inline uint64_t start(Program *program, const TensorState *const *inputs, const TensorState *const *outs);
  void supply(Storage *storage) { supplied_ = storage; }
  inline uint64_t resume();
  uint64_t work() const { return work_; }
  // Drops the references that the frame owns: outputs that nobody took, and the arena.
  inline void clear();

  Program *program = nullptr;
  Storage *arena = nullptr;
  Place *places = nullptr;
  Storage **storages = nullptr;
  Element *scalars = nullptr;
  Stream *stream = nullptr;  // on which it runs
  bool crossing = false;     // needs a closer look: other streams, work that failed, a capture
  uint64_t random_seed = 0;
  uint64_t random_offset = 0;

 private:
  static constexpr uint32_t kInline = 12;
  static constexpr uint32_t kInlineScalars = 2;
  void widen(size_t slots, size_t scalar_count);
  inline Storage *take(uint64_t bytes);

  const TensorState *const *inputs_ = nullptr;
  const TensorState *const *outs_ = nullptr;
  Storage *supplied_ = nullptr;
  uint64_t work_ = 0;   // its number on the stream
  uint32_t ready_ = 0;  // slots that have their memory
  Place inline_places_[kInline];
  Storage *inline_storages_[kInline];
  Element inline_scalars_[kInlineScalars];
  std::unique_ptr<Place[]> many_places_;
  std::unique_ptr<Storage *[]> many_storages_;
  std::unique_ptr<Element[]> many_scalars_;
};

class Program {
 public:
  // Host lock.
  Program(Device *device, std::string op);
  // `retire` first. Host lock.
  ~Program() = default;
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  // Building. The binding has checked slots, dtypes and sizes.
  Slot *add_slot(SlotKind kind, uint64_t value);
  void add_operand(bool present, uint32_t slot, uint64_t byte_offset, LayoutRef layout);
  Step *add_step(StepKind kind, uint32_t kernel, uint32_t input_count, uint32_t output_count);
  void set_attributes(Step *step, const char *bytes, uint64_t size);
  bool relocate(Step *step, uint64_t offset, const char *bytes, uint64_t size);
  bool set_scalar(Step *step, int32_t input, uint64_t offset, int32_t dtype);
  void add_result(uint32_t slot, uint64_t byte_offset, LayoutRef layout);
  // Calls `prepare` of each kernel. May call the plugin for long: without the host lock.
  Failure *prepare();
  // Counts as existing from now on, until `retire`, which also gives the states of kernels up: at once, or
  // when the streams that run them have passed. Host lock.
  void finish();
  void retire();
  // At the end of the device. Without the host lock.
  void release_states();

  // Runs steps [first, last), none of them external; a failure names its step.
  Failure *run(Frame *frame, uint64_t first, uint64_t last) noexcept;
  // A plain program's whole run, without a frame; false when it must be run the long way. Host lock.
  bool run_plain(const TensorState *const *inputs, Storage *output, Failure **out_failure) noexcept;
  // The first external step at or after `from`, or the number of steps.
  uint64_t next_external(uint64_t from) const;
  // It runs on that stream. Host lock.
  void note_stream(Stream *stream) {
    if (streams_.empty() || streams_.back() != stream) note_new_stream(stream);
  }
  void count_runs(std::map<std::string, uint64_t> *totals) const;
  // Says which tensors a step works on: "inputs float32(4, 4), ...; outputs ...".
  std::string describe(uint64_t step) const;
  const char *step_op(uint64_t step) const;

  Device *device;
  std::string op;
  std::vector<Slot> slots;
  std::vector<Operand> operands;
  std::vector<Step> steps;
  std::vector<Operand> results;
  uint64_t arena_bytes = 0;
  std::vector<uint32_t> outputs;  // slots of kind output
  uint32_t external_count = 0;
  uint32_t scalar_count = 0;
  uint64_t random_total = 0;
  bool leaves_lock = false;  // long or blocking: run without the host lock
  bool plain = false;        // one kernel from whole inputs to one new output, under the host lock
  uint64_t runs = 0;
  Program *next = nullptr;
  Program *previous = nullptr;

 private:
  void note_new_stream(Stream *stream);
  bool is_plain() const;
  Failure *launch_kept(const Step &step, const Frame &frame);
  Failure *call(const Step &step, Stream *stream, uint64_t seed, uint64_t offset,
                const da_tensor *const *pointers, const uint64_t *attributes);
  Failure *run_kernel(const Step &step, Frame *frame);
  Failure *launch(const Step &step, Frame *frame, da_tensor *tensors, const da_tensor **pointers,
                  const uint64_t *attributes);
  Failure *run_random(const Step &step, Frame *frame);

  std::vector<da_tensor> descriptors_;
  std::vector<da_tensor> kept_;  // descriptors that runs under the host lock write the addresses into
  std::vector<const da_tensor *> kept_pointers_;
  bool busy_ = false;              // such a run is in progress
  std::vector<Stream *> streams_;  // on which states may still be in use
  bool listed_ = false;
};

// Fills a descriptor for `layout` without data.
void describe_tensor(const Device &device, const Layout *layout, da_tensor *out);

// Asks a kernel whether it takes these tensors (nullptr entries: absent).
Failure *kernel_supports(const Device &device, const da_kernel *kernel, const std::vector<Operand> &inputs,
                         const std::vector<Operand> &outputs, const void *attributes, bool *out_supported);

inline uint64_t Frame::start(Program *of, const TensorState *const *inputs, const TensorState *const *outs) {
  program = of;
  inputs_ = inputs;
  outs_ = outs;
  places = inline_places_;
  storages = inline_storages_;
  scalars = inline_scalars_;
  if (of->slots.size() > kInline || of->scalar_count > kInlineScalars)
    widen(of->slots.size(), of->scalar_count);
  ++of->device->running;
  stream = of->device->stream();
  if (stream != nullptr) {
    work_ = stream->begin();
    of->note_stream(stream);
    crossing = stream->reserved.load(std::memory_order_relaxed);
  }
  if (of->random_total != 0) {
    RandomState &source = of->device->random_source();
    random_seed = source.seed;
    random_offset = source.offset;
    source.offset += of->random_total;
  }
  return resume();
}

inline Storage *Frame::take(uint64_t bytes) {
  return supplied_ != nullptr ? std::exchange(supplied_, nullptr) : program->device->pool.take(bytes, stream);
}

inline uint64_t Frame::resume() {
  if (program->arena_bytes != 0 && arena == nullptr) {
    arena = take(program->arena_bytes);
    if (arena == nullptr) return program->arena_bytes;
  }
  const uint32_t count = static_cast<uint32_t>(program->slots.size());
  const Slot *slots = program->slots.data();
  for (; ready_ < count; ++ready_) {
    const Slot &slot = slots[ready_];
    Storage *storage = nullptr;
    uint64_t start = 0;
    switch (slot.kind) {
      case SlotKind::input:
      case SlotKind::out: {
        const TensorState *state = (slot.kind == SlotKind::input ? inputs_ : outs_)[slot.value];
        storage = state->storage.get();
        start = state->start;
        if (storage->writer != stream || storage->uses != nullptr ||
            (stream != nullptr && (stream->suspicious() || storage->home() != stream))) {
          crossing = true;
        }
        break;
      }
      case SlotKind::output:
        storage = take(slot.value);
        if (storage == nullptr) return slot.value;
        start = storage->offset;
        storage->writer = stream;
        storage->written = work_;
        break;
      case SlotKind::temp:
        storage = arena;
        start = arena->offset + slot.value;
        break;
      case SlotKind::constant:
        storage = slot.constant.get();
        start = slot.constant_start;
        if (storage->writer != stream) crossing = true;
        break;
    }
    storages[ready_] = storage;
    places[ready_] = Place{storage->handle, start};
  }
  return 0;
}

inline void Frame::clear() {
  if (program == nullptr) return;
  for (const uint32_t slot : program->outputs) {
    if (slot < ready_) StorageRef dropped(storages[slot]);
  }
  if (arena != nullptr) StorageRef dropped(arena);
  if (supplied_ != nullptr) StorageRef dropped(supplied_);
  if (stream != nullptr) stream->end();
  --program->device->running;
  program = nullptr;
}

}  // namespace device_api

#endif
