# Basic indexing without a frame of Python: integers, slices, None and an ellipsis give views.

cdef extern from "Python.h":
    int PySlice_Check(object)
    int PySlice_Unpack(object, Py_ssize_t *, Py_ssize_t *, Py_ssize_t *) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t, Py_ssize_t *, Py_ssize_t *, Py_ssize_t)
    Py_ssize_t PyLong_AsSsize_t(object) except? -1

cdef struct Axes:
    int rank
    int64_t shape[32]
    int64_t strides[32]
    int64_t offset  # in elements


cdef bint _whole_or_none(object value) noexcept:
    return value is None or PyLong_CheckExact(value)


cdef int _take_axis(Axes *axes, object key, int64_t size, int64_t stride) except -1:
    """One key on one axis: 1, or 0 when it is none of these or out of range."""
    cdef Py_ssize_t start, stop, step, count
    if PyLong_CheckExact(key):
        try:
            start = PyLong_AsSsize_t(key)
        except OverflowError:
            return 0
        if start < 0:
            start += size
        if not 0 <= start < size:
            return 0
        axes.offset += start * stride
        return 1
    if not PySlice_Check(key) or not (
        _whole_or_none(key.start) and _whole_or_none(key.stop) and _whole_or_none(key.step)
    ) or (key.step is not None and key.step == 0):
        return 0
    PySlice_Unpack(key, &start, &stop, &step)
    count = PySlice_AdjustIndices(size, &start, &stop, step)
    if count > 0:
        axes.offset += start * stride
    axes.shape[axes.rank] = count
    # A stride over one position or none is never walked; what a huge step would make of it may not fit.
    axes.strides[axes.rank] = stride * step if count > 1 else stride
    axes.rank += 1
    return 1


cdef Tensor _basic_view(Tensor x, object key):
    """`x[key]`, or None for a key that takes more than this: other kinds, and all that is an error."""
    cdef ce.Layout *layout = x.state.layout.get()
    cdef tuple keys = <tuple> key if type(key) is tuple else (key,)
    cdef ce.LayoutRef made
    cdef Axes axes
    cdef object each
    cdef int axis = 0
    cdef int consumed = 0
    cdef bint stretched = False
    cdef int i
    for each in keys:
        if each is Ellipsis:
            if stretched:
                return None
            stretched = True
        elif each is not None:
            consumed += 1
    if consumed > layout.rank or layout.rank + len(keys) > 32:
        return None
    axes.rank = 0
    axes.offset = 0
    for each in keys:
        if each is None:
            axes.shape[axes.rank] = 1
            axes.strides[axes.rank] = 0
            axes.rank += 1
        elif each is Ellipsis:
            for i in range(layout.rank - consumed):
                _keep_axis(&axes, layout, axis)
                axis += 1
        else:
            if not _take_axis(&axes, each, layout.shape[axis], layout.strides[axis]):
                return None
            axis += 1
    while axis < layout.rank:
        _keep_axis(&axes, layout, axis)
        axis += 1
    for i in range(axes.rank):
        if axes.shape[i] == 0:
            axes.offset = 0
    if ce.intern_layout(layout.dtype, axes.rank, axes.shape, axes.strides, &made) != ce.PROBLEM_NONE:
        return None
    return _share(
        x.device, made, x.state.storage.get(),
        x.state.start + <uint64_t> (axes.offset * <int64_t> ce.item_size(layout.dtype)),
    )


cdef inline void _keep_axis(Axes *axes, ce.Layout *layout, int axis) noexcept:
    axes.shape[axes.rank] = layout.shape[axis]
    axes.strides[axes.rank] = layout.strides[axis]
    axes.rank += 1
