# Devices and their kernels as Python sees them.

@cython.final
cdef class Kernel:
    """One kernel that a device offers; `dtypes` are sets of dtype codes, one for each type variable."""

    cdef readonly int index
    cdef readonly str op
    cdef readonly tuple dtypes
    cdef readonly unsigned long long flags
    cdef readonly int priority
    cdef readonly bint has_supports

    def __repr__(self):
        return f"Kernel({self.index}, {self.op!r}, dtypes={self.dtypes}, flags={self.flags})"


cdef Kernel _kernel(int index, const ce.da_kernel *entry):
    cdef Kernel kernel = Kernel.__new__(Kernel)
    kernel.index = index
    kernel.op = entry.op.decode("utf-8", "replace")
    kernel.dtypes = (entry.dtypes[0], entry.dtypes[1], entry.dtypes[2], entry.dtypes[3])
    kernel.flags = entry.flags
    kernel.priority = entry.priority
    kernel.has_supports = entry.supports != NULL
    return kernel


@cython.final
cdef class Device:
    """One opened device. Equal to its name ("npu:0") and, for index 0, to its bare type ("npu")."""

    cdef ce.EngineDevice *engine
    cdef readonly str type
    cdef readonly int index
    cdef readonly str name
    cdef readonly object properties
    cdef readonly tuple kernels
    cdef readonly int owner
    cdef list untold  # failures that a wait found and could not raise
    cdef object __weakref__

    def __init__(self, str type not None, int index, handle, tables, errors, properties):
        """Wraps an opened device.

        handle: address of the da_device. tables: interface name ("memory", "kernel", "device", and optionally
        "stream", "random", "capture") to address of its table. errors: address of the da_error_interface.
        PluginFailed when the plugin cannot list its kernels or make a stream.
        """
        if self.engine != NULL:
            raise TypeError("a Device is initialised once")
        cdef ce.Tables found
        cdef ce.da_dl_device place
        cdef ce.Failure *failure
        cdef ce.EngineDevice *made
        missing = [name for name in ("memory", "kernel", "device") if not tables.get(name)]
        if missing or not errors:
            raise ValueError(f"the addresses of {missing or 'the error table'} are needed")
        found.memory = <const ce.da_memory_interface *> <uintptr_t> tables["memory"]
        found.kernel = <const ce.da_kernel_interface *> <uintptr_t> tables["kernel"]
        found.device = <const ce.da_device_interface *> <uintptr_t> tables["device"]
        found.stream = <const ce.da_stream_interface *> <uintptr_t> (tables.get("stream") or 0)
        found.random = <const ce.da_random_interface *> <uintptr_t> (tables.get("random") or 0)
        found.capture = <const ce.da_capture_interface *> <uintptr_t> (tables.get("capture") or 0)
        place.type = properties.get("dl_device_type") or 12
        place.id = index
        self.type = type
        self.index = index
        self.name = f"{type}:{index}"
        self.properties = properties
        self.owner = os.getpid()
        self.untold = []
        direct = _environment.choice("DEVICE_API_ALLOCATOR", ("caching", "direct"), "caching") == "direct"
        # Never freed: plugins stay loaded, and tensors and programs may outlive this object.
        made = new ce.EngineDevice(
            <ce.da_device *> <uintptr_t> handle, found, <const ce.da_error_interface *> <uintptr_t> errors,
            place, properties.get("allocation_alignment") or 0, properties.get("flags") or 0, direct,
        )
        with nogil:
            failure = made.open()
        if failure != NULL:
            self.engine = made
            error = _exception(failure, self, None, None, None)
            self.engine = NULL
            raise error
        self.kernels = tuple([_kernel(i, made.kernels()[i]) for i in range(made.kernels().size())])
        self.engine = made
        _devices_by_engine[<uintptr_t> made] = self

    @property
    def handle(self):
        """Address of the plugin's da_device."""
        _check(self)
        return <uintptr_t> self.engine.handle()

    @property
    def synchronous(self):
        """True when every call is finished as it returns."""
        _check(self)
        return self.engine.synchronous()

    @property
    def deterministic(self):
        """Kernels are asked for the same bits from the same inputs."""
        _check(self)
        return self.engine.deterministic

    @deterministic.setter
    def deterministic(self, bint value):
        _check(self)
        self.engine.deterministic = value

    @property
    def memory_limit(self):
        """Bytes of device and managed memory that may be held from the plugin; 0: no limit."""
        _check(self)
        return self.engine.budget.limit()

    @memory_limit.setter
    def memory_limit(self, uint64_t limit):
        _check(self)
        self.engine.budget.set_limit(limit)

    def supports(self, int kernel, inputs, outputs, bytes attributes, relocations=()):
        """Asks a kernel whether it takes these operands; true for kernels that have no opinion."""
        _check(self)
        return _supports(self, kernel, inputs, outputs, attributes, relocations)

    def synchronize(self):
        """Waits for all work; raises what failed meanwhile, also what the plugin reported on its own."""
        cdef ce.Failure *failure
        _check(self)
        if self.engine.stream() != NULL and self.engine.stream().capturing:
            _refuse_captured(self.engine.stream(), "waiting for the device")
        failure = _wait_device(self)
        _raise_waited(failure, self)

    def memory_stats(self):
        """Bytes and counts: allocated (in live tensors and running kernels), reserved (held from the plugin), ...; and
        the bytes of pinned and managed memory, in use (by queued copies too) and held from the plugin.
        """
        _check(self)
        cdef ce.PoolStatistics pool = self.engine.pool.statistics()
        cdef ce.AllocatorStatistics allocator = self.engine.allocator.statistics()
        cdef ce.AllocatorStatistics pinned = self.engine.pinned.statistics()
        cdef ce.AllocatorStatistics managed = self.engine.managed.statistics()
        return {
            "allocated": pool.allocated,
            "peak_allocated": pool.peak_allocated,
            "reserved": allocator.reserved,
            "peak_reserved": allocator.peak_reserved,
            "allocations": pool.allocations,
            "frees": pool.frees,
            "binned": pool.cached,
            "plugin_allocations": allocator.plugin_allocations,
            "plugin_frees": allocator.plugin_frees,
            "retries": allocator.retries,
            "unstaged_uploads": self.engine.unstaged,
            "missed_marks": self.engine.deferred.misses(),
            "pinned_allocated": pinned.used,
            "pinned_peak_allocated": pinned.peak_used,
            "pinned_reserved": pinned.reserved,
            "pinned_peak_reserved": pinned.peak_reserved,
            "managed_allocated": managed.used,
            "managed_peak_allocated": managed.peak_used,
            "managed_reserved": managed.reserved,
            "managed_peak_reserved": managed.peak_reserved,
        }

    def reset_peak_memory_stats(self):
        """Peaks start again from the present values."""
        _check(self)
        self.engine.pool.reset_peak()
        self.engine.allocator.reset_peak()
        self.engine.pinned.reset_peak()
        self.engine.managed.reset_peak()

    def empty_cache(self):
        """Gives memory that no tensor uses back to the plugin; returns the number of bytes."""
        _check(self)
        return _release_cached(self)

    def memory_snapshot(self):
        """Every block of memory held from the plugin, in words of dict: kind ("device", "pinned" or "managed"), chunk (its handle),
        offset and bytes, state ("used", "cached", or "free") and the number of the stream that it belongs to.
        """
        _check(self)
        cdef vector[ce.const_Block_ptr] none
        return (
            _blocks(&self.engine.allocator, "device", self.engine.pool.binned())
            + _blocks(&self.engine.pinned, "pinned", none) + _blocks(&self.engine.managed, "managed", none)
        )

    def kernel_runs(self):
        """Launches of native kernels since the last reset: op name to count."""
        _check(self)
        cdef cpp_map[string, uint64_t] runs = self.engine.kernel_runs()
        return {item.first.decode("utf-8", "replace"): item.second for item in runs}

    def reset_kernel_runs(self):
        _check(self)
        self.engine.reset_kernel_runs()

    def manual_seed(self, seed):
        """Restarts the random numbers of the device at offset 0 of stream `seed` (taken modulo 2**64)."""
        _check(self)
        self.engine.random.seed = operator.index(seed) & 0xFFFFFFFFFFFFFFFF
        self.engine.random.offset = 0

    def random_state(self):
        """(seed, offset); the offset counts blocks of four 32-bit words."""
        _check(self)
        return (self.engine.random.seed, self.engine.random.offset)

    def set_random_state(self, uint64_t seed, uint64_t offset):
        _check(self)
        self.engine.random.seed = seed
        self.engine.random.offset = offset

    def retire(self):
        """Ends the use of the device, right before its plugin's shutdown: gives its memory and states of kernels back (but
        for memory that others may look at by its address), logs failures that nobody was told, and calls no function of
        the plugin from then on. Work that goes on for long is left. Returns the handles of the memory that stays for
        others.
        """
        cdef vector[const void *] left
        cdef vector[void *] wrapped
        cdef size_t i
        if self.engine != NULL and self.engine.usable():
            idle = False
            try:
                idle = _wind_up(self)
            finally:
                self.engine.retire()
            if idle and self.engine.running == 0:
                wrapped = self.engine.take_wrapped()
                with nogil:
                    left = self.engine.release_held(wrapped)
            _log_untold(self)
        return [<uintptr_t> left[i] for i in range(left.size())]

    def __eq__(self, other):
        if self is other:
            return True
        if isinstance(other, str):
            return other == self.name or (self.index == 0 and other == self.type)
        return NotImplemented

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"device({self.name!r})"

    def __reduce__(self):
        raise TypeError(f"{self.name} cannot be pickled: send its name instead")


