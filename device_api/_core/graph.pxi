# Graphs: work that is recorded once and replayed as one launch.

cdef dict _captures = {}  # address of a stream that is captured: its Graph
cdef object _graphs = weakref.WeakSet()


cdef Graph _capture_of(ce.Stream *stream):
    """The graph that records what is queued on a stream that a graph owns."""
    graph = _captures.get(<uintptr_t> stream)
    if graph is None:
        _refuse_captured(stream, "other work on the stream of a graph")
    return graph


@cython.final
cdef class Graph:
    """Work that was recorded once, and is replayed as one launch: `with Graph.capture(device) as graph:`, then
    `graph.replay()`.

    Within the block this thread's work for the device is recorded and does not run. A replay does it again on the
    memory it was recorded with: inputs are given new values in place, and the tensors that were made in the block hold
    the results of the last replay. All that is used stays alive as long as the graph.
    """

    cdef ce.EngineGraph *engine
    cdef readonly Device device
    cdef readonly bint ready
    cdef list programs
    cdef Stream outer
    cdef object __weakref__

    def __init__(self):
        raise TypeError("a Graph is made by Graph.capture(device)")

    @staticmethod
    def capture(device=None):
        """What to enter with `with`, once. device: a device, its string, or None for that of this thread.

        UnsupportedOp where the plugin cannot capture. What would happen now instead of at each replay is a
        CaptureError, and leaves the capture as it was: waits, copies from and to ordinary memory of the host, other
        streams, events and callbacks, random numbers, Python kernels and fallbacks. An exception ends the capture.
        """
        cdef Graph graph = Graph.__new__(Graph)
        graph.device = _resolve(device)
        graph.programs = []
        return graph

    def __enter__(self):
        cdef ce.EngineDevice *on
        cdef ce.Stream *stream = NULL
        cdef ce.Failure *failure
        _check(self.device)
        on = self.device.engine
        if self.engine != NULL or self.ready:
            raise _errors.CaptureError("a graph is captured once", subject=self.device.name, device=self.device.name)
        if on.synchronous() or on.tables().capture == NULL:
            raise _errors.UnsupportedOp(
                "the device cannot capture work", subject=self.device.name,
                why="its plugin has no capture interface" if on.tables().capture == NULL else "it is synchronous",
                remedy="Run the work itself.", op="capture", device=self.device.name,
            )
        if on.stream().reserved:
            _refuse_captured(on.stream(), "another capture")
        self.outer = current_stream(self.device)
        failure = on.acquire_stream(0, &stream)
        if failure != NULL:
            _raise(failure, self.device)
        self.engine = new ce.EngineGraph(on, stream)
        _graphs.add(self)
        with nogil:
            failure = self.engine.begin()
        if failure != NULL:
            self.give_up()
            _raise(failure, self.device)
        _captures[<uintptr_t> stream] = self
        on.set_stream(stream)
        return self

    def __exit__(self, kind, value, traceback):
        cdef ce.Failure *failure
        if self.engine == NULL:  # the device has ended meanwhile
            return False
        del _captures[<uintptr_t> self.engine.stream()]
        self.device.engine.set_stream(self.outer.engine)
        self.outer = None
        with nogil:
            failure = self.engine.end()
        self.engine.settle()
        if kind is not None:
            del failure
            self.give_up()
            return False
        if failure != NULL:
            self.give_up()
            _raise(failure, self.device)
        self.ready = True
        return False

    def replay(self):
        """Queues the work once more, behind and before what this thread queues on its current stream.

        What fails in it is raised by the wait that meets it, as for any work. CaptureError when the capture has not
        ended, or failed.
        """
        cdef ce.Stream *stream
        cdef ce.Stream *current
        cdef vector[ce.Stream *] readers
        cdef ce.Failure *failure
        cdef uint64_t work
        cdef size_t i
        _check(self.device)
        if not self.ready:
            raise _errors.CaptureError(
                "there is nothing to replay", subject=self.device.name,
                why="the capture has not ended, or it failed", device=self.device.name,
            )
        current = self.device.engine.stream()
        if current.reserved:
            _refuse_captured(current, "replaying a graph")
        stream = self.engine.stream()
        _follow(self.device, stream, current, current.sequence())
        readers = stream.take_readers()
        for i in range(readers.size()):
            _follow(self.device, stream, readers[i], readers[i].sequence())
        for i in range(self.engine.uses().size()):
            _order(
                self.device, stream, self.engine.uses()[i].storage.get(), self.engine.uses()[i].written, False
            )
        work = stream.begin()
        try:
            with nogil:
                failure = self.engine.replay()
        finally:
            stream.end()
        if failure != NULL:
            _raise(failure, self.device)
        self.engine.note_replay(work)
        _follow(self.device, current, stream, work)

    cdef int note(self, ce.Storage *storage, bint write) except -1:
        """Recorded work uses a storage."""
        if storage.writer != NULL and storage.writer.capturing and storage.writer != self.engine.stream():
            _refuse_captured(storage.writer, "using what other captured work writes")
        self.engine.note(storage, write)
        return 0

    cdef int note_program(self, Program program) except -1:
        """Recorded work runs a program."""
        cdef ce.EngineProgram *engine = program.engine
        if engine.random_total != 0:
            self.device.engine.return_random(engine.random_total)
            _refuse_captured(self.engine.stream(), f"drawing random numbers, as {program.op or 'a program'} does,")
        if engine.external_count != 0:
            _refuse_captured(self.engine.stream(), f"a Python kernel or fallback, as for {program.op or 'a program'},")
        self.programs.append(program)
        return 0

    cdef int give_up(self) except -1:
        """Ends the graph; what it holds goes when its replays are done."""
        cdef ce.EngineGraph *engine = self.engine
        cdef ce.Failure *failure
        self.engine = NULL
        self.ready = False
        self.programs = []
        if engine == NULL:
            return 0
        _captures.pop(<uintptr_t> engine.stream(), None)
        with nogil:
            failure = engine.end()
        del failure
        engine.retire()
        return 0

    def __dealloc__(self):
        # A capture that goes on is held; so nothing is called here.
        if self.engine != NULL and self.device.engine.usable():
            self.engine.retire()

    def __repr__(self):
        state = "ready" if self.ready else "not captured"
        return f"<Graph of {self.device.name}, {state}>"
