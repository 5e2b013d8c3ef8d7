# Streams as Python sees them: the current one of a thread, callbacks, streams of other software.

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
