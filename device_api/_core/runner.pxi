# One run of a program: memory, operands, scalars, steps, results.

cdef int _grow_frame(Device device, ce.Frame *frame, uint64_t need, str op) except -1:
    while need != 0:
        frame.supply(_new_storage(device, need, op))
        need = frame.resume()
    return 0


cdef inline Tensor _operand_tensor(Program program, ce.Frame *frame, const ce.Operand *operand):
    return _share(
        program.device, operand.layout, frame.storages[operand.slot],
        frame.places[operand.slot].offset + operand.byte_offset,
    )


cdef int _run_python(Program program, ce.Frame *frame, uint64_t index, tuple attributes) except -1:
    """Runs a step that is a Python function, on views of the frame's memory."""
    cdef ce.Step *step = &program.engine.steps[index]
    cdef const ce.Operand *operand
    cdef list inputs = []
    cdef list outputs = []
    cdef uint32_t i
    cdef bint previous
    if step.skipped:
        return 0
    for i in range(step.input_count + step.output_count):
        operand = &program.engine.operands[step.first + i]
        tensor = _operand_tensor(program, frame, operand) if operand.present else None
        (inputs if i < step.input_count else outputs).append(tensor)
    previous = set_grad_enabled(False)
    try:
        program.callables[index](inputs, outputs, attributes)
    finally:
        set_grad_enabled(previous)
    return 0


cdef int _run_steps(Program program, ce.Frame *frame, uint64_t first, uint64_t last) except -1:
    """Runs native steps; out of memory is met once by letting caches go."""
    cdef ce.EngineProgram *engine = program.engine
    cdef ce.Failure *failure
    cdef uint64_t step
    cdef int64_t retried = -1
    while True:
        if engine.leaves_lock:
            with nogil:
                failure = engine.run(frame, first, last)
        else:
            failure = engine.run(frame, first, last)
        if failure == NULL:
            return 0
        step = failure.step
        if failure.code != ce.OUT_OF_MEMORY or retried == failure.step:
            break
        retried = failure.step
        first = step
        del failure
        _make_room(program.device, 0)
    kernel = engine.step_op(step).decode("utf-8", "replace")
    detail = _text(engine.describe(step))
    if program.op and program.op != kernel:
        detail = f"{detail}, as part of {program.op}"
    _raise(failure, program.device, kernel, detail)


cdef int _run_mixed(Program program, ce.Frame *frame, tuple attributes) except -1:
    cdef uint64_t count = program.engine.steps.size()
    cdef uint64_t position = 0
    cdef uint64_t stop
    while position < count:
        stop = program.engine.next_external(position)
        if stop > position:
            _run_steps(program, frame, position, stop)
        if stop < count:
            _run_python(program, frame, stop, attributes)
        position = stop + 1
    return 0


cdef object _run(
    Program program, PyObject **inputs, size_t count, const ce.TensorState **states, PyObject **outs, size_t out_count,
    tuple attributes,
):
    """Runs a program on operands that fit it; returns a tensor, or a tuple when there is not exactly one result.

    states: those of the inputs (NULL for scalars), then those of the outs.
    """
    cdef ce.Frame frame
    cdef ce.EngineProgram *engine = program.engine
    cdef uint64_t need = frame.start(engine, states, states + count)
    cdef ce.Storage *storage
    cdef size_t i
    if need != 0:
        _grow_frame(program.device, &frame, need, program.op)
    if frame.crossing:
        _cross(program, &frame, states, count)
    if engine.scalar_count != 0:
        for i in range(engine.steps.size()):
            if engine.steps[i].scalar_input >= 0:
                _encode_scalar(
                    <object> inputs[engine.steps[i].scalar_input], engine.steps[i].scalar_dtype,
                    &frame.scalars[engine.steps[i].scalar_index],
                )
    engine.runs += 1
    for i in range(out_count):
        storage = (<Tensor> outs[i]).state.storage.get()
        storage.version += 1
        storage.writer = frame.stream
        storage.written = frame.work()
    if engine.external_count != 0:
        _run_mixed(program, &frame, attributes)
    else:
        _run_steps(program, &frame, 0, engine.steps.size())
    if engine.results.size() == 1:
        return _result(program, &frame, &engine.results[0], inputs, outs)
    return tuple([
        _result(program, &frame, &engine.results[i], inputs, outs) for i in range(engine.results.size())
    ])


cdef inline Tensor _result(
    Program program, ce.Frame *frame, const ce.Operand *result, PyObject **inputs, PyObject **outs
):
    """A result: new, a view of an operand, or the operand itself when nothing differs."""
    cdef ce.Slot *slot = &program.engine.slots[result.slot]
    cdef Tensor tensor
    if slot.kind == ce.SLOT_OUT:
        tensor = <Tensor> outs[slot.value]
        if result.byte_offset == 0 and tensor.state.layout.get() == result.layout.get():
            return tensor
    return _operand_tensor(program, frame, result)
