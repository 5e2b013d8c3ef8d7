# The graph of recorded operations: what a call keeps so that its gradient can be computed later.
#
# A node is one call. Which operands the rules of an op need by value is asked once for each op and choice of inputs
# that require gradients; of the others shape and dtype are kept. An output that a rule needs is kept as an alias
# without history, so that there are no cycles.


@cython.final
@cython.freelist(256)
cdef class Facts:
    """What a rule may ask of an operand whose value it does not need."""

    cdef ce.LayoutRef layout

    @property
    def shape(self):
        return _shape_tuple(self.layout.get().shape, self.layout.get().rank)

    @property
    def dtype(self):
        return _DTYPES[self.layout.get().dtype]

    @property
    def ndim(self):
        return self.layout.get().rank

    @property
    def size(self):
        return self.layout.get().elements


@cython.final
@cython.freelist(256)
@cython.trashcan(True)
cdef class Saved:
    """A tensor kept for a rule, with the version its storage had; `output` is its number where it is a result."""

    cdef readonly Tensor tensor
    cdef readonly uint64_t version
    cdef int place

    @property
    def output(self):
        return None if self.place < 0 else self.place


@cython.final
@cython.freelist(256)
@cython.trashcan(True)
cdef class Edge:
    """Where an input came from: an output of a node, or a leaf. `shape` and `dtype` are the input's."""

    cdef readonly object node
    cdef readonly int output
    cdef readonly Tensor leaf
    cdef ce.LayoutRef layout

    @property
    def shape(self):
        return _shape_tuple(self.layout.get().shape, self.layout.get().rank)

    @property
    def dtype(self):
        return _DTYPES[self.layout.get().dtype]

    @property
    def key(self):
        """Tells tensors apart; valid as long as the edge lives."""
        return (id(self.leaf), -1) if self.node is None else (id(self.node), self.output)


@cython.trashcan(True)
cdef class Node:
    """One recorded call. `edges` has one entry per flat input, None where no gradient flows; `inputs` has a `Saved` or
    `Facts` for each tensor, and Python numbers as they were; `outputs` has a `Saved` or `Facts` for each result.
    """

    cdef readonly int op
    cdef readonly tuple attributes
    cdef readonly tuple edges
    cdef readonly Device device
    cdef public tuple inputs
    cdef public tuple outputs
    cdef readonly int results  # how many, also after `free`
    cdef readonly bint freed
    cdef object __weakref__

    def __init__(self, int op, int results, tuple attributes, tuple edges, Device device):
        self.op = op
        self.results = results
        self.attributes = attributes
        self.edges = edges
        self.device = device
        self.inputs = self.outputs = _EMPTY

    def free(self):
        """Lets go of the saved values: the rules cannot run any more."""
        self.inputs = self.outputs = _EMPTY
        self.freed = True

    def __repr__(self):
        return f"<{_op_name(self.op)} node>"


cpdef Facts facts_of(Tensor tensor):
    """Shape and dtype of a tensor, without the tensor."""
    cdef Facts made = Facts.__new__(Facts)
    made.layout = tensor.state.layout
    return made


cpdef Edge edge_of(Tensor tensor):
    """The place of a tensor in the graph."""
    cdef Edge made = Edge.__new__(Edge)
    made.layout = tensor.state.layout
    made.node = tensor.node
    if tensor.node is None:
        made.leaf = tensor
    else:
        made.output = tensor.output_index
    return made


cdef Saved _saved(Tensor tensor, int place):
    cdef Saved made = Saved.__new__(Saved)
    made.version = tensor.state.storage.get().version
    made.place = place
    if place >= 0:
        tensor = _share(tensor.device, tensor.state.layout, tensor.state.storage.get(), tensor.state.start)
    made.tensor = tensor
    return made


@cython.final
cdef class Recorder:
    """The hook that records calls. recipe(op, count, places) says for each input and each output whether the rules
    for the gradients of the inputs in `places` need its value: two bytes objects of zeros and ones.
    """

    cdef object recipe
    cdef dict known

    def __init__(self, recipe):
        self.recipe = recipe
        self.known = {}

    def __call__(self, int op, tuple inputs, tuple attributes, tuple outputs):
        """Hangs a node on the results of a call. A result that is an input itself keeps the history it has."""
        cdef size_t count = PyTuple_GET_SIZE(inputs)
        cdef size_t i
        cdef uint64_t mask = 0
        cdef Tensor tensor
        cdef Node node
        cdef tuple edges
        cdef object each, entry
        if not _any_fresh(inputs, outputs):
            return
        edges = PyTuple_New(count)
        for i in range(count):
            each = inputs[i]
            entry = None
            if type(each) is Tensor and (<Tensor> each).differentiable:
                entry = edge_of(<Tensor> each)
                mask |= <uint64_t> 1 << (i & 63)
            Py_INCREF(entry)
            PyTuple_SET_ITEM(edges, i, entry)
        tensor = outputs[0]
        node = Node.__new__(Node)
        node.op = op
        node.results = PyTuple_GET_SIZE(outputs)
        node.attributes = attributes
        node.edges = edges
        node.device = tensor.device
        self._keep(node, inputs, outputs, self._recipe_of(op, count, mask, edges))
        for i in range(<size_t> PyTuple_GET_SIZE(outputs)):
            tensor = outputs[i]
            if _is_fresh(tensor, inputs):
                tensor.differentiable = True
                tensor.node = node
                tensor.output_index = i

    cdef tuple _recipe_of(self, int op, size_t count, uint64_t mask, tuple edges):
        cdef object key
        cdef tuple made
        if count <= 32:
            key = <uint64_t> op << 48 | <uint64_t> count << 32 | mask
            found = self.known.get(key)
            if found is not None:
                return found
        made = self.recipe(op, count, [place for place, edge in enumerate(edges) if edge is not None])
        if count <= 32:
            self.known[key] = made
        return made

    cdef _keep(self, Node node, tuple inputs, tuple outputs, tuple recipe):
        cdef bytes by_value = recipe[0]
        cdef bytes results = recipe[1]
        cdef size_t last = len(results) - 1  # a list of outputs, which is the last, has one entry
        cdef size_t count = PyTuple_GET_SIZE(inputs)
        cdef tuple kept = PyTuple_New(count)
        cdef object each
        cdef size_t i
        for i in range(count):
            each = inputs[i]
            if type(each) is Tensor:
                each = _saved(<Tensor> each, -1) if by_value[i] else facts_of(<Tensor> each)
            Py_INCREF(each)
            PyTuple_SET_ITEM(kept, i, each)
        node.inputs = kept
        node.outputs = tuple([
            _saved(<Tensor> each, i) if results[min(i, last)] else facts_of(<Tensor> each)
            for i, each in enumerate(outputs)
        ])


cdef bint _is_fresh(Tensor tensor, tuple inputs) except -1:
    """A result that has a gradient and is no operand that was given back."""
    cdef int32_t code = tensor.state.layout.get().dtype
    cdef size_t i
    if not (ce.is_floating(code) or ce.is_complex(code)):
        return False
    for i in range(<size_t> PyTuple_GET_SIZE(inputs)):
        if PyTuple_GET_ITEM(inputs, i) == <PyObject *> tensor:
            return False
    return True


cdef bint _any_fresh(tuple inputs, tuple outputs) except -1:
    cdef object each
    for each in outputs:
        if _is_fresh(each, inputs):
            return True
    return False
