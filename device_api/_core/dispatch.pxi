# From a call to its program: the key, the plan cache, and the hooks that answer what the cache cannot.

cdef extern from *:
    """
    static thread_local bool device_api_grad_enabled = true;
    static inline PyObject **device_api_items(PyObject *tuple) { return ((PyTupleObject *)tuple)->ob_item; }
    """
    bint _grad_flag "device_api_grad_enabled"
    PyObject **_items "device_api_items" (tuple)
    PyObject *_type "(PyObject *)Py_TYPE" (PyObject *)

cdef enum:
    # Kinds of inputs that are no tensor; the addresses of layouts are never so small.
    ABSENT = 0
    SCALAR_BOOL = 1
    SCALAR_INT = 2
    SCALAR_FLOAT = 3
    SCALAR_COMPLEX = 4
    INLINE_WORDS = 32

cdef size_t _PLAN_CAPACITY = 8192
cdef ce.PlanTable *_plans = new ce.PlanTable(_PLAN_CAPACITY)
cdef uint64_t _hits = 0
cdef uint64_t _misses = 0
cdef object _plan_hook = None
cdef object _record_hook = None
cdef object _coerce_hook = None
cdef tuple _EMPTY = ()


# The plans of operators used lately, in front of the plan table: op and layouts say where to look. Entries point into
# the table, so all are forgotten whenever it lets one go.
cdef struct Recent:
    ce.PlanEntry *entry
    const ce.Layout *left
    const ce.Layout *right
    PyObject *device
    int op

cdef enum:
    RECENT_COUNT = 256

cdef Recent _recent[RECENT_COUNT]
cdef ce.PlanEntry *_last_entry = NULL  # that a call found or made


cdef inline Recent *_recent_of(int op, const ce.Layout *left, const ce.Layout *right) noexcept:
    cdef uint64_t mixed = (<uint64_t> left >> 5) + (<uint64_t> right >> 6) * 5 + <uint64_t> op * 41
    return &_recent[(mixed ^ (mixed >> 8)) & (RECENT_COUNT - 1)]


cdef int _forget_recent() except -1:
    global _last_entry
    _last_entry = NULL
    memset(_recent, 0, sizeof(_recent))
    return 0


cdef object _quick_binary(int op, Tensor left, Tensor right, bint *done):
    """The whole call where its plan is plain and was used lately; else `done` stays false."""
    global _hits
    cdef const ce.Layout *a = left.state.layout.get()
    cdef const ce.Layout *b = right.state.layout.get()
    cdef Recent *recent = _recent_of(op, a, b)
    cdef const ce.TensorState *states[2]
    cdef ce.EngineProgram *engine
    cdef ce.Storage *storage
    cdef ce.Failure *failure = NULL
    cdef Program program
    cdef Tensor tensor
    if (
        recent.left != a or recent.right != b or recent.op != op or recent.device != <PyObject *> left.device
        or <PyObject *> right.device != recent.device or left.differentiable or right.differentiable
        or not (<Device> recent.device).engine.usable()
    ):
        return None
    program = <Program> <PyObject *> recent.entry.program
    engine = program.engine
    storage = engine.device.pool.take(engine.slots[engine.outputs[0]].value, NULL)
    if storage == NULL:
        return None
    states[0] = &left.state
    states[1] = &right.state
    recent.entry.used = True
    if not engine.run_plain(states, storage, &failure):
        _drop(storage)
        return None
    tensor = _adopt(program.device, engine.results[0].layout, storage)
    if failure != NULL:
        if failure.code == ce.OUT_OF_MEMORY:
            del failure
            return None
        _raise(
            failure, program.device, engine.step_op(0).decode("utf-8", "replace"), _text(engine.describe(0))
        )
    _hits += 1
    done[0] = True
    return tensor


