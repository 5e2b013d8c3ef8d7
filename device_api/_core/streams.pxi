# Streams and events as Python sees them, every wait of the host, and what orders work between streams.

cdef extern from *:
    """
    #include <chrono>
    static double device_api_now() {
      return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
    """
    double _now_ns "device_api_now" ()


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


cdef Stream _wrap_stream(Device device, ce.Stream *engine, bint owned):
    cdef Stream stream = Stream.__new__(Stream)
    stream.device = device
    stream.engine = engine
    stream.owned = owned
    stream.outer = []
    return stream


@cython.final
cdef class Stream:
    """Work of a device in the order of its calls; streams run beside each other.

    `with stream:` makes it the current stream of this thread for its device. On a synchronous device every stream is
    done at once.
    """

    cdef ce.Stream *engine  # NULL: of a synchronous device
    cdef readonly Device device
    cdef bint owned
    cdef list outer
    cdef object __weakref__

    def __init__(self, device=None, int priority=0):
        """device: a device, its string, or None for that of this thread. A lower `priority` number runs earlier; 0 is normal. PluginFailed when the plugin can make no stream."""
        cdef ce.Stream *made = NULL
        cdef ce.Failure *failure
        cdef Device on = _resolve(device)
        if self.device is not None:
            raise TypeError("a Stream is made once")
        _check(on)
        self.device = on
        self.outer = []
        if on.engine.synchronous():
            return
        failure = on.engine.acquire_stream(priority, &made)
        if failure != NULL:
            _raise(failure, on)
        self.engine = made
        self.owned = True

    @staticmethod
    def wrap(native, device=None):
        """A stream over one that the vendor's library has made, for work in one order with that of other software.

        native: what the plugin takes for such a stream, as a number. It must live until `unwrap`, or until the device
        has ended. Wrapping it again gives the same stream. UnsupportedOp where the plugin wraps no streams.
        """
        cdef Device on = _resolve(device)
        cdef uintptr_t address = operator.index(native)
        cdef ce.Stream *made = NULL
        cdef ce.Failure *failure
        _check(on)
        if address == 0:
            raise _errors.AttributeValueError(
                "no stream can be wrapped", subject=on.name, why="it is NULL", argument="native", value=native
            )
        if on.engine.synchronous():
            raise _errors.UnsupportedOp(
                "the device has no streams", subject=on.name, why="it is synchronous",
                remedy="Work on it is done when a call returns.", op="Stream.wrap", device=on.name,
            )
        failure = on.engine.wrap_stream(<void *> address, &made)
        if failure != NULL:
            if failure.code != ce.UNIMPLEMENTED:
                _raise(failure, on)
            why = _text(failure.message)
            del failure
            raise _errors.UnsupportedOp(
                "the device takes no streams of others", subject=on.name, why=why,
                remedy="Use a Stream, and wait for it.", op="Stream.wrap", device=on.name,
            )
        return _wrap_stream(on, made, False)

    def unwrap(self):
        """Waits for the work, and gives a wrapped stream up: its owner may end it, and no Stream of it is of use any more.

        Raises what failed in the work; the stream is given up all the same. A second call does nothing.
        AttributeValueError where it was not made by `wrap`, or is the current stream of some thread.
        """
        cdef ce.Failure *failure
        cdef ce.Failure *ending
        _check(self.device)
        if self.engine == NULL or self.engine.native == NULL or self.engine.entered != 0:
            raise _errors.AttributeValueError(
                "a stream cannot be given up", subject=repr(self),
                why="some thread works on it" if self.engine != NULL and self.engine.native != NULL else
                "it was not made by Stream.wrap", argument="self", value=self,
            )
        if self.engine.ended:
            return
        failure = _wait_stream(self.engine)
        _reap_all()  # memory that waits for this stream
        ending = self.device.engine.end_wrapped(self.engine)
        if ending != NULL:
            if failure == NULL:
                failure = ending
            else:
                _keep(self.device, ending, failure)
        _raise_waited(failure, self.device)

    @property
    def handle(self):
        """The plugin's handle of the stream as a number, for who calls the plugin; 0 on a synchronous device."""
        self.check()
        return <uintptr_t> self.engine.handle if self.engine != NULL else 0

    cdef int check(self) except -1:
        _check(self.device)
        if self.engine != NULL and self.engine.ended:
            raise _errors.AttributeValueError(
                "the stream was given up", subject=repr(self), why="unwrap() has ended it",
                remedy="Wrap the native stream again.", argument="stream", value=self,
            )
        return 0

    def __dealloc__(self):
        # The plugin's stream serves again: memory belongs to it, and its work may still run.
        if self.owned and self.engine != NULL:
            self.engine.idle = True

    @property
    def priority(self):
        return 0 if self.engine == NULL else self.engine.priority

    def __eq__(self, other):
        if not isinstance(other, Stream):
            return NotImplemented
        if self.engine == NULL:
            return self is other
        return self.engine == (<Stream> other).engine

    def __hash__(self):
        return hash(<uintptr_t> self.engine) if self.engine != NULL else object.__hash__(self)

    def __repr__(self):
        number = self.engine.number if self.engine != NULL else 0
        return f"<Stream {number} of {self.device.name}>"

    def __enter__(self):
        cdef Stream before
        self.check()
        if self.engine != NULL:
            before = current_stream(self.device)
            if before.engine.reserved or self.engine.reserved:
                _refuse_captured(self.engine, "changing the stream")
            self.outer.append(before)
            self.device.engine.set_stream(self.engine)
            self.engine.entered += 1
        return self

    def __exit__(self, *exception):
        if self.engine != NULL:
            self.device.engine.set_stream((<Stream> self.outer.pop()).engine)
            self.engine.entered -= 1
        return None

    def synchronize(self, timeout=None):
        """Waits until all work is done, at most `timeout` seconds; raises what failed. DeviceTimeout."""
        self.check()
        if self.engine != NULL:
            _wait_limited(self.device, self.engine, timeout)

    def query(self):
        """True when all work is done; never waits and raises no failure of the work."""
        cdef int32_t done = 1
        cdef ce.Failure *failure
        self.check()
        if self.engine != NULL:
            if self.engine.capturing:
                _refuse_captured(self.engine, "asking for the state of the work")
            with nogil:
                failure = ce.query_stream(self.engine, &done)
            if failure != NULL:
                _raise(failure, self.device)
        return done != 0

    def wait_event(self, Event event not None):
        """Later work of this stream runs after what `event` last recorded; never recorded: nothing happens."""
        event.wait(self)

    def wait_stream(self, Stream other not None):
        """Later work of this stream runs after the present work of another one."""
        self.check()
        other.check()
        if other.engine != NULL:
            if self.engine != NULL and self.engine.reserved:
                _refuse_captured(self.engine, "waiting for another stream")
            _follow(self.device, self.engine, other.engine, other.engine.sequence())

    def record_event(self, Event event=None):
        """Records an event (a new one without timing, if none is given) and returns it."""
        if event is None:
            event = Event()
        event.record(self)
        return event

    def add_callback(self, function):
        """Has `function(status)` called once, in order, when the present work is done; 0 says that it went well.

        It runs on a thread of the plugin and must not wait for the device. An exception in it is logged.
        """
        cdef ce.Failure *failure
        cdef uint64_t work
        self.check()
        if not callable(function):
            raise TypeError(f"a callback is a function, not {type(function).__name__}")
        if self.engine == NULL:
            _call_back(function, 0)
            return
        if self.engine.reserved:
            _refuse_captured(self.engine, "a callback")
        if not ce.has_callbacks(self.engine):
            raise _errors.UnsupportedOp(
                "the plugin has no callbacks", subject=self.device.name, op="add_callback", device=self.device.name
            )
        Py_INCREF(function)
        work = self.engine.begin()
        with nogil:
            failure = ce.add_callback(self.engine, _on_stream, <void *> function, _callback_ended)
        self.engine.end()
        if failure != NULL:
            Py_DECREF(function)
            _raise(failure, self.device)


