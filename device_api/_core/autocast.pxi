# Mixed precision, as far as dispatch knows it: a switch of the thread, and a hook that gives other operands.

cdef extern from *:
    """
    static thread_local bool device_api_autocast = false;
    """
    bint _autocast_flag "device_api_autocast"

cdef object _autocast_hook = None


def set_autocast(bint enabled):
    """Lets the hook change the operands of this thread's calls, or not; returns what it was."""
    global _autocast_flag
    cdef bint previous = _autocast_flag
    _autocast_flag = enabled
    return previous


def set_autocast_hook(hook):
    """hook(op, inputs, attributes, device) gives the inputs to use; it and the call then run with the switch off."""
    global _autocast_hook
    _autocast_hook = hook


cdef object _autocast_call(int op, PyObject **inputs, size_t count, tuple attributes, Device device):
    """A call whose operands the hook has seen."""
    global _autocast_flag
    cdef tuple changed
    _autocast_flag = False
    try:
        changed = _autocast_hook(op, _as_tuple(inputs, count), attributes, device)
        return _call(op, _items(changed), PyTuple_GET_SIZE(changed), NULL, 0, attributes, device, False)
    finally:
        _autocast_flag = True