cdef int _note_recent(int op, Tensor left, Tensor right) except -1:
    """After a call of two tensors: remembers its plan if it is plain."""
    cdef ce.PlanEntry *entry = _last_entry
    cdef const ce.Layout *a = left.state.layout.get()
    cdef const ce.Layout *b = right.state.layout.get()
    cdef Recent *recent
    if (
        entry == NULL or entry.words.size() != 4 or entry.words[0] != (<uint64_t> op | <uint64_t> 2 << 32)
        or entry.words[1] != <uint64_t> left.device.engine or entry.words[2] != <uint64_t> a
        or entry.words[3] != <uint64_t> b or not (<Program> <PyObject *> entry.program).engine.plain
    ):
        return 0
    recent = _recent_of(op, a, b)
    recent.entry = entry
    recent.left = a
    recent.right = b
    recent.device = <PyObject *> left.device
    recent.op = op
    return 0


def set_hooks(*, plan, record, coerce):
    """Installs what answers on a miss (plan), for gradients (record) and for foreign operands (coerce).

    Returns the hooks that were installed before, by name; None stands for none.
    """
    global _plan_hook, _record_hook, _coerce_hook
    previous = {"plan": _plan_hook, "record": _record_hook, "coerce": _coerce_hook}
    _plan_hook = plan
    _record_hook = record
    _coerce_hook = coerce
    return previous


def grad_enabled():
    """True when operations of this thread are recorded for gradients."""
    return _grad_flag


def set_grad_enabled(bint enabled):
    """Sets recording for this thread; returns what it was."""
    global _grad_flag
    cdef bint previous = _grad_flag
    _grad_flag = enabled
    return previous


cdef bint _same_attribute(object a, object b) except -1:
    """Equal in type and value. 1, 1.0 and True differ, as do 0.0 and -0.0: they plan differently."""
    cdef Py_ssize_t i
    cdef double x, y
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) is tuple:
        if PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b):
            return False
        for i in range(PyTuple_GET_SIZE(a)):
            if not _same_attribute(<object> PyTuple_GET_ITEM(a, i), <object> PyTuple_GET_ITEM(b, i)):
                return False
        return True
    if type(a) is float:
        x, y = a, b
        return x == y and signbit(x) == signbit(y)
    if type(a) is complex:
        return _same_attribute(a.real, b.real) and _same_attribute(a.imag, b.imag)
    return PyObject_RichCompareBool(a, b, Py_EQ)


cdef inline PyObject *_find(uint64_t hash, const uint64_t *words, size_t count, tuple attributes) except? NULL:
    """The cached program of a key (borrowed), or NULL without an exception."""
    cdef size_t position = _plans.first_position(hash)
    cdef ce.PlanEntry *entry = _plans.find(hash, words, count, &position)
    if entry != NULL and entry.attributes == <void *> attributes:
        global _last_entry
        _last_entry = entry
        return <PyObject *> entry.program
    if entry == NULL:
        return NULL
    return _search(hash, words, count, attributes)


cdef PyObject *_search(uint64_t hash, const uint64_t *words, size_t count, tuple attributes) except? NULL:
    """The same where attributes have to be compared one by one."""
    cdef size_t position = _plans.first_position(hash)
    cdef uint64_t generation = _plans.generation()
    cdef ce.PlanEntry *entry
    cdef object stored
    while True:
        entry = _plans.find(hash, words, count, &position)
        if entry == NULL:
            return NULL
        stored = <object> <PyObject *> entry.attributes
        if _same_attribute(stored, attributes):
            if generation == _plans.generation():
                return <PyObject *> entry.program
        if generation != _plans.generation():
            # Comparing ran foreign code that changed the table.
            generation = _plans.generation()
            position = _plans.first_position(hash)


cdef _release_entry(ce.PlanEntry *entry):
    cdef object program = <object> <PyObject *> entry.program
    cdef object attributes = <object> <PyObject *> entry.attributes
    _forget_recent()
    Py_DECREF(program)
    Py_DECREF(attributes)
    del entry


