// What a layer is: an object that sees every call before and after it goes down.
#ifndef DEVICE_API_LAYERS_LAYER_HPP
#define DEVICE_API_LAYERS_LAYER_HPP

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "generated/slots.hpp"

namespace device_api::layers {

struct Instance;
class Json;

// One call on its way through a layer. `error` is NULL for slots that return something else.
struct Call {
  Call(Instance &instance_, Slot slot_, void *arguments_, da_error **error_)
      : instance(instance_), slot(slot_), arguments(arguments_), error(error_) {}
  template <class T>
  Call(Instance &instance_, Slot slot_, void *arguments_, T *)
      : instance(instance_), slot(slot_), arguments(arguments_), error(nullptr) {}

  bool failed() const { return error != nullptr && *error != nullptr; }

  Instance &instance;
  const Slot slot;
  void *const arguments;
  da_error **const error;
  // For the layer, from `before` to `after`.
  uint64_t start = 0;
  uint64_t note[4] = {};
  void *extra = nullptr;
  const void *busy = nullptr;
  bool answered = false;  // by the layer itself: nothing was called below
  alignas(8) unsigned char saved[160];
};

using Options = std::map<std::string, std::string>;

class Layer {
 public:
  explicit Layer(Instance &instance) : instance_(instance) {}
  Layer(const Layer &) = delete;
  Layer &operator=(const Layer &) = delete;
  virtual ~Layer() = default;

  // Takes options; returns what is wrong with them, "" when nothing is.
  virtual std::string configure(const Options &options) = 0;
  // False: the layer has answered the call itself, in the arguments and in *call.error; nothing is called
  // below.
  virtual bool before(Call &call) = 0;
  virtual void after(Call &call) = 0;
  // What the layer knows, as one JSON value.
  virtual void report(Json *out) = 0;
  // Forgets what `report` would give.
  virtual void reset() = 0;

 protected:
  Instance &instance_;
};

using LayerFactory = std::unique_ptr<Layer> (*)(Instance &instance);

std::unique_ptr<Layer> make_stats(Instance &instance);
std::unique_ptr<Layer> make_fault(Instance &instance);
std::unique_ptr<Layer> make_trace(Instance &instance);
std::unique_ptr<Layer> make_validate(Instance &instance);

// Nanoseconds of the monotonic clock.
uint64_t now();

}  // namespace device_api::layers

#endif