cdef _call_back(function, int32_t status):
    try:
        function(status)
    except Exception:
        logging.getLogger("device_api").exception("a callback of a stream failed")


cdef void _on_stream(void *function, int32_t status) noexcept nogil:
    if not ce.is_closing():
        with gil:
            _call_back(<object> <PyObject *> function, status)


cdef void _callback_ended(void *function) noexcept nogil:
    if not ce.is_closing():
        with gil:
            Py_DECREF(<object> <PyObject *> function)


cdef object _events = weakref.WeakSet()


@cython.final
cdef class Event:
    """A mark in a stream. It belongs to the device of the stream that first records it."""

    cdef ce.da_event *handle
    cdef readonly Device device
    cdef readonly bint timing
    cdef ce.Stream *stream  # of the last recording
    cdef uint64_t work      # of that stream, at the recording
    cdef double recorded    # on synchronous devices, when
    cdef object __weakref__

    def __init__(self, bint timing=False):
        """timing: `elapsed_time` will be asked."""
        self.timing = timing
        _events.add(self)
        self.recorded = -1

    def __dealloc__(self):
        if self.handle != NULL and not ce.is_closing():
            self.end(self.device)

    cdef int end(self, Device device) except -1:
        """Gives the plugin's event up, if it is one of that device."""
        cdef ce.da_event *handle = self.handle
        cdef ce.Failure *failure
        if handle == NULL or self.device is not device or not device.engine.usable():
            return 0
        self.handle = NULL
        with nogil:
            failure = ce.destroy_event(device.engine, handle)
        device.engine.keep(failure)
        return 0

    def __repr__(self):
        return f"<Event of {self.device.name if self.device is not None else 'no device yet'}>"

    def record(self, Stream stream=None):
        """Marks the present end of a stream, by default the current one of the event's own device, or of this
        thread's device when the event has none yet."""
        cdef ce.Failure *failure
        cdef uint64_t work
        if stream is None:
            stream = current_stream(self.device)
        stream.check()
        if self.device is not None and self.device is not stream.device:
            raise _errors.DeviceMismatch(
                "an event belongs to one device", subject=self.device.name, why=f"the stream is one of"
                f" {stream.device.name}", devices=[self.device.name, stream.device.name],
            )
        self.device = stream.device
        if stream.engine == NULL:
            self.recorded = _now_ns()
            return
        if stream.engine.reserved:
            _refuse_captured(stream.engine, "recording an event")
        if self.handle == NULL:
            with nogil:
                failure = ce.create_event(stream.engine.device, self.timing, &self.handle)
            if failure != NULL:
                _raise(failure, self.device)
        work = stream.engine.wait_target()  # what another thread queues meanwhile may come behind the mark
        with nogil:
            failure = ce.record_event(stream.engine, self.handle)
        if failure != NULL:
            _raise(failure, self.device)
        self.stream = stream.engine
        self.work = work

    def wait(self, Stream stream=None):
        """Later work of a stream (by default the current one of the event's device) runs after what was last
        recorded."""
        cdef ce.Failure *failure
        if self.stream == NULL:
            return
        if stream is None:
            stream = current_stream(self.device)
        stream.check()
        if stream.engine == NULL or stream.engine.device != self.stream.device:
            self.synchronize()
            return
        if stream.engine.reserved:
            _refuse_captured(stream.engine, "waiting for an event")
        with nogil:
            failure = ce.wait_event(stream.engine, self.handle)
        if failure != NULL:
            _raise(failure, self.device)
        if not stream.engine.follows(self.stream, self.work):
            stream.engine.note_follow(self.stream, self.work)

    def query(self):
        """True when the mark was reached, or nothing was recorded."""
        cdef int32_t done = 1
        cdef ce.Failure *failure
        if self.handle != NULL:
            _check(self.device)
            with nogil:
                failure = ce.query_event(self.device.engine, self.handle, &done)
            if failure != NULL:
                _raise(failure, self.device)
        return done != 0

    def synchronize(self, timeout=None):
        """Waits until the mark is reached, at most `timeout` seconds; raises what failed before it. DeviceTimeout."""
        cdef ce.Failure *failure
        cdef uint64_t limit = <uint64_t> -1
        if self.handle == NULL:
            return
        _check(self.device)
        if timeout is not None:
            limit = _nanoseconds(timeout)
        with nogil:
            failure = ce.synchronize_event(self.device.engine, self.handle, limit)
            if failure == NULL:
                self.device.engine.deferred.reap()
        if failure != NULL:
            _raise(failure, self.device)
        self.stream.settle(self.work, NULL)

    def elapsed_time(self, Event end not None):
        """Milliseconds from this mark to another; both reached and made with timing. PluginFailed otherwise."""
        cdef ce.Failure *failure
        cdef double nanoseconds = 0
        if self.device is None or end.device is None or not self.timing or not end.timing:
            raise _errors.AttributeValueError(
                "no time can be told", subject="elapsed_time", argument="end", value=end,
                why="both events are recorded, and made with timing=True",
            )
        if self.handle == NULL:
            return (end.recorded - self.recorded) / 1e6
        with nogil:
            failure = ce.elapsed(self.device.engine, self.handle, end.handle, &nanoseconds)
        if failure != NULL:
            _raise(failure, self.device)
        return nanoseconds / 1e6


def current_stream(device=None):
    """The stream on which this thread's work for a device (None: this thread's device) is queued."""
    cdef Device on = _resolve(device)
    _check(on)
    return _wrap_stream(on, on.engine.stream(), False)


def default_stream(device=None):
    """The stream of a device with which every thread starts."""
    cdef Device on = _resolve(device)
    _check(on)
    return _wrap_stream(on, on.engine.default_stream(), False)


cdef object _resolver = None


def set_device_resolver(function):
    """Says how to find the device behind a string, and this thread's device behind None."""
    global _resolver
    _resolver = function


cdef Device _resolve(device):
    if isinstance(device, Device):
        return device
    if _resolver is None:
        raise RuntimeError("no resolver is installed: import device_api, not only its core")
    return _resolver(device)


def record_stream(Tensor tensor not None, Stream stream not None):
    """Says that a stream uses a tensor in a way the host does not see: its memory stays until that work is done."""
    tensor.state.storage.get().add_use(stream.engine)
