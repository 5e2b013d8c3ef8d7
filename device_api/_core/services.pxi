# The host's services to plugins, as far as they need the interpreter: the log, and the end of the process.

cdef object _plugin_log = logging.getLogger("device_api.plugin")
cdef dict _LEVELS = {1: logging.DEBUG, 2: logging.INFO, 3: logging.WARNING, 4: logging.ERROR}

cdef extern from "Python.h":
    int Py_AddPendingCall(int (*)(void *) noexcept, void *) nogil


cdef int _deliver_pending(void *nothing) noexcept:
    try:
        deliver_log()
    except Exception:
        logging.getLogger("device_api").exception("plugin log lines could not be delivered")
    return 0


cdef void _notify() noexcept nogil:
    # A plugin may log while it holds its own locks or while this thread holds the interpreter's, so the lines are
    # delivered later, by the interpreter itself.
    Py_AddPendingCall(_deliver_pending, NULL)


def deliver_log():
    """Hands the waiting log lines of plugins to logging ("device_api.plugin"); returns how many."""
    cdef uint64_t dropped = 0
    cdef vector[ce.LogLine] lines = ce.take_log(&dropped)
    cdef size_t i
    for i in range(lines.size()):
        _plugin_log.log(_LEVELS.get(lines[i].level, logging.WARNING), "%s", _text(lines[i].text))
    if dropped:
        _plugin_log.warning("%d lines of plugins were dropped: they came faster than they were read", dropped)
    return lines.size()


def host_table_address():
    """Address of the da_host table that a plugin's initialize gets; it lives for ever."""
    return <uintptr_t> ce.host_services()


ce.watch_forks()
ce.set_log_notify(_notify)



def _close():
    """The interpreter is going: memory still held goes with the process, without a call into plugins."""
    deliver_log()
    ce.close_process()
atexit.register(_close)