cdef list _blocks(ce.Allocator *allocator, str kind, vector[ce.const_Block_ptr] binned):
    cdef vector[ce.BlockView] views = allocator.blocks()
    cdef size_t i
    cached = {<uintptr_t> binned[i] for i in range(binned.size())}
    return [
        {
            "kind": kind, "chunk": <uintptr_t> views[i].chunk.handle, "offset": views[i].offset,
            "bytes": views[i].bytes, "stream": views[i].stream,
            "state": "free" if views[i].free else "cached" if <uintptr_t> views[i].block in cached else "used",
        }
        for i in range(views.size())
    ]


cdef object _release_cached(Device device, bint hand_over=False, uint64_t need=0):
    """Waits for the device, then gives what is free to the plugin, and what is left to the current stream, which needs
    a block of `need` bytes.
    """
    cdef ce.Failure *failure
    cdef uint64_t released = 0
    cdef uint64_t idle
    device.engine.pool.flush()
    with nogil:
        device.engine.deferred.reap()
    idle = device.engine.allocator.free_count()
    if not device.engine.synchronous():
        failure = _wait_device(device)
        # Those streams are done all the same, so nothing uses what is free.
        if failure != NULL:
            device.untold.append(_exception(failure, device, None, None, None))
        idle = device.engine.allocator.free_count()
    with nogil:
        failure = device.engine.allocator.release_cached(idle, &released)
        if failure == NULL:
            failure = device.engine.pinned.release_cached(device.engine.pinned.free_count(), &released)
        if failure == NULL:
            failure = device.engine.managed.release_cached(device.engine.managed.free_count(), &released)
    if failure != NULL:
        _raise(failure, device)
    if hand_over:
        device.engine.allocator.hand_over(idle, device.engine.stream(), need)
    _raise_waited(NULL, device)
    return released


