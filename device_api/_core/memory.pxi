# Making tensors, moving bytes between host and devices, and views.

cdef _needs_contiguous(Tensor tensor, str what):
    if not tensor.state.layout.get().contiguous:
        raise _errors.ShapeError(
            f"{what} needs a contiguous tensor", subject=f"{tensor.dtype.name}{tensor.shape}",
            why=f"strides are {tensor.strides}", remedy="Copy it first.", shapes=[tensor.shape],
        )


cdef inline ce.Range _range(Tensor tensor):
    cdef ce.Range place
    place.handle = tensor.state.storage.get().handle
    place.offset = tensor.state.start
    return place


def empty(Device device not None, int32_t dtype, shape):
    """A contiguous tensor whose elements are whatever the memory held.

    dtype: number of the C header. DeviceOutOfMemory, ShapeError, DTypeError.
    """
    _check(device)
    cdef ce.LayoutRef layout = _layout(dtype, shape, None)
    cdef ce.Storage *storage = _new_storage(device, layout.get().bytes(), None)
    cdef Tensor tensor
    try:
        return _share(device, layout, storage, storage.offset)
    finally:
        _drop(storage)


cdef inline void _drop(ce.Storage *storage) noexcept:
    """Gives up one reference."""
    cdef ce.StorageRef reference = ce.StorageRef(storage)


def from_host(Device device not None, int32_t dtype, shape, buffer):
    """A new tensor with the bytes of a C-contiguous buffer; the buffer may be reused on return.

    ShapeError when the sizes differ.
    """
    cdef Tensor tensor = empty(device, dtype, shape)
    cdef uint64_t size = tensor.state.layout.get().bytes()
    cdef ce.Failure *failure = NULL
    cdef ce.Range place = _range(tensor)
    cdef Py_buffer source
    PyObject_GetBuffer(buffer, &source, PyBUF_C_CONTIGUOUS)
    try:
        if <uint64_t> source.len != size:
            raise _errors.ShapeError(
                "the buffer has another size", subject=f"{source.len} bytes",
                why=f"{tensor.dtype.name}{tensor.shape} has {size}", shapes=[tensor.shape],
            )
        if size != 0:
            with nogil:
                failure = ce.write_to_device(device.engine, place, source.buf, size)
    finally:
        PyBuffer_Release(&source)
    if failure != NULL:
        _raise(failure, device)
    return tensor


def read_into(Tensor tensor not None, buffer):
    """Waits for the work on the device and copies a contiguous tensor into a writable C-contiguous buffer."""
    cdef ce.Failure *failure = NULL
    cdef ce.Range place = _range(tensor)
    cdef uint64_t size = tensor.state.layout.get().bytes()
    cdef Py_buffer target
    _check(tensor.device)
    _needs_contiguous(tensor, "reading")
    PyObject_GetBuffer(buffer, &target, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
    try:
        if <uint64_t> target.len != size:
            raise _errors.ShapeError(
                "the buffer has another size", subject=f"{target.len} bytes",
                why=f"{tensor.dtype.name}{tensor.shape} has {size}", shapes=[tensor.shape],
            )
        if size != 0:
            with nogil:
                failure = ce.read_from_device(tensor.device.engine, place, target.buf, size)
    finally:
        PyBuffer_Release(&target)
    if failure != NULL:
        _raise(failure, tensor.device)


def copy_bytes(Tensor src not None, Tensor dst not None):
    """Copies the bytes of one contiguous tensor over another of equal size, on any two devices; waits."""
    cdef ce.Failure *failure = NULL
    cdef ce.Range source = _range(src)
    cdef ce.Range target = _range(dst)
    cdef uint64_t size = src.state.layout.get().bytes()
    _check(src.device)
    _check(dst.device)
    _needs_contiguous(src, "copying bytes")
    _needs_contiguous(dst, "copying bytes")
    if dst.state.layout.get().bytes() != size:
        raise _errors.ShapeError(
            "the tensors have different sizes", subject=f"{size} bytes",
            why=f"the destination has {dst.nbytes}", shapes=[src.shape, dst.shape],
        )
    dst.state.storage.get().version += 1
    if size == 0 or (src.state.storage.get() == dst.state.storage.get() and source.offset == target.offset):
        return
    if ce.alias_class(dst.state, src.state) != 0:
        raise _errors.ShapeError("source and destination overlap", subject="copying bytes", remedy="Copy first.")
    with nogil:
        failure = ce.copy_between(src.device.engine, source, dst.device.engine, target, size)
    if failure != NULL:
        _raise(failure, dst.device)


def view(Tensor tensor not None, int32_t dtype, shape, strides, int64_t byte_offset):
    """Another tensor over the same storage.

    strides: in elements. byte_offset: from the start of the storage. ShapeError when it would leave the storage.
    """
    cdef ce.LayoutRef layout = _layout(dtype, shape, strides)
    cdef ce.Storage *storage = tensor.state.storage.get()
    cdef int64_t low = byte_offset + layout.get().lowest
    cdef int64_t high = byte_offset + layout.get().highest
    if byte_offset < 0 or low < 0 or high > <int64_t> storage.bytes:
        raise _errors.ShapeError(
            "a view would leave its storage", subject=f"{_DTYPES[dtype].name}{tuple(shape)}",
            why=f"it reaches bytes {low} to {high} of {storage.bytes}", shapes=[tuple(shape)],
        )
    return _share(tensor.device, layout, storage, storage.offset + <uint64_t> byte_offset)


def data_handle(Tensor tensor not None):
    """The plugin's memory handle as a number: an address where the device is host visible. Add `start` to it."""
    _check(tensor.device)
    return <uintptr_t> tensor.state.storage.get().handle


def data_start(Tensor tensor not None):
    """Bytes from the memory handle to the first element."""
    return tensor.state.start


def bump_version(Tensor tensor not None):
    """Says that the storage was written in another way than through an operation."""
    tensor.state.storage.get().version += 1
