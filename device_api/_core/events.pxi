# Events as Python sees them: marks in streams, with times on devices that tell them.

cdef extern from *:
    """
    #include <chrono>
    static double device_api_now() {
      return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
    """
    double _now_ns "device_api_now" ()


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
