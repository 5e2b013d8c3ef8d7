# Programs as Python builds them: lists of plain tuples become the engine's steps, and everything that a run relies
# on is checked here once.

cdef ce.LayoutRef _layout(int32_t code, shape, strides) except *:
    """The interned layout; ShapeError, DTypeError or DeviceOutOfMemory for what cannot be one."""
    cdef int64_t sizes[32]
    cdef int64_t steps[32]
    cdef int64_t *given = NULL
    cdef int rank = len(shape)
    cdef int i
    cdef ce.LayoutRef layout
    cdef ce.LayoutProblem problem
    if not ce.known_dtype(code):
        raise _errors.DTypeError("unknown dtype code", subject=code)
    if rank > ce.MAX_RANK:
        raise _errors.ShapeError("too many dimensions", subject=rank, why=f"at most {ce.MAX_RANK} are possible")
    try:
        for i in range(rank):
            sizes[i] = operator.index(shape[i])
        if strides is not None:
            if len(strides) != rank:
                raise _errors.ShapeError(
                    "strides do not fit the shape", subject=tuple(strides), why=f"the shape is {tuple(shape)}"
                )
            for i in range(rank):
                steps[i] = operator.index(strides[i])
            given = steps
        problem = ce.intern_layout(code, rank, sizes, given, &layout)
    except OverflowError:
        problem = ce.PROBLEM_OVERFLOW
    if problem == ce.PROBLEM_NEGATIVE:
        raise _errors.ShapeError("a size is negative", subject=tuple(shape), shapes=[tuple(shape)])
    if problem != ce.PROBLEM_NONE:
        raise _errors.DeviceOutOfMemory(
            "not enough memory", subject=f"{_DTYPES[code].name}{tuple(shape)}", why="the size in bytes passes 2**63",
            remedy="No device has that much.",
        )
    return layout


cdef int _reach(ce.EngineProgram *program, uint32_t slot, uint64_t offset, const ce.LayoutRef &layout) except -1:
    """Widens what a slot must hold by one operand; ValueError when it cannot."""
    cdef ce.Slot *target
    cdef int64_t low, high
    if slot >= program.slots.size():
        raise ValueError(f"slot {slot} of {program.slots.size()} does not exist")
    target = &program.slots[slot]
    low = <int64_t> offset + layout.get().lowest
    high = <int64_t> offset + layout.get().highest
    if layout.get().elements == 0:
        return 0
    if (target.kind != ce.SLOT_INPUT and target.kind != ce.SLOT_OUT) and (low < 0 or high > target.highest):
        raise ValueError(f"an operand reaches bytes {low} to {high} of slot {slot}, which has {target.highest}")
    target.lowest = min(target.lowest, low)
    target.highest = max(target.highest, high)
    return 0


cdef int _add_operand(ce.EngineProgram *program, operand) except -1:
    cdef ce.LayoutRef layout
    cdef int64_t place  # from the slot's start; negative in an input that is walked backwards
    if operand is None:
        program.add_operand(False, 0, 0, layout)
        return 0
    slot, code, shape, strides, place = operand
    layout = _layout(code, shape, strides)
    _reach(program, slot, <uint64_t> place, layout)
    program.add_operand(True, slot, <uint64_t> place, layout)
    return 0


cdef int _add_slot(ce.EngineProgram *program, Program owner, slot) except -1:
    cdef ce.Slot *made
    cdef Tensor constant
    kind, value = slot
    if kind == "input":
        program.add_slot(ce.SLOT_INPUT, value)
    elif kind == "out":
        program.add_slot(ce.SLOT_OUT, value)
    elif kind == "output":
        if value > INT64_MAX // 2:
            raise _errors.DeviceOutOfMemory(
                "not enough memory", subject=owner.device.name, why=f"{value} bytes asked",
                device=owner.device.name, requested=value,
            )
        made = program.add_slot(ce.SLOT_OUTPUT, value)
        made.highest = <int64_t> value
    elif kind == "temp":
        if value > program.arena_bytes:
            raise ValueError(f"a temporary starts at {value} in an arena of {program.arena_bytes} bytes")
        made = program.add_slot(ce.SLOT_TEMP, value)
        made.highest = <int64_t> (program.arena_bytes - <uint64_t> value)
    elif kind == "constant":
        constant = value
        if constant.device is not owner.device:
            raise _errors.DeviceMismatch(
                "a constant lives on another device", subject=constant.device.name,
                devices=[constant.device.name, owner.device.name],
            )
        owner.constants.append(constant)
        made = program.add_slot(ce.SLOT_CONSTANT, 0)
        made.constant_start = constant.state.start
        constant.state.storage.get().references += 1
        made.constant = ce.StorageRef(constant.state.storage.get())
        made.highest = constant.state.layout.get().highest
    else:
        raise ValueError(f"unknown kind of slot {kind!r}")
    return 0


