# DLPack capsules from tensors, and tensors from capsules. Which device may share with whom is decided above.

cdef extern from "dlpack.hpp" namespace "device_api::dlpack":
    cdef struct DLDevice "device_api::dlpack::Device":
        int32_t type
        int32_t index
    cdef struct DLDataType "device_api::dlpack::DataType":
        uint8_t code
        uint8_t bits
        uint16_t lanes
    cdef struct DLTensor "device_api::dlpack::Tensor":
        void *data
        DLDevice device
        int32_t rank
        DLDataType dtype
        int64_t *shape
        int64_t *strides
        uint64_t byte_offset
    cdef struct DLVersion "device_api::dlpack::Version":
        uint32_t major
        uint32_t minor
    cdef struct DLVersioned "device_api::dlpack::ManagedVersioned":
        DLVersion version
        uint64_t flags
        DLTensor tensor
    cdef struct DLManaged "device_api::dlpack::Managed":
        DLTensor tensor
    cdef struct DLImport "device_api::dlpack::Import":
        pass
    const char *DL_NAME "device_api::dlpack::kName"
    const char *DL_VERSIONED_NAME "device_api::dlpack::kVersionedName"
    uint32_t DL_MAJOR "device_api::dlpack::kMajor"
    uint32_t DL_MINOR "device_api::dlpack::kMinor"
    uint64_t DL_READ_ONLY "device_api::dlpack::kReadOnly"
    uint64_t DL_COPIED "device_api::dlpack::kCopied"
    object _capsule_of "device_api::dlpack::capsule_of" (
        object, const DLTensor &, vector[int64_t], bint, uint64_t) except +
    DLImport *_consume "device_api::dlpack::consume" (object, bint) except? NULL

cdef extern from * nogil:
    """
    static void device_api_release_import(void *owner, std::vector<device_api::Stream *> *) {
      delete static_cast<device_api::dlpack::Import *>(owner);
    }
    """
    void _release_import "device_api_release_import" (void *, vector[ce.Stream *] *)

# Kinds of numbers in DLPack's words; the width stands beside them.
cdef enum:
    DL_INT = 0
    DL_UINT = 1
    DL_FLOAT = 2
    DL_BFLOAT = 4
    DL_COMPLEX = 5
    DL_BOOL = 6
    DL_FLOAT8_E4M3FN = 10
    DL_FLOAT8_E5M2 = 12

cdef dict _DL_KINDS = {"b": DL_BOOL, "i": DL_INT, "u": DL_UINT, "f": DL_FLOAT, "c": DL_COMPLEX}
cdef dict _DL_NAMED = {"bfloat16": DL_BFLOAT, "float8_e4m3fn": DL_FLOAT8_E4M3FN, "float8_e5m2": DL_FLOAT8_E5M2}
cdef dict _DL_TYPES = {}  # (kind, bits) -> dtype code
cdef list _DL_CODES = [(0, 0)] * len(_DTYPES)  # dtype code -> (kind, bits)
for _index in range(1, len(_DTYPES)):
    _dl_type = (
        _DL_NAMED.get(_DTYPES[_index].name) or _DL_KINDS[_DTYPES[_index].kind], _DTYPES[_index].itemsize * 8
    )
    _DL_CODES[_index] = _dl_type
    _DL_TYPES[_dl_type] = _index

dlpack_version = (DL_MAJOR, DL_MINOR)


def export_capsule(Tensor tensor not None, int32_t device_type, int32_t device_index, bint versioned, bint copied):
    """A capsule over the memory of a tensor whose device is host visible; it holds the tensor.

    The work that makes the elements is waited for. copied: tell the consumer that nobody else has this memory.
    """
    cdef ce.Layout *layout = tensor.state.layout.get()
    cdef DLTensor told
    cdef vector[int64_t] numbers
    cdef int i
    settle(tensor)
    ce.expose(tensor.state.storage.get())
    memset(&told, 0, sizeof(told))
    if layout.elements != 0:
        told.data = <char *> tensor.state.storage.get().handle + tensor.state.start
    told.device.type = device_type
    told.device.index = device_index
    told.rank = layout.rank
    told.dtype.code, told.dtype.bits = _DL_CODES[layout.dtype]
    told.dtype.lanes = 1
    for i in range(layout.rank):
        numbers.push_back(layout.shape[i])
    for i in range(layout.rank):
        numbers.push_back(layout.strides[i])
    return _capsule_of(tensor, told, numbers, versioned, DL_COPIED if copied else 0)


