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


cdef int _write(Tensor tensor, const void *source, uint64_t size) except -1:
    """Fills a contiguous tensor from host memory, which may be reused on return."""
    cdef Device device = tensor.device
    cdef ce.Storage *storage = tensor.state.storage.get()
    cdef ce.Stream *stream = device.engine.stream()
    cdef ce.Failure *failure
    cdef ce.Range place = _range(tensor)
    cdef cpp_bool waits = False
    if size == 0:
        return 0
    if stream != NULL and stream.reserved:
        _refuse_captured(stream, "a copy from memory of the host")
    _access(device, stream, storage, True, storage.offset == place.offset and size + 64 > storage.bytes)
    if stream != NULL:
        storage.written = stream.begin()
    storage.writer = stream
    device.engine.running += 1
    try:
        with nogil:
            failure = ce.write_to_device(device.engine, stream, place, source, size, &waits)
    finally:
        device.engine.running -= 1
        if stream != NULL:
            stream.end()
    if failure != NULL:
        _raise(failure, device)
    if waits:
        _raise_waited(_wait_stream(stream), device)
    return 0


cdef int _read(Tensor tensor, void *target, uint64_t size) except -1:
    """Copies a contiguous tensor to host memory, and waits for that."""
    cdef Device device = tensor.device
    cdef ce.Stream *stream = device.engine.stream()
    cdef ce.Failure *failure
    cdef ce.Range place = _range(tensor)
    if size == 0:
        return 0
    if stream != NULL and stream.reserved:
        _refuse_captured(stream, "reading a tensor")
    _access(device, stream, tensor.state.storage.get(), False, False)
    if stream != NULL:
        stream.begin()
    device.engine.running += 1
    try:
        with nogil:
            failure = ce.read_from_device(device.engine, stream, place, target, size)
    finally:
        device.engine.running -= 1
        if stream != NULL:
            stream.end()
    if failure != NULL:
        _raise(failure, device)
    if stream != NULL:
        _raise_waited(_wait_stream(stream), device)
        # The wait may have been good although earlier ones were not.
        _check_good(device, tensor.state.storage.get())
    return 0


def from_host(Device device not None, int32_t dtype, shape, buffer):
    """A new tensor with the bytes of a C-contiguous buffer; the buffer may be reused on return.

    Up to 8 MiB go through pinned memory, and nothing is waited for. ShapeError when the sizes differ.
    """
    cdef Tensor tensor = empty(device, dtype, shape)
    cdef uint64_t size = tensor.state.layout.get().bytes()
    cdef Py_buffer source
    PyObject_GetBuffer(buffer, &source, PyBUF_C_CONTIGUOUS)
    try:
        if <uint64_t> source.len != size:
            raise _errors.ShapeError(
                "the buffer has another size", subject=f"{source.len} bytes",
                why=f"{tensor.dtype.name}{tensor.shape} has {size}", shapes=[tensor.shape],
            )
        _write(tensor, source.buf, size)
    finally:
        PyBuffer_Release(&source)
    return tensor


def read_into(Tensor tensor not None, buffer):
    """Waits for the work on the tensor and copies it (contiguous) into a writable C-contiguous buffer."""
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
        _read(tensor, target.buf, size)
    finally:
        PyBuffer_Release(&target)


cdef uint64_t _STAGING = 16 << 20  # bytes


cdef int _copy_staged(Tensor src, Tensor dst, uint64_t size) except -1:
    """Through host memory, piece by piece."""
    cdef uint64_t done = 0
    cdef uint64_t part
    cdef bytearray staging = bytearray(min(size, _STAGING))
    cdef char *memory = staging
    cdef Tensor piece_from, piece_to
    while done < size:
        part = min(size - done, _STAGING)
        piece_from = view(src, 6, (part,), (1,), src.state.start - src.state.storage.get().offset + done)
        piece_to = view(dst, 6, (part,), (1,), dst.state.start - dst.state.storage.get().offset + done)
        _read(piece_from, memory, part)
        _write(piece_to, memory, part)
        done += part
    return 0


cdef bint _is_pinned(Tensor tensor, Device device):
    """Host memory that the accelerator `device` has pinned."""
    return tensor.state.storage.get().owner != NULL and ce.pinned_by(tensor.state.storage.get()) == device.engine


