# Failures of the engine become the package's exceptions here, and nowhere else.

cdef str _text(const string &value):
    return value.decode("utf-8", "replace")


cdef frozenset _WAITS = frozenset((
    "stream.synchronize", "stream.event_synchronize", "device.synchronize", "asynchronous work", "memory.copy",
))


cdef str _named_op(Device device, str message):
    """The first word of a message that is the name of a kernel of the device, or None."""
    if device.kernels is None:
        return None
    known = {kernel.op for kernel in device.kernels}
    return next((word for word in re.findall(r"[a-z][a-z0-9_]*", message) if word in known), None)


cdef object _exception(ce.Failure *failure, Device device, str op, str detail, object requested):
    """Makes the exception for a failure, and ends the failure. `op` is None outside of kernels."""
    cdef int32_t code = failure.code
    cdef str entry = _text(failure.entry)
    cdef str message = _text(failure.message)
    cdef uint64_t free = 0
    cdef uint64_t total = 0
    del failure
    where = f"{op} on {device.name}" if op is not None else f"{entry} on {device.name}"
    if detail:
        where = f"{where} with {detail}"
    if code == ce.OUT_OF_MEMORY:
        device.engine.memory_info(&free, &total)
        total = total or int(device.properties.get("total_memory") or 0)
        return _errors.DeviceOutOfMemory(
            "not enough memory",
            subject=where,
            why=(f"{requested} bytes asked, " if requested is not None else "")
            + f"{free} of {total} bytes free; {message}",
            remedy="Use smaller tensors, drop some, or raise the memory limit.",
            device=device.name, requested=requested, free=free, total=total,
        )
    if code == ce.NOT_REPLAYED:
        return _errors.CaptureError(
            "the values do not exist yet", subject=device.name, why=message, remedy="Replay the graph.",
            device=device.name,
        )
    if code == ce.DEVICE_LOST:
        return _errors.DeviceLost(
            "the device is lost", subject=where, why=message,
            remedy="Restart the process; tensors on the device are gone.", device=device.name,
        )
    if code == ce.TIMEOUT:
        return _errors.DeviceTimeout(
            "the work was not done in time", subject=where, why=message, device=device.name
        )
    if op is None and entry in _WAITS:
        # The status is that of a kernel that was queued; its name stands in the plugin's words.
        op = _named_op(device, message)
        if op is not None:
            where = f"{op} on {device.name}"
    if op is None:
        return _errors.PluginFailed(
            f"{entry} failed", subject=device.name, why=f"{message} (status {code})",
            entry=entry, code=code, message=message,
        )
    if code == ce.OUT_OF_RANGE:
        return _errors.IndexOutOfRange("an index is out of range", subject=where, why=message, op=op)
    if code == ce.UNIMPLEMENTED:
        return _errors.UnsupportedOp(
            "the kernel does not take these tensors", subject=where, why=message, op=op, device=device.name
        )
    return _errors.KernelFailed(
        "a kernel failed", subject=where, why=f"{message} (status {code})",
        op=op, device=device.name, code=code, detail=message,
    )


cdef object _raise(ce.Failure *failure, Device device, str op=None, str detail=None, object requested=None):
    raise _exception(failure, device, op, detail, requested)


cdef int _refuse(Device device) except -1:
    """Says why a device may not be used: the caller found it unusable."""
    if device.engine == NULL:
        raise _errors.DeviceUnavailable("the device was never opened", spec="?", reason="Device() failed")
    if device.engine.forked():
        raise _errors.ForkedProcess(
            "a device was used after a fork",
            subject=device.name,
            why=f"process {device.owner} opened it, and this is its child {os.getpid()}",
            remedy="Start workers with the 'spawn' or 'forkserver' method, or open devices in the child only.",
            device=device.name, owner_pid=device.owner,
        )
    raise _errors.DeviceUnavailable(
        "the device was shut down", subject=device.name, why="its plugin has ended",
        remedy="Use devices before shutdown.", device=device.name, spec=device.name, reason="shut down",
    )


cdef inline int _check(Device device) except -1:
    if device.engine == NULL or not device.engine.usable():
        _refuse(device)
    return 0
