# Every wait of the host, what it raises, and what orders work between streams.

cdef int _refuse_captured(ce.Stream *stream, str what) except -1:
    """While work is recorded, what happens now would be missing when it is replayed."""
    cdef Device device = _device_behind(stream.device, None)
    raise _errors.CaptureError(
        f"{what} is not possible while work is captured", subject=device.name if device is not None else None,
        why="it would happen now, and not when the graph is replayed", remedy="Do it before or after the capture.",
        device=device.name if device is not None else None,
    )


cdef ce.Failure *_wait_stream(ce.Stream *stream) except? NULL:
    """Waits for a stream; what failed is remembered for the tensors it should have written, and given."""
    if stream.capturing:
        _refuse_captured(stream, "waiting for the work")
    cdef uint64_t target = stream.wait_target()
    cdef ce.Failure *failure
    with nogil:
        stream.lock()
    try:
        with nogil:
            failure = stream.wait()
        stream.settle(target, failure)
    finally:
        stream.unlock()
    if not stream.device.deferred.empty():
        with nogil:
            stream.device.deferred.reap()
    if failure != NULL:
        _trace_failure(stream, failure)
    return failure


cdef int _trace_failure(ce.Stream *stream, ce.Failure *failure) except -1:
    """A stream that failed may have taken the failure over from those it follows: what they should have written is
    missing too, although only this one has told.
    """
    cdef vector[ce.Stream *] others = stream.pending()
    cdef ce.Failure *other
    cdef size_t i
    for i in range(others.size()):
        if others[i].capturing:
            continue
        other = _wait_stream(others[i])
        if other != NULL:
            _keep(_device_behind(stream.device, None), other, failure)
    return 0


cdef ce.Failure *_wait_device(Device device) except? NULL:
    """Waits for all streams of a device but those that are captured, which have no work; gives the first failure and
    keeps the others for the next wait.
    """
    cdef ce.Failure *first = NULL
    cdef ce.Failure *failure
    cdef ce.Stream *stream
    cdef size_t i = 0
    while i < device.engine.stream_count():
        stream = device.engine.stream_at(i)
        i += 1
        if stream.capturing or stream.ended:
            continue
        failure = _wait_stream(stream)
        if failure == NULL:
            continue
        if first == NULL:
            first = failure
        else:
            _keep(device, failure, first)
    with nogil:
        failure = device.engine.synchronize()
        device.engine.deferred.reap()
    if first == NULL:
        return failure
    if failure != NULL:
        _keep(device, failure, first)
    return first


cdef int _keep(Device device, ce.Failure *failure, ce.Failure *told) except -1:
    """A failure that nobody was told waits for the next wait, unless it only repeats another."""
    if failure.code == told.code and failure.message == told.message:
        del failure
    else:
        device.untold.append(_exception(failure, device, None, None, None))
    return 0


cdef int _raise_waited(ce.Failure *failure, Device device) except -1:
    """After a wait: raises what failed, or what earlier waits found and could not raise."""
    deliver_log()
    if failure != NULL:
        _raise(failure, device)
    failure = device.engine.take_kept()
    if failure != NULL:
        _raise(failure, device)
    if device.untold:
        raise device.untold.pop(0)
    return 0


cdef int _follow(Device device, ce.Stream *stream, ce.Stream *other, uint64_t work) except -1:
    """Later work of `stream` (NULL: of the host) runs after that work of another stream."""
    cdef ce.Failure *failure
    cdef uint64_t now = other.wait_target()  # work that another thread is still queueing is not followed
    if other.capturing and stream != other:
        _refuse_captured(other, "using what captured work writes")
    if stream == other or other.settled(work):
        return 0
    if stream == NULL or stream.device != other.device:
        failure = _wait_stream(other)
        if failure != NULL:
            _raise(failure, _device_behind(other.device, device))
        return 0
    if stream.follows(other, work):
        return 0
    with nogil:
        failure = stream.follow(other)
    if failure != NULL:
        _raise(failure, device)
    stream.note_follow(other, now)
    return 0


cdef dict _devices_by_engine = {}


cdef Device _device_behind(ce.EngineDevice *engine, Device otherwise):
    return _devices_by_engine.get(<uintptr_t> engine, otherwise)


