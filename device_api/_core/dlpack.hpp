// DLPack's structures, and the life of what crosses in them. Of the interpreter it knows references and
// capsules.
//
// A capsule's memory is given back by exactly one call of its deleter: by the consumer that renamed the
// capsule, or by the capsule when nobody did. A deleter may be called by any thread, and after the end of the
// interpreter; then the tensor stays, since there is nobody left to give it to.
#ifndef DEVICE_API_CORE_DLPACK_HPP
#define DEVICE_API_CORE_DLPACK_HPP

#include <Python.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace device_api::dlpack {

struct Device {
  int32_t type, index;
};

struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  int32_t rank;
  DataType dtype;
  int64_t *shape;
  int64_t *strides;  // in elements; nullptr: row-major without gaps
  uint64_t byte_offset;
};

struct Managed {
  Tensor tensor;
  void *context;
  void (*deleter)(Managed *);
};

struct Version {
  uint32_t major, minor;
};

struct ManagedVersioned {
  Version version;  // of another major only the two members after it keep their place
  void *context;
  void (*deleter)(ManagedVersioned *);
  uint64_t flags;
  Tensor tensor;
};

constexpr uint32_t kMajor = 1, kMinor = 1;
constexpr uint64_t kReadOnly = 1, kCopied = 2;
constexpr const char *kName = "dltensor", *kUsedName = "used_dltensor";
constexpr const char *kVersionedName = "dltensor_versioned", *kUsedVersionedName = "used_dltensor_versioned";

inline bool interpreter_lives() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() && !Py_IsFinalizing();
#else
  return Py_IsInitialized() && !_Py_IsFinalizing();
#endif
}

template <class Struct>
struct Export {
  Struct managed{};
  PyObject *owner = nullptr;  // the tensor, held
  std::vector<int64_t> numbers;

  static void release(Struct *managed) {
    Export *self = static_cast<Export *>(managed->context);
    if (interpreter_lives()) {
      const PyGILState_STATE state = PyGILState_Ensure();
      Py_DECREF(self->owner);
      PyGILState_Release(state);
    }
    delete self;
  }
};

template <class Struct>
void destroy_capsule(PyObject *capsule, const char *name) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  Struct *managed = static_cast<Struct *>(PyCapsule_GetPointer(capsule, name));
  if (managed->deleter != nullptr) managed->deleter(managed);
}

inline void destroy_legacy(PyObject *capsule) { destroy_capsule<Managed>(capsule, kName); }
inline void destroy_versioned(PyObject *capsule) {
  destroy_capsule<ManagedVersioned>(capsule, kVersionedName);
}

// `tensor` with its shape and strides in `numbers` (first all of one, then all of the other).
template <class Struct>
PyObject *make_capsule(PyObject *owner, const Tensor &tensor, std::vector<int64_t> &&numbers,
                       const char *name, PyCapsule_Destructor destructor, uint64_t flags) {
  auto made = std::make_unique<Export<Struct>>();
  made->numbers = std::move(numbers);
  made->owner = owner;
  Struct &managed = made->managed;
  managed.tensor = tensor;
  managed.tensor.shape = made->numbers.data();
  managed.tensor.strides = made->numbers.data() + tensor.rank;
  managed.context = made.get();
  managed.deleter = Export<Struct>::release;
  if constexpr (std::is_same_v<Struct, ManagedVersioned>) {
    managed.version = {kMajor, kMinor};
    managed.flags = flags;
  }
  PyObject *capsule = PyCapsule_New(&managed, name, destructor);
  if (capsule == nullptr) return nullptr;
  Py_INCREF(owner);
  made.release();
  return capsule;
}

// A new capsule over a tensor's memory; nullptr with an exception set.
inline PyObject *capsule_of(PyObject *owner, const Tensor &tensor, std::vector<int64_t> numbers,
                            bool versioned, uint64_t flags) {
  if (versioned) {
    return make_capsule<ManagedVersioned>(owner, tensor, std::move(numbers), kVersionedName,
                                          destroy_versioned, flags);
  }
  return make_capsule<Managed>(owner, tensor, std::move(numbers), kName, destroy_legacy, flags);
}

// What a consumed capsule held, until its deleter is called.
struct Import {
  Managed *legacy = nullptr;
  ManagedVersioned *versioned = nullptr;

  const Tensor &tensor() const { return versioned != nullptr ? versioned->tensor : legacy->tensor; }
  ~Import() {
    if (versioned != nullptr && versioned->deleter != nullptr) versioned->deleter(versioned);
    if (legacy != nullptr && legacy->deleter != nullptr) legacy->deleter(legacy);
  }
};

// Renames a capsule and takes what it holds over; nullptr with an exception set where it cannot be renamed.
inline Import *consume(PyObject *capsule, bool versioned) {
  void *held = PyCapsule_GetPointer(capsule, versioned ? kVersionedName : kName);
  if (held == nullptr) return nullptr;
  auto made = std::make_unique<Import>();
  if (PyCapsule_SetName(capsule, versioned ? kUsedVersionedName : kUsedName) != 0) return nullptr;
  if (versioned) {
    made->versioned = static_cast<ManagedVersioned *>(held);
  } else {
    made->legacy = static_cast<Managed *>(held);
  }
  return made.release();
}

}  // namespace device_api::dlpack

#endif
