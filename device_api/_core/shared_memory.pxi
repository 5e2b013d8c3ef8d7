# Memory that host and device share: managed, or somebody else's.

def managed_empty(Device device not None, int32_t dtype, shape):
    """A tensor of a device in memory that the host reaches too. Where all memory is the host's, an ordinary tensor.

    UnsupportedOp where the plugin has no managed memory; DeviceOutOfMemory.
    """
    cdef ce.LayoutRef layout = _layout(dtype, shape, None)
    cdef ce.Block *block = NULL
    cdef ce.Storage *storage
    cdef ce.Failure *failure
    cdef uint64_t size = layout.get().bytes()
    _check(device)
    if device.engine.host_visible():
        return empty(device, dtype, shape)
    size = device.engine.managed.round(size)
    failure = _take_block(device, &device.engine.managed, size, &block)
    if failure != NULL:
        if failure.code != ce.UNIMPLEMENTED:
            _raise(failure, device, None, None, size)
        why = _text(failure.message)
        del failure
        raise _errors.UnsupportedOp(
            "the device has no managed memory", subject=device.name, why=why,
            remedy="Use ordinary tensors, and copies.", op="managed_empty", device=device.name,
        )
    storage = ce.adopt_managed(device.engine, block)
    try:
        return _share(device, layout, storage, storage.offset)
    finally:
        _drop(storage)


def host_address(Tensor tensor not None):
    """The address at which the host finds the first element, once queued work on the tensor is done.

    UnsupportedOp when the host cannot reach the memory.
    """
    cdef ce.Storage *storage = tensor.state.storage.get()
    if not (tensor.device.engine.host_visible() or ce.is_managed(storage)):
        raise _errors.UnsupportedOp(
            "the host cannot reach the memory of a tensor", subject=tensor.device.name,
            why="it is neither the host's nor managed", remedy="Use numpy(), or make the tensor with managed_empty().",
            op="host_view", device=tensor.device.name,
        )
    settle(tensor)
    ce.expose(storage)
    return <uintptr_t> storage.handle + tensor.state.start


cdef void _end_owner(void *release) noexcept nogil:
    if not ce.is_closing():
        with gil:
            _call_owner(<object> <PyObject *> release)
            Py_DECREF(<object> <PyObject *> release)


cdef _call_owner(release):
    if release is None:
        return
    try:
        release()
    except Exception:
        logging.getLogger("device_api").exception("the owner of wrapped memory failed to take it back")


def wrap_memory(Device device not None, int32_t dtype, shape, uintptr_t address, release):
    """A tensor over memory that somebody else owns, from an address that kernels of the device can reach.

    release: called once, without arguments, when no tensor and no queued work uses the memory; or None. It is not
    called when this function raises: UnsupportedOp where the plugin takes no such memory, PluginFailed.
    """
    cdef ce.LayoutRef layout = _layout(dtype, shape, None)
    cdef uint64_t size = layout.get().bytes()
    cdef ce.External memory
    cdef ce.Storage *storage
    cdef ce.Failure *failure
    _check(device)
    if address % ce.item_size(dtype) != 0 or (address == 0 and size != 0):
        raise _errors.AttributeValueError(
            "no tensor can lie at an address", subject=hex(address),
            why=f"it is no multiple of {ce.item_size(dtype)} bytes" if address else "it is NULL",
            argument="address", value=address,
        )
    memory.release = _end_owner
    memory.owner = <void *> release
    with nogil:
        failure = ce.wrap_memory(device.engine, <void *> address, size, &memory)
    if failure != NULL:
        if failure.code != ce.UNIMPLEMENTED:
            _raise(failure, device)
        why = _text(failure.message)
        del failure
        raise _errors.UnsupportedOp(
            "the device takes no memory of others", subject=device.name, why=why, remedy="Copy it with asarray().",
            op="wrap_memory", device=device.name,
        )
    storage = ce.adopt_wrapped(memory, size)
    Py_INCREF(release)
    try:
        return _share(device, layout, storage, 0)
    finally:
        _drop(storage)