cdef _remember(
    uint64_t hash, const uint64_t *words, size_t count, tuple attributes, Program program,
    PyObject **inputs, size_t input_count, PyObject **outs, size_t out_count,
):
    cdef ce.PlanEntry *entry = new ce.PlanEntry()
    cdef ce.PlanEntry *gone
    cdef size_t i
    entry.hash = hash
    entry.words.assign(words, words + count)
    for i in range(input_count):
        if isinstance(<object> inputs[i], Tensor):
            entry.layouts.push_back((<Tensor> inputs[i]).state.layout)
    for i in range(out_count):
        entry.layouts.push_back((<Tensor> outs[i]).state.layout)
    entry.attributes = <void *> attributes
    entry.program = <void *> program
    Py_INCREF(attributes)
    Py_INCREF(program)
    gone = _plans.insert(entry)
    if gone != NULL:
        _release_entry(gone)


cdef tuple _as_tuple(PyObject **values, size_t count):
    return tuple([<object> values[i] for i in range(count)])


cdef object _mixed_devices(int op, Device first, Device second):
    raise _errors.DeviceMismatch(
        "tensors of several devices in one operation", subject=_op_name(op),
        why=f"{first.name} and {second.name}", remedy="Move one of them with to_device().",
        op=_op_name(op), devices=[first.name, second.name],
    )


cdef object _coerce(int op, PyObject **inputs, size_t count, PyObject **outs, size_t out_count, tuple attributes,
                    Device device):
    """Lets the layer above turn foreign operands into tensors and scalars, then calls again."""
    cdef tuple changed
    if _coerce_hook is None:
        raise RuntimeError("no hooks are installed: import device_api, not only its core")
    answer = _coerce_hook(op, _as_tuple(inputs, count), device)
    if answer is NotImplemented:
        return NotImplemented
    changed = answer
    cdef size_t size = len(changed)
    cdef vector[PyObject *] pointers
    for item in changed:
        pointers.push_back(<PyObject *> item)
    return _call(op, pointers.data(), size, outs, out_count, attributes, device, True)


cdef object _plan(int op, PyObject **inputs, size_t count, PyObject **outs, size_t out_count, tuple attributes,
                  Device device):
    """Asks for a program, and makes sure that it fits the operands it was asked for."""
    cdef ce.Stream *captured
    cdef size_t i
    if _plan_hook is None:
        raise RuntimeError("no hooks are installed: import device_api, not only its core")
    for i in range(out_count):
        if (<Tensor> outs[i]).state.layout.get().self_overlapping:
            raise _errors.ShapeError(
                "out= has elements that share memory", subject=_op_name(op),
                why=f"strides are {(<Tensor> outs[i]).strides}", op=_op_name(op), argument="out",
            )
    deliver_log()
    captured = device.engine.stream()
    if captured != NULL and captured.reserved:
        device.engine.set_stream(NULL)  # planning is no part of the work, and may write constants
    try:
        program = _plan_hook(op, device, _as_tuple(inputs, count), attributes, _as_tuple(outs, out_count) or None)
    finally:
        if captured != NULL and captured.reserved:
            device.engine.set_stream(captured)
    if not isinstance(program, Program):
        raise TypeError(f"the plan hook returned {type(program).__name__}, not a Program")
    if (<Program> program).device is not device:
        raise TypeError(f"the plan hook planned for {(<Program> program).device.name}, not {device.name}")
    _check_operands(<Program> program, inputs, count, outs, out_count)
    return program