def import_capsule(capsule, Device device not None):
    """A tensor of `device` over the memory of a capsule of the host, and whether it may be written.

    `device` works on the host's memory in place, and at once. The capsule's deleter is called when the last tensor
    over the memory goes, or before this raises what it raises after taking the capsule. BufferError: no capsule,
    one that was used, a newer major version, memory of another device, an element type that tensors cannot have,
    elements that are not aligned.
    """
    cdef bint versioned = PyCapsule_IsValid(capsule, DL_VERSIONED_NAME)
    cdef const DLTensor *held
    cdef DLImport *taken
    cdef uint64_t flags = 0
    cdef Tensor tensor
    _check(device)
    if not device.engine.host_visible() or not device.engine.synchronous():
        raise BufferError(f"{device.name} does not work on the host's memory in place")
    if not versioned and not PyCapsule_IsValid(capsule, DL_NAME):
        raise BufferError(f"{capsule!r} is no DLPack capsule, or was used before: a capsule is taken once")
    if versioned:
        given = <DLVersioned *> PyCapsule_GetPointer(capsule, DL_VERSIONED_NAME)
        if given.version.major > DL_MAJOR:
            raise BufferError(
                f"a DLPack capsule of version {given.version.major}.{given.version.minor} cannot be read: "
                f"{DL_MAJOR}.{DL_MINOR} is known here. Ask the producer for max_version={dlpack_version}"
            )
        held = &given.tensor
        flags = given.flags
    else:
        held = &(<DLManaged *> PyCapsule_GetPointer(capsule, DL_NAME)).tensor
    code, shape, strides = _told(held)
    # From here on the capsule is taken: its memory is given back exactly once, whatever happens.
    taken = _consume(capsule, versioned)
    tensor = _over(device, code, shape, strides, <uintptr_t> held.data + held.byte_offset, taken)
    return tensor, not flags & DL_READ_ONLY


cdef tuple _told(const DLTensor *held):
    """Dtype code, shape, and strides or None. BufferError for what no tensor can be."""
    cdef tuple shape, strides = None
    cdef int i
    code = _DL_TYPES.get((held.dtype.code, held.dtype.bits)) if held.dtype.lanes == 1 else None
    if code is None:
        raise BufferError(
            f"tensors have no elements of DLPack type {held.dtype.code} with {held.dtype.bits} bits and "
            f"{held.dtype.lanes} lanes: convert them first"
        )
    if held.device.type != 1:
        raise BufferError(f"the memory is that of DLPack device type {held.device.type}, not the host's")
    if not 0 <= held.rank <= ce.MAX_RANK:
        raise BufferError(f"{held.rank} dimensions are too many: at most {ce.MAX_RANK} are possible")
    shape = tuple([held.shape[i] for i in range(held.rank)])
    if held.strides != NULL:
        strides = tuple([held.strides[i] for i in range(held.rank)])
    alignment = ce.item_size(code) // (2 if ce.is_complex(code) else 1)
    if (<uintptr_t> held.data + held.byte_offset) % alignment and 0 not in shape:
        raise BufferError(f"the elements are not aligned to {alignment} bytes")
    return code, shape, strides


cdef Tensor _over(Device device, int32_t code, tuple shape, tuple strides, uintptr_t first, DLImport *taken):
    """A tensor over memory of others; `taken` goes with the storage, also when there is none in the end."""
    cdef ce.LayoutRef layout
    cdef ce.Storage *storage
    cdef uint64_t bytes
    try:
        # What has no elements has no strides that mean anything.
        layout = _layout(code, shape, None if 0 in shape else strides)
        bytes = <uint64_t> (layout.get().highest - layout.get().lowest)
        storage = device.engine.pool.adopt_external(
            <void *> (first + layout.get().lowest), 0, bytes, _release_import, taken
        )
    except:
        _release_import(taken, NULL)
        raise
    try:
        return _share(device, layout, storage, <uint64_t> -layout.get().lowest)
    finally:
        _drop(storage)