cdef int _add_step(ce.EngineProgram *program, Program owner, step) except -1:
    cdef ce.Step *made
    cdef ce.StepKind kind = ce.STEP_KERNEL
    cdef uint32_t kernel = 0
    cdef bytes data
    cdef const ce.Layout *drawn
    target, inputs, outputs, attributes, relocations, scalar, random_blocks = step
    if isinstance(target, int):
        if not 0 <= target < len(owner.device.kernels):
            raise ValueError(f"kernel {target} does not exist: {owner.device.name} has {len(owner.device.kernels)}")
        kernel = target
    elif target == "random":
        kind = ce.STEP_RANDOM
        if len(outputs) != 1 or outputs[0][1] != ce.UINT32:
            raise ValueError("a random step has one output of uint32")
    elif callable(target):
        kind = ce.STEP_EXTERNAL
    else:
        raise TypeError(f"a step runs a kernel index, 'random' or a callable, not {target!r}")
    owner.callables.append(target if kind == ce.STEP_EXTERNAL else None)
    made = program.add_step(kind, kernel, len(inputs), len(outputs))
    data = attributes
    program.set_attributes(made, data, len(data))
    for offset, data in relocations:
        if not program.relocate(made, offset, data, len(data)):
            raise ValueError(f"a pointer at byte {offset} does not fit {len(attributes)} bytes of attributes")
    if scalar is not None:
        position, offset, code = scalar
        if not ce.known_dtype(code):
            raise _errors.DTypeError("unknown dtype code", subject=code)
        if not program.set_scalar(made, position, offset, code):
            raise ValueError(f"a scalar at byte {offset} does not fit {len(attributes)} bytes of attributes")
    made.random_blocks = random_blocks
    for operand in inputs:
        _add_operand(program, operand)
    for operand in outputs:
        _add_operand(program, operand)
    if kind == ce.STEP_RANDOM:
        drawn = program.operands.back().layout.get()
        if not drawn.contiguous:
            raise ValueError("a random step writes contiguous memory")
        made.random_blocks = max(<uint64_t> made.random_blocks, <uint64_t> ((drawn.elements + 3) // 4))
    program.random_total += made.random_blocks
    return 0


@cython.final
cdef class Program:
    """Steps with a memory plan: what one call of an op, or a whole graph, runs."""

    cdef ce.EngineProgram *engine
    cdef readonly Device device
    cdef readonly str op
    cdef list callables
    cdef list constants
    cdef object __weakref__

    def __init__(self, Device device not None, slots, steps, results, *, uint64_t arena_bytes=0, str op=""):
        """Builds and prepares the steps; the tuples are described in the package's type file.

        ValueError for what does not fit together, UnsupportedOp when a kernel declines in `prepare`, KernelFailed
        when it fails there.
        """
        cdef ce.EngineProgram *program
        cdef ce.LayoutRef layout
        cdef ce.Failure *failure
        cdef int64_t place
        if self.engine != NULL:
            raise TypeError("a Program is built once")
        _check(device)
        self.device = device
        self.op = op
        self.callables = []
        self.constants = []
        program = new ce.EngineProgram(device.engine, op.encode())
        self.engine = program
        program.arena_bytes = device.engine.allocator.round(arena_bytes) if arena_bytes else 0
        for slot in slots:
            _add_slot(program, self, slot)
        for step in steps:
            _add_step(program, self, step)
        for slot, code, shape, strides, place in results:
            layout = _layout(code, shape, strides)
            _reach(program, slot, <uint64_t> place, layout)
            program.add_result(slot, <uint64_t> place, layout)
        with nogil:
            failure = program.prepare()
        if failure != NULL:
            step = failure.step
            _raise(failure, device, program.step_op(step).decode("utf-8", "replace"), _text(program.describe(step)))
        program.finish()

    def __dealloc__(self):
        cdef ce.EngineProgram *program = self.engine
        self.engine = NULL
        if program == NULL:
            return
        # Without states of kernels nothing is called; with them, those of a synchronous device are released here.
        program.retire()
        del program

    @property
    def steps(self):
        return self.engine.steps.size()

    @property
    def runs(self):
        """Times this program was started since the device's counts were reset."""
        return self.engine.runs

    def run(self, inputs, out=(), tuple attributes=()):
        """Runs the program on tensors, Python scalars and None; returns the results."""
        cdef list given = list(inputs)
        cdef list targets = list(out)
        cdef vector[PyObject *] input_pointers
        cdef vector[PyObject *] out_pointers
        cdef vector[const ce.TensorState *] states
        for item in given:
            input_pointers.push_back(<PyObject *> item)
            states.push_back(&(<Tensor> item).state if isinstance(item, Tensor) else NULL)
        for item in targets:
            out_pointers.push_back(<PyObject *> item)
            states.push_back(&(<Tensor> item).state if isinstance(item, Tensor) else NULL)
        _check(self.device)
        _check_operands(self, input_pointers.data(), len(given), out_pointers.data(), len(targets))
        result = _run(
            self, input_pointers.data(), len(given), states.data(), out_pointers.data(), len(targets), attributes
        )
        return result if isinstance(result, tuple) else (result,)


cdef int _check_operands(
    Program program, PyObject **inputs, size_t input_count, PyObject **outs, size_t out_count
) except -1:
    """That a program fits these operands: positions, kinds, device and the bytes that its steps touch."""
    cdef ce.EngineProgram *engine = program.engine
    cdef ce.Slot *slot
    cdef ce.Layout *layout
    cdef size_t i
    cdef PyObject **values
    cdef size_t count
    cdef object value
    for i in range(engine.slots.size()):
        slot = &engine.slots[i]
        if slot.kind != ce.SLOT_INPUT and slot.kind != ce.SLOT_OUT:
            continue
        values, count = inputs, input_count
        if slot.kind == ce.SLOT_OUT:
            values, count = outs, out_count
        if slot.value >= count:
            raise ValueError(f"{program.op}: slot {i} wants operand {slot.value} of {count}")
        value = <object> values[slot.value]
        if not isinstance(value, Tensor):
            raise TypeError(f"{program.op}: operand {slot.value} is no tensor: {type(value).__name__}")
        if (<Tensor> value).device is not program.device:
            raise _errors.DeviceMismatch(
                "tensors of several devices in one operation", subject=program.op, op=program.op,
                devices=[(<Tensor> value).device.name, program.device.name],
            )
        layout = (<Tensor> value).state.layout.get()
        if slot.lowest < layout.lowest or slot.highest > layout.highest:
            raise ValueError(
                f"{program.op}: bytes {slot.lowest} to {slot.highest} of operand {slot.value} are used, but it has"
                f" {layout.lowest} to {layout.highest}"
            )
    for i in range(engine.steps.size()):
        if engine.steps[i].scalar_input < 0:
            continue
        if <size_t> engine.steps[i].scalar_input >= input_count:
            raise ValueError(f"{program.op}: scalar {engine.steps[i].scalar_input} of {input_count} inputs")
        value = <object> inputs[engine.steps[i].scalar_input]
        if not isinstance(value, (bool, int, float, complex)):
            raise TypeError(f"{program.op}: a Python scalar is wanted, not {type(value).__name__}")
    return 0


cdef object _supports(Device device, int kernel, inputs, outputs, bytes attributes, relocations):
    """Builds descriptors and attributes as a step would have them, and asks the kernel."""
    cdef ce.EngineProgram *holder = new ce.EngineProgram(device.engine, b"supports")
    cdef vector[ce.Operand] given
    cdef vector[ce.Operand] made
    cdef ce.Step *step
    cdef ce.Failure *failure
    cdef ce.Operand operand
    cdef cpp_bool answer = False
    cdef bytes data
    cdef const void *pointer = NULL
    if not 0 <= kernel < len(device.kernels):
        raise ValueError(f"kernel {kernel} does not exist: {device.name} has {len(device.kernels)}")
    try:
        step = holder.add_step(ce.STEP_KERNEL, kernel, 0, 0)
        holder.set_attributes(step, attributes, len(attributes))
        for offset, data in relocations:
            if not holder.relocate(step, offset, data, len(data)):
                raise ValueError(f"a pointer at byte {offset} does not fit {len(attributes)} bytes of attributes")
        for side, item in [(0, item) for item in inputs] + [(1, item) for item in outputs]:
            operand = ce.Operand()
            operand.present = item is not None
            if item is not None:
                operand.layout = _layout(item[1], item[2], item[3])
            if side == 0:
                given.push_back(operand)
            else:
                made.push_back(operand)
        if not step.attributes.empty():
            pointer = step.attributes.data()
        failure = ce.kernel_supports(
            device.engine[0], device.engine.kernels()[kernel], given, made, pointer, &answer
        )
        if failure != NULL:
            _raise(failure, device, device.kernels[kernel].op)
        return bool(answer)
    finally:
        del holder