cdef object _call(int op, PyObject **inputs, size_t count, PyObject **outs, size_t out_count, tuple attributes,
                  Device device, bint coerced):
    """Runs one call. NotImplemented only when the coerce hook says so."""
    global _hits, _misses
    cdef uint64_t inline_words[INLINE_WORDS]
    cdef const ce.TensorState *inline_states[INLINE_WORDS]
    cdef vector[uint64_t] many  # words, then states, of calls with more operands
    cdef uint64_t *words = inline_words
    cdef const ce.TensorState **states = inline_states
    cdef size_t word_count = 2 + count + out_count * 2 + (out_count * count + 31) // 32
    cdef size_t i
    cdef bint differentiable = False
    cdef PyObject *given
    cdef PyObject *place = <PyObject *> device  # borrowed: every tensor holds its device
    cdef object value
    cdef uint64_t hash
    cdef PyObject *found
    cdef Program program
    if _autocast_flag and out_count == 0 and not coerced:
        return _autocast_call(op, inputs, count, attributes, device)
    if word_count > INLINE_WORDS:
        many.resize(word_count * 2)
        words = many.data()
        states = <const ce.TensorState **> (words + word_count)
    for i in range(count):
        given = inputs[i]
        if _type(given) == <PyObject *> Tensor:
            if <PyObject *> (<Tensor> given).device != place:
                if place != <PyObject *> None:
                    _mixed_devices(op, <Device> place, (<Tensor> given).device)
                place = <PyObject *> (<Tensor> given).device
            differentiable |= (<Tensor> given).differentiable
            words[2 + i] = <uint64_t> (<Tensor> given).state.layout.get()
            states[i] = &(<Tensor> given).state
        elif PyFloat_Check(<object> given):
            words[2 + i] = SCALAR_FLOAT
        elif PyBool_Check(<object> given):
            words[2 + i] = SCALAR_BOOL
        elif PyLong_Check(<object> given):
            words[2 + i] = SCALAR_INT
        elif PyComplex_Check(<object> given):
            words[2 + i] = SCALAR_COMPLEX
        elif given == <PyObject *> None:
            words[2 + i] = ABSENT
        elif coerced:
            raise TypeError(f"{_op_name(op)} cannot take {type(<object> given).__name__}")
        else:
            return _coerce(op, inputs, count, outs, out_count, attributes, _device_of(device, inputs, count))
    if place == <PyObject *> None:
        if out_count != 0 and isinstance(<object> outs[0], Tensor):
            place = <PyObject *> (<Tensor> outs[0]).device
        elif not coerced and count != 0:
            return _coerce(op, inputs, count, outs, out_count, attributes, None)
        else:
            raise TypeError(f"{_op_name(op)}: no tensor says which device to use, and device= is not given")
    if not (<Device> place).engine.usable():
        _refuse(<Device> place)
    words[0] = <uint64_t> op | <uint64_t> count << 32 | <uint64_t> out_count << 48
    words[1] = <uint64_t> (<Device> place).engine
    if out_count != 0:
        differentiable |= _out_words(op, words + 2 + count, inputs, count, outs, out_count, <Device> place)
        if differentiable and _grad_flag:
            raise _errors.GradientError(
                "an operation that is recorded cannot write into a given tensor", subject=_op_name(op),
                why="an operand requires a gradient", remedy="Write into new tensors, or use no_grad().",
                op=_op_name(op), argument="out",
            )
        word_count = 2 + count + out_count + (out_count * count + 31) // 32
        for i in range(out_count):
            states[count + i] = &(<Tensor> outs[i]).state
    else:
        word_count = 2 + count
    hash = 0 if PyTuple_GET_SIZE(attributes) == 0 else <uint64_t> PyObject_Hash(attributes)
    hash = ce.PlanTable.hash(words, word_count, hash)
    found = _find(hash, words, word_count, attributes)
    if found != NULL:
        _hits += 1
        program = <Program> found
    else:
        _misses += 1
        program = _plan(op, inputs, count, outs, out_count, attributes, <Device> place)
        _remember(hash, words, word_count, attributes, program, inputs, count, outs, out_count)
    value = _run(program, inputs, count, states, outs, out_count, attributes)
    if differentiable and _grad_flag and _record_hook is not None:
        _record_hook(
            op, _as_tuple(inputs, count), attributes, value if type(value) is tuple else (value,)
        )
    return value


cdef Device _device_of(Device device, PyObject **inputs, size_t count):
    """The device of the first tensor, when none is known yet."""
    cdef size_t i
    if device is None:
        for i in range(count):
            if type(<object> inputs[i]) is Tensor:
                return (<Tensor> inputs[i]).device
    return device


