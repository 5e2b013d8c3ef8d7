# What the layers above put on tensors and operators.

cdef tuple _OPERATOR_NAMES = (
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow", "matmul", "bitwise_and",
    "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "negative", "positive", "abs",
    "bitwise_invert", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
)
cdef int _operator_ids[OPERATOR_COUNT]
for _index in range(OPERATOR_COUNT):
    _operator_ids[_index] = -1
cdef dict _surface_functions = {}
cdef dict _op_names = {}

# Names that are slots of the type, and look their function up at each call.
cdef frozenset _SLOTS = frozenset((
    "__bool__", "__int__", "__float__", "__complex__", "__index__", "__iter__", "__contains__", "__getitem__",
    "__setitem__", "__repr__", "__str__", "__reduce_ex__",
))

cdef extern from *:
    """
    static PyObject *device_api_no_new(PyTypeObject *, PyObject *, PyObject *) {
      PyErr_SetString(PyExc_TypeError,
                      "tensors are made by functions, for example device_api.asarray, not by calling the class");
      return NULL;
    }
    static void device_api_block_new(PyObject *type) {
      ((PyTypeObject *)type)->tp_new = device_api_no_new;
      ((PyTypeObject *)type)->tp_vectorcall = NULL;
      PyType_Modified((PyTypeObject *)type);
    }
    static int device_api_set_on_type(PyObject *type, PyObject *name, PyObject *value) {
      int status = PyDict_SetItem(((PyTypeObject *)type)->tp_dict, name, value);
      PyType_Modified((PyTypeObject *)type);
      return status;
    }
    """
    void _block_new "device_api_block_new" (object)
    int _set_on_type "device_api_set_on_type" (object, object, object) except -1

_block_new(Tensor)


def set_operators(names):
    """Says which op each operator runs: name ("add", "matmul", ...) to op number, negative for none.

    Returns what the operators ran before.
    """
    previous = {name: _operator_ids[i] for i, name in enumerate(_OPERATOR_NAMES)}
    for name, op in names.items():
        if name not in _OPERATOR_NAMES:
            raise ValueError(f"no operator is named {name!r}; there are {', '.join(_OPERATOR_NAMES)}")
        _operator_ids[_OPERATOR_NAMES.index(name)] = op
        _op_names.setdefault(op, name)
    return previous


def set_surface(functions):
    """Puts functions and properties on Tensor: name to function (called with the tensor first) or property."""
    for name, function in functions.items():
        if name in _SLOTS:
            _surface_functions[name] = function
        else:
            _set_on_type(Tensor, name, function)


cdef object _surface(str name):
    try:
        return _surface_functions[name]
    except KeyError:
        raise TypeError(f"Tensor.{name} is not installed: import device_api, not only its core") from None


cdef str _op_name(int op):
    """For messages: the layer above knows the names of all ops, this one those of operators."""
    return _op_names.get(op) or f"op {op}"


def set_op_names(names):
    """Names of ops for messages: op number to name."""
    _op_names.update(names)
