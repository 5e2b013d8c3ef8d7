# Random streams beside those of the devices, and which one this thread draws from.

@cython.final
cdef class RandomStream:
    """A place in the random numbers of a device: a seed, and an offset that counts blocks of four 32-bit words."""

    cdef ce.RandomState place
    cdef readonly Device device

    def __init__(self, Device device not None, uint64_t seed, uint64_t offset):
        self.device = device
        self.set_state(seed, offset)

    def state(self):
        """(seed, offset)."""
        return (self.place.seed, self.place.offset)

    def set_state(self, uint64_t seed, uint64_t offset):
        self.place.seed = seed
        self.place.offset = offset


def push_random(RandomStream stream not None):
    """Lets this thread's draws on the stream's device come from it, until `pop_random`.

    Each operation takes its numbers at once, so that threads may share a stream.
    """
    ce.lend_random(stream.device.engine, &stream.place, <void *> stream)
    Py_INCREF(stream)


def pop_random():
    """Undoes this thread's last `push_random`."""
    cdef void *stream = ce.take_random_back()
    if stream == NULL:
        raise RuntimeError("no random stream is in use in this thread")
    Py_DECREF(<object> <PyObject *> stream)


def random_words(uint64_t seed, uint64_t offset, int count):
    """The first words (at most 4) of a block of random numbers, as Python integers."""
    cdef uint32_t words[4]
    if not 0 <= count <= 4:
        raise ValueError("a block has four words")
    ce.philox_words(seed, offset, words, count)
    return tuple([words[i] for i in range(count)])