cdef int _out_words(int op, uint64_t *words, PyObject **inputs, size_t count, PyObject **outs, size_t out_count,
                    Device device) except -1:
    """Key words of out=: layouts, then two bits for each pair of output and input. True when one is recorded."""
    cdef size_t i, k, bit
    cdef Tensor out
    cdef bint differentiable = False
    for i in range((out_count * count + 31) // 32):
        words[out_count + i] = 0
    for k in range(out_count):
        if type(<object> outs[k]) is not Tensor:
            raise TypeError(f"{_op_name(op)}: out= wants tensors, not {type(<object> outs[k]).__name__}")
        out = <Tensor> outs[k]
        if out.device is not device:
            _mixed_devices(op, device, out.device)
        differentiable |= out.differentiable
        words[k] = <uint64_t> out.state.layout.get()
        for i in range(k):
            if ce.alias_class(out.state, (<Tensor> outs[i]).state) != 0:
                raise _errors.ShapeError(
                    "two out= tensors share memory", subject=_op_name(op), op=_op_name(op), argument="out"
                )
        for i in range(count):
            if type(<object> inputs[i]) is Tensor:
                bit = k * count + i
                words[out_count + bit // 32] |= (
                    ce.alias_class(out.state, (<Tensor> inputs[i]).state) << (bit % 32 * 2)
                )
    return differentiable


def dispatch(int op, tuple inputs not None, tuple attributes=(), out=None, Device device=None):
    """Runs an op by number on tensors, Python scalars and None.

    attributes: hashable values, part of the plan's key. out: a tensor, or a tuple of them. device: for ops without
    tensor inputs. Returns a tensor, or a tuple when there is not exactly one result.
    """
    cdef tuple outs
    if attributes is None:
        attributes = _EMPTY
    if device is not None:
        _check(device)
    if out is None:
        return _call(op, _items(inputs), PyTuple_GET_SIZE(inputs), NULL, 0,
                     attributes, device, False)
    outs = out if type(out) is tuple else (out,)
    return _call(op, _items(inputs), PyTuple_GET_SIZE(inputs), _items(outs),
                 PyTuple_GET_SIZE(outs), attributes, device, False)


cdef object _binary(int which, object left, object right):
    cdef PyObject *operands[2]
    cdef bint both = type(left) is Tensor and type(right) is Tensor
    cdef bint done = False
    cdef object value
    if both and not _autocast_flag:
        value = _quick_binary(_operator_ids[which], <Tensor> left, <Tensor> right, &done)
        if done:
            return value
    if left is None or right is None or _operator_ids[which] < 0:
        return NotImplemented
    operands[0] = <PyObject *> left
    operands[1] = <PyObject *> right
    value = _call(_operator_ids[which], operands, 2, NULL, 0, _EMPTY, None, False)
    if both and not _autocast_flag:
        _note_recent(_operator_ids[which], <Tensor> left, <Tensor> right)
    return value


cdef object _unary(int which, Tensor value):
    cdef PyObject *operand = <PyObject *> value
    if _operator_ids[which] < 0:
        raise TypeError(f"the operator for {_OPERATOR_NAMES[which]} is not installed")
    return _call(_operator_ids[which], &operand, 1, NULL, 0, _EMPTY, None, False)


cdef object _in_place(int which, Tensor target, object other):
    cdef PyObject *operands[2]
    if other is None or _operator_ids[which] < 0:
        return NotImplemented
    operands[0] = <PyObject *> target
    operands[1] = <PyObject *> other
    return _call(_operator_ids[which], operands, 2, operands, 1, _EMPTY, None, False)


def cache_info():
    """Hits and misses of the plan cache since the last clear, and the number of plans held."""
    return {"hits": _hits, "misses": _misses, "size": _plans.size()}


def clear_plans():
    """Forgets all plans, for example after kernels or policies changed."""
    global _hits, _misses
    cdef vector[ce.PlanEntry *] gone = _plans.clear()
    cdef size_t i
    _hits = _misses = 0
    for i in range(gone.size()):
        _release_entry(gone[i])