cdef int _make_room(Device device, uint64_t need) except -1:
    """Memory ran out: lets go of what only garbage and caches hold."""
    device.engine.allocator.count_retry()
    gc.collect()
    _release_cached(device, True, need)
    return 0


cdef int _log_untold(Device device) except -1:
    """At the end nobody waits any more: what would have been raised is logged."""
    cdef ce.Failure *failure = device.engine.take_kept()
    while failure != NULL:
        device.untold.append(_exception(failure, device, None, None, None))
        failure = device.engine.take_kept()
    for error in device.untold:
        logging.getLogger("device_api").warning("at the end of %s: %s", device.name, error)
    device.untold.clear()
    return 0


cdef int _reap_all() except -1:
    """On all devices, because what waits on one may wait for the streams of another."""
    cdef Device each
    for each in list(_devices_by_engine.values()):
        if each.engine.usable():
            with nogil:
                each.engine.deferred.reap_all(True)
    return 0


cdef double _LONGEST_END = 2.0  # seconds


cdef bint _wind_up(Device device) except -1:
    """Ends what nobody uses; false when some work goes on for too long."""
    cdef ce.Failure *failure
    cdef ce.Stream *stream
    cdef uint64_t released = 0
    cdef uint64_t idle
    cdef uint64_t limit = <uint64_t> (_LONGEST_END * 1e9)
    cdef size_t i
    cdef bint busy = False
    for graph in list(_graphs):
        if (<Graph> graph).device is device:
            (<Graph> graph).give_up()
    _reap_all()  # sets marks that the waits below reach
    for i in range(device.engine.stream_count()):
        stream = device.engine.stream_at(i)
        if stream.ended:
            continue
        with nogil:
            failure = stream.wait_for(limit)
        if failure == NULL:
            continue
        busy |= failure.code == ce.TIMEOUT
        device.untold.append(_exception(failure, device, None, None, None))
    if busy:
        _log_untold(device)
        return False
    device.engine.pool.flush()
    for item in list(_events):
        (<Event> item).end(device)
    _reap_all()
    with nogil:
        idle = device.engine.allocator.free_count()
        device.engine.keep(device.engine.allocator.release_cached(idle, &released))
        device.engine.keep(device.engine.pinned.release_cached(device.engine.pinned.free_count(), &released))
        device.engine.keep(device.engine.managed.release_cached(device.engine.managed.free_count(), &released))
        if not device.engine.synchronous():
            device.engine.destroy_streams()
    return True


cdef ce.Storage *_new_storage(Device device, uint64_t size, str op) except NULL:
    """A new storage with one reference; the slow way when the pool has none ready."""
    cdef ce.Stream *stream = device.engine.stream()
    cdef ce.Storage *storage = device.engine.pool.take(size, stream)
    cdef ce.Block *block = NULL
    cdef ce.Failure *failure
    cdef uint64_t rounded
    cdef int attempt
    if storage != NULL:
        return storage
    if size > <uint64_t> INT64_MAX // 2:
        raise _errors.DeviceOutOfMemory(
            "not enough memory", subject=device.name, why=f"{size} bytes asked",
            remedy="No device has that much.", device=device.name, requested=size,
        )
    rounded = device.engine.allocator.round(size)
    for attempt in range(2):
        with nogil:
            failure = device.engine.allocator.allocate(rounded, stream, &block)
        if failure == NULL:
            return device.engine.pool.adopt(block)
        if failure.code != ce.OUT_OF_MEMORY or attempt == 1:
            break
        del failure
        _make_room(device, rounded)
    _raise(failure, device, op, None, size)