cdef int _access(Device device, ce.Stream *stream, ce.Storage *storage, bint write, bint whole) except -1:
    """Before `stream` (NULL: the host, or a synchronous device) uses a storage: raises when the work that should
    have written it failed, and orders it behind work of other streams.

    write: it is written; whole: all of it, so that what it holds does not matter.
    """
    if stream != NULL and stream.reserved:
        return _capture_of(stream).note(storage, write)
    return _order(device, stream, storage, write, whole)


cdef int _order(Device device, ce.Stream *stream, ce.Storage *storage, bint write, bint whole) except -1:
    cdef ce.Stream *writer = storage.writer
    cdef ce.Stream *home = storage.home()
    cdef size_t i
    if not (write and whole):
        _check_good(device, storage)
    if writer != NULL:
        _follow(device, stream, writer, writer.latest(storage.written))
    if _is_replayed(storage):
        _follow(device, stream, home, home.sequence())
    if write:
        if home != NULL:
            _follow(device, stream, home, home.sequence())
        if storage.uses != NULL:
            for i in range(storage.uses.size()):
                _follow(device, stream, storage.uses[0][i], storage.uses[0][i].sequence())
    storage.add_use(stream)
    return 0


cdef inline bint _is_replayed(ce.Storage *storage):
    """Each replay of a graph writes it, whoever wrote last by way of the host."""
    return storage.home() != NULL and storage.home().reserved and storage.writer != storage.home()


cdef int _check_good(Device device, ce.Storage *storage) except -1:
    """Raises when the work that should have written a storage is known to have failed."""
    cdef ce.Stream *writer = storage.writer
    cdef ce.Failure *failure = NULL
    if writer != NULL and writer.suspicious():
        failure = writer.failure_of(writer.latest(storage.written))
    if failure == NULL and _is_replayed(storage):
        writer = storage.home()
        failure = writer.failure_of(writer.sequence())
    if failure != NULL:
        _raise(failure, _device_behind(writer.device, device))
    return 0


cdef int _cross(Program program, ce.Frame *frame, const ce.TensorState **states, size_t count) except -1:
    """The closer look at the operands of a run."""
    cdef ce.EngineProgram *engine = program.engine
    cdef ce.Slot *slot
    cdef const ce.TensorState *state
    cdef ce.Storage *storage
    cdef bint whole
    cdef size_t i
    if frame.stream != NULL and frame.stream.reserved:
        _capture_of(frame.stream).note_program(program)
    for i in range(engine.slots.size()):
        slot = &engine.slots[i]
        if slot.kind == ce.SLOT_INPUT or slot.kind == ce.SLOT_CONSTANT:
            _access(program.device, frame.stream, frame.storages[i], False, False)
    for i in range(engine.slots.size()):
        slot = &engine.slots[i]
        if slot.kind == ce.SLOT_OUT:
            state = states[count + slot.value]
            storage = state.storage.get()
            whole = (
                state.layout.get().contiguous and state.start == storage.offset
                and program.device.engine.allocator.round(state.layout.get().bytes()) == storage.bytes
            )
            _access(program.device, frame.stream, storage, True, whole)
    return 0


cdef int _wait_limited(Device device, ce.Stream *stream, object timeout) except -1:
    cdef ce.Failure *failure
    cdef uint64_t limit
    cdef bint locked, late
    cdef uint64_t target = stream.wait_target()
    if stream.capturing:
        _refuse_captured(stream, "waiting for the work")
    if timeout is None:
        failure = _wait_stream(stream)
    else:
        limit = _nanoseconds(timeout)
        failure = NULL
        with nogil:
            locked = stream.lock_for(limit)
            if locked:
                failure = stream.wait_for(limit)
        if not locked:
            raise _errors.DeviceTimeout(
                "the work was not done in time", subject=device.name, why="another thread waits for it as well",
                device=device.name,
            )
        late = failure != NULL and failure.code == ce.TIMEOUT
        if not late:
            stream.settle(target, failure)
        stream.unlock()
        if late:
            _raise(failure, device)
        if failure != NULL:
            _trace_failure(stream, failure)
    _raise_waited(failure, device)
    return 0


cdef uint64_t _nanoseconds(timeout) except? 0:
    if not timeout >= 0:
        raise _errors.AttributeValueError(
            "a timeout is a number of seconds, 0 or more", subject=timeout, argument="timeout", value=timeout
        )
    return <uint64_t> min(timeout * 1e9, 9e18)