cdef int _queue_copy(Tensor src, Tensor dst, uint64_t size) except -2:
    """Queues a copy on a stream without a wait; -1 where the devices have no way between them."""
    cdef ce.EngineDevice *engine = dst.device.engine
    cdef Device on = dst.device
    cdef ce.Stream *stream
    cdef ce.Storage *target = dst.state.storage.get()
    cdef ce.Range source = _range(src)
    cdef ce.Range place = _range(dst)
    cdef ce.Failure *failure
    cdef int way = 0
    if src.device is dst.device:
        way = 1
    elif _is_pinned(src, dst.device):
        way = 2
    elif _is_pinned(dst, src.device):
        way = 3
        on = src.device
        engine = on.engine
    stream = engine.stream()
    _access(on, stream, src.state.storage.get(), False, False)
    _access(on, stream, target, True, target.offset == place.offset and size + 64 > target.bytes)
    if stream != NULL:
        target.written = stream.begin()
    target.writer = stream
    dst.device.engine.running += 1
    src.device.engine.running += 1
    try:
        with nogil:
            if way == 1:
                failure = ce.copy_within(engine, stream, source, place, size)
            elif way == 2:
                failure = ce.write_from_pinned(engine, stream, place, <char *> source.handle + source.offset, size)
            elif way == 3:
                failure = ce.read_from_device(engine, stream, source, <char *> place.handle + place.offset, size)
            else:
                failure = ce.copy_from_peer(engine, stream, src.device.engine, source, place, size)
    finally:
        src.device.engine.running -= 1
        dst.device.engine.running -= 1
        if stream != NULL:
            stream.end()
    if failure == NULL:
        return 0
    if way == 0 and failure.code == ce.UNIMPLEMENTED:
        del failure
        return -1
    _raise(failure, on)


def copy_bytes(Tensor src not None, Tensor dst not None, bint non_blocking=False):
    """Copies the bytes of one contiguous tensor over another of equal size, on any two devices.

    Within a device it is queued; between devices it waits, unless `non_blocking` and host memory is pinned.
    """
    cdef uint64_t size = src.state.layout.get().bytes()
    cdef bint queued = False
    cdef Device other
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
    if size == 0 or (
        src.state.storage.get() == dst.state.storage.get() and src.state.start == dst.state.start
    ):
        return
    if ce.alias_class(dst.state, src.state) != 0:
        raise _errors.ShapeError("source and destination overlap", subject="copying bytes", remedy="Copy first.")
    if (
        src.device is dst.device or _is_pinned(src, dst.device) or _is_pinned(dst, src.device)
        or (src.device.type == dst.device.type)
    ):
        queued = _queue_copy(src, dst, size) == 0
    if not queued:
        _copy_staged(src, dst, size)
    elif src.device is not dst.device and not non_blocking:
        other = src.device if dst.device.engine.synchronous() else dst.device
        if not other.engine.synchronous():
            _raise_waited(_wait_stream(other.engine.stream()), other)


cdef ce.Failure *_take_block(Device device, ce.Allocator *allocator, uint64_t size, ce.Block **out) except? NULL:
    """A block of memory that is not of the device's own pool; memory that ran out is asked for once more."""
    cdef ce.Failure *failure
    with nogil:
        failure = allocator.allocate(size, NULL, out)
    if failure == NULL or failure.code != ce.OUT_OF_MEMORY:
        return failure
    del failure
    _make_room(device, 0)
    with nogil:
        failure = allocator.allocate(size, NULL, out)
    return failure


def pinned_empty(Device device not None, Device host not None, int32_t dtype, shape):
    """A tensor of the device `host` (which must have memory that the host sees) in memory that copies to and from
    `device` reach without a wait. On a synchronous device it is an ordinary tensor.
    """
    cdef ce.LayoutRef layout = _layout(dtype, shape, None)
    cdef ce.Block *block = NULL
    cdef ce.Storage *storage
    cdef ce.Failure *failure
    cdef uint64_t size = layout.get().bytes()
    _check(device)
    _check(host)
    if device.engine.synchronous():
        return empty(host, dtype, shape)
    if not host.engine.host_visible():
        raise _errors.DeviceMismatch(
            "pinned memory is memory of the host", subject=host.name, why="its memory cannot be read by the host",
            devices=[device.name, host.name],
        )
    size = device.engine.pinned.round(size)
    failure = _take_block(device, &device.engine.pinned, size, &block)
    if failure != NULL:
        _raise(failure, device, None, None, size)
    storage = ce.adopt_pinned(host.engine, device.engine, block)
    try:
        return _share(host, layout, storage, storage.offset)
    finally:
        _drop(storage)


def settle(Tensor tensor not None):
    """Waits until queued work on the tensor is done, for those who look at its memory themselves."""
    cdef ce.Storage *storage = tensor.state.storage.get()
    _check(tensor.device)
    _access(tensor.device, NULL, storage, True, False)


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
    if tensor.state.storage.get().writer != NULL and tensor.device.engine.host_visible():
        settle(tensor)
    return <uintptr_t> tensor.state.storage.get().handle


def data_start(Tensor tensor not None):
    """Bytes from the memory handle to the first element."""
    return tensor.state.start


def alias_class(Tensor output not None, Tensor input not None):
    """0: no memory in common; 1: the very same elements; 2: memory in common, in some other way."""
    return ce.alias_class(output.state, input.state)


def bump_version(Tensor tensor not None):
    """Says that the storage was written in another way than through an operation."""
    tensor.state.storage.get().version += 1
