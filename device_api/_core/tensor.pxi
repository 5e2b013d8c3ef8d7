# The tensor type: facts, gradients, and operators that go straight to dispatch.

cdef list _DTYPES = [None] + [_dtypes.from_code(code) for code in range(1, 18)]

# The operators, in the order of `_OPERATOR_NAMES`.
cdef enum:
    ADD
    SUBTRACT
    MULTIPLY
    DIVIDE
    FLOOR_DIVIDE
    REMAINDER
    POW
    MATMUL
    BITWISE_AND
    BITWISE_OR
    BITWISE_XOR
    BITWISE_LEFT_SHIFT
    BITWISE_RIGHT_SHIFT
    NEGATIVE
    POSITIVE
    ABS
    BITWISE_INVERT
    EQUAL
    NOT_EQUAL
    LESS
    LESS_EQUAL
    GREATER
    GREATER_EQUAL
    OPERATOR_COUNT


cdef tuple _shape_tuple(const int64_t *values, int count):
    cdef tuple result = PyTuple_New(count)
    cdef object item
    cdef int i
    for i in range(count):
        item = values[i]
        Py_INCREF(item)
        PyTuple_SET_ITEM(result, i, item)
    return result


@cython.final
@cython.freelist(256)
@cython.trashcan(True)
cdef class Tensor:
    """An n-dimensional array in the memory of one device.

    Made by the functions of the package, never by calling the class. Equality operators are elementwise; hashing
    is by identity.
    """

    cdef ce.TensorState state
    cdef readonly Device device
    cdef public object grad
    cdef public object node
    cdef public int output_index
    cdef bint differentiable
    cdef object __weakref__

    __array_ufunc__ = None

    @property
    def dtype(self):
        """The element type, as NumPy's type object (ml_dtypes for bfloat16 and float8)."""
        return _DTYPES[self.state.layout.get().dtype]

    @property
    def dtype_code(self):
        """The element type, as the number of the C header."""
        return self.state.layout.get().dtype

    @property
    def shape(self):
        cdef ce.Layout *layout = self.state.layout.get()
        return _shape_tuple(layout.shape, layout.rank)

    @property
    def strides(self):
        """Distances in elements, one for each dimension."""
        cdef ce.Layout *layout = self.state.layout.get()
        return _shape_tuple(layout.strides, layout.rank)

    @property
    def ndim(self):
        return self.state.layout.get().rank

    @property
    def size(self):
        """The number of elements."""
        return self.state.layout.get().elements

    @property
    def itemsize(self):
        return ce.item_size(self.state.layout.get().dtype)

    @property
    def nbytes(self):
        return self.state.layout.get().bytes()

    @property
    def byte_offset(self):
        """Bytes from the start of the storage to the first element."""
        return self.state.start - self.state.storage.get().offset

    @property
    def is_contiguous(self):
        """Row-major without gaps."""
        return self.state.layout.get().contiguous

    @property
    def version(self):
        """Raised by every in-place write to the storage, through whichever view."""
        return self.state.storage.get().version

    @property
    def requires_grad(self):
        return self.differentiable

    @requires_grad.setter
    def requires_grad(self, bint value):
        cdef int32_t code = self.state.layout.get().dtype
        if value and not (ce.is_floating(code) or ce.is_complex(code)):
            raise _errors.DTypeError(
                "only floating and complex tensors have gradients", subject=self.dtype.name,
                dtypes=[self.dtype.name],
            )
        if not value and self.node is not None:
            raise _errors.GradientError(
                "requires_grad can be cleared on leaves only", why="the tensor is the result of an operation",
                remedy="Use detach().",
            )
        self.differentiable = value

    def record_stream(self, stream not None):
        """Says that a stream uses the tensor in a way the host does not see: its memory stays until the work that the
        stream has when the tensor goes is done.
        """
        record_stream(self, stream)

    def __hash__(self):
        return <Py_hash_t> (<uintptr_t> <PyObject *> self >> 4)

    def __add__(left, right):
        return _binary(ADD, left, right)

    def __sub__(left, right):
        return _binary(SUBTRACT, left, right)

    def __mul__(left, right):
        return _binary(MULTIPLY, left, right)

    def __truediv__(left, right):
        return _binary(DIVIDE, left, right)

    def __floordiv__(left, right):
        return _binary(FLOOR_DIVIDE, left, right)

    def __mod__(left, right):
        return _binary(REMAINDER, left, right)

    def __pow__(left, right, modulus):
        if modulus is not None:
            return NotImplemented
        return _binary(POW, left, right)

    def __matmul__(left, right):
        return _binary(MATMUL, left, right)

    def __and__(left, right):
        return _binary(BITWISE_AND, left, right)

    def __or__(left, right):
        return _binary(BITWISE_OR, left, right)

    def __xor__(left, right):
        return _binary(BITWISE_XOR, left, right)

    def __lshift__(left, right):
        return _binary(BITWISE_LEFT_SHIFT, left, right)

    def __rshift__(left, right):
        return _binary(BITWISE_RIGHT_SHIFT, left, right)

    def __iadd__(self, other):
        return _in_place(ADD, self, other)

    def __isub__(self, other):
        return _in_place(SUBTRACT, self, other)

    def __imul__(self, other):
        return _in_place(MULTIPLY, self, other)

    def __itruediv__(self, other):
        return _in_place(DIVIDE, self, other)

    def __ifloordiv__(self, other):
        return _in_place(FLOOR_DIVIDE, self, other)

    def __imod__(self, other):
        return _in_place(REMAINDER, self, other)

    def __ipow__(self, other, modulus):
        return _in_place(POW, self, other)

    def __imatmul__(self, other):
        return _in_place(MATMUL, self, other)

    def __iand__(self, other):
        return _in_place(BITWISE_AND, self, other)

    def __ior__(self, other):
        return _in_place(BITWISE_OR, self, other)

    def __ixor__(self, other):
        return _in_place(BITWISE_XOR, self, other)

    def __ilshift__(self, other):
        return _in_place(BITWISE_LEFT_SHIFT, self, other)

    def __irshift__(self, other):
        return _in_place(BITWISE_RIGHT_SHIFT, self, other)

    def __neg__(self):
        return _unary(NEGATIVE, self)

    def __pos__(self):
        return _unary(POSITIVE, self)

    def __abs__(self):
        return _unary(ABS, self)

    def __invert__(self):
        return _unary(BITWISE_INVERT, self)

    def __eq__(self, other):
        return _binary(EQUAL, self, other)

    def __ne__(self, other):
        return _binary(NOT_EQUAL, self, other)

    def __lt__(self, other):
        return _binary(LESS, self, other)

    def __le__(self, other):
        return _binary(LESS_EQUAL, self, other)

    def __gt__(self, other):
        return _binary(GREATER, self, other)

    def __ge__(self, other):
        return _binary(GREATER_EQUAL, self, other)

    def __bool__(self):
        return _surface("__bool__")(self)

    def __int__(self):
        return _surface("__int__")(self)

    def __float__(self):
        return _surface("__float__")(self)

    def __complex__(self):
        return _surface("__complex__")(self)

    def __index__(self):
        return _surface("__index__")(self)

    def __len__(self):
        cdef ce.Layout *layout = self.state.layout.get()
        if layout.rank == 0:
            raise TypeError("a 0-d tensor has no len()")
        return layout.shape[0]

    def __iter__(self):
        return _surface("__iter__")(self)

    def __contains__(self, value):
        return _surface("__contains__")(self, value)

    def __getitem__(self, key):
        cdef Tensor view
        if not (self.differentiable and _grad_flag):
            view = _basic_view(self, key)
            if view is not None:
                return view
        return _surface("__getitem__")(self, key)

    def __setitem__(self, key, value):
        _surface("__setitem__")(self, key, value)

    def __repr__(self):
        if "__repr__" in _surface_functions:
            return _surface("__repr__")(self)
        return f"<Tensor {self.dtype.name}{self.shape} on {self.device.name}>"

    def __str__(self):
        if "__str__" in _surface_functions:
            return _surface("__str__")(self)
        return repr(self)

    def __reduce_ex__(self, protocol):
        return _surface("__reduce_ex__")(self, protocol)


cdef inline Tensor _adopt(Device device, const ce.LayoutRef &layout, ce.Storage *storage):
    """A tensor over a new storage; it takes the reference over, also when it cannot be made."""
    cdef Tensor tensor
    try:
        tensor = Tensor.__new__(Tensor)
    except:
        _drop(storage)
        raise
    tensor.state.adopt(layout, storage, storage.offset)
    tensor.device = device
    return tensor


cdef inline Tensor _share(Device device, const ce.LayoutRef &layout, ce.Storage *storage, uint64_t start):
    """A tensor over a storage that somebody else holds as well."""
    cdef Tensor tensor = Tensor.__new__(Tensor)
    tensor.state.share(layout, storage, start)
    tensor.device = device
    return tensor
