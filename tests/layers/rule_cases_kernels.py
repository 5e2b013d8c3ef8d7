"""Cases of the rules for kernels."""

from __future__ import annotations

from typing import Any

from bench import Bench
from rule_case import Case, by_mode
from rule_cases_calls import both


def listed(b: Bench) -> None:
    b.start()
    out = b.struct("da_kernel_list")
    b.call("kernel.list", b.device, out)


def listed_again(b: Bench, mode: str) -> None:
    b.start()
    b.kernels()
    b.mode(mode)
    out = b.struct("da_kernel_list")
    b.call("kernel.list", b.device, out)


def launched(b: Bench, index: int = 0, inputs: Any = None, **fields: Any) -> None:
    """Kernel `index` on 256 bytes: the output is bytes 64 to 80 unless `fields` change it."""
    b.start()
    handle = b.allocate(256)
    output = b.tensor(handle, byte_offset=fields.pop("byte_offset", 64), **fields)
    b.launch(index, [b.tensor(handle)] if inputs is None else inputs, [output])
    b.free(handle)


def context(b: Bench, right: bool) -> None:
    b.start()
    handle = b.allocate()
    made = b.context() if right else b.context(scratch=b.ffi.NULL)
    b.launch(0, [], [b.tensor(handle)], context=made)
    b.free(handle)


def no_output(b: Bench, right: bool) -> None:
    b.start()
    handle = b.allocate()
    b.launch(0, [], [b.tensor(handle) if right else b.ffi.NULL])
    b.free(handle)


def foreign(b: Bench, right: bool) -> None:
    b.start()
    handle, place = b.allocate(), b.new("char[]", 64)
    b.launch(0, [b.tensor(handle if right else place, byte_offset=32)], [b.tensor(handle)])
    b.free(handle)


def no_strides(b: Bench, right: bool) -> None:
    b.start()
    handle = b.allocate()
    tensor = b.tensor(handle)
    if not right:
        tensor.dl.strides = b.ffi.NULL
    b.launch(0, [], [tensor])
    b.free(handle)


def state(b: Bench, right: bool) -> None:
    b.start()
    handle, made = b.allocate(), b.prepare()
    if not right:
        b.kernels()[0].release(made)
    b.launch(0, [], [b.tensor(handle)], state=made)
    if right:
        b.kernels()[0].release(made)
    b.free(handle)


def leave_state(b: Bench, right: bool) -> None:
    b.start()
    made = b.prepare()
    if right:
        b.kernels()[0].release(made)
    b.stop()


def asked(b: Bench) -> None:
    b.start()
    kernel, tensors = b.kernels()[0], b.new("const da_tensor *[]", [b.tensor(b.ffi.NULL)])
    out = b.new("int32_t *")
    b.check(kernel.supports(b.device, kernel, tensors, 1, tensors, 1, b.ffi.NULL, out))


def attributes(b: Bench, size: int) -> None:
    b.start()
    handle = b.allocate()
    b.launch(0, [], [b.tensor(handle)], attributes=b.new("uint64_t[]", [size, 0, 0]))
    b.free(handle)


def interleaved(b: Bench) -> None:
    """Every second element to every other: ranges overlap, elements do not."""
    b.start()
    handle = b.allocate()
    b.launch(1, [b.tensor(handle, strides=(2,))], [b.tensor(handle, strides=(2,), byte_offset=4)])
    b.launch(1, [b.tensor(handle)], [b.tensor(handle)])
    b.free(handle)


def stepped(b: Bench, *over: int) -> None:
    """A step of momentum whose outputs lie over these of its inputs."""
    b.start()
    handle = b.allocate(256)
    tensors = [b.tensor(handle, byte_offset=place * 16) for place in range(4)]
    b.launch(2, tensors, [tensors[number] for number in over])
    b.free(handle)


CASES = {
    "VAL-KERNEL-01": by_mode("bad_list", listed),
    "VAL-KERNEL-02": by_mode("bad_kernel", listed),
    "VAL-KERNEL-03": Case(lambda b: listed_again(b, "moving_list"), lambda b: listed_again(b, "")),
    "VAL-KERNEL-04": both(context),
    "VAL-KERNEL-05": both(no_output),
    "VAL-KERNEL-06": Case(lambda b: launched(b, dl=(2, 64)), launched),
    "VAL-KERNEL-07": Case(lambda b: launched(b, shape=(1,) * 5, strides=(1,) * 5), launched),
    "VAL-KERNEL-08": both(no_strides),
    "VAL-KERNEL-09": both(foreign),
    "VAL-KERNEL-10": Case(lambda b: launched(b, byte_offset=244), lambda b: launched(b, byte_offset=240)),
    "VAL-KERNEL-11": Case(lambda b: launched(b, strides=(2,)), lambda b: launched(b, index=1, strides=(2,))),
    "VAL-KERNEL-12": Case(
        lambda b: launched(b, index=1, strides=(0,)), lambda b: launched(b, index=1, strides=(-1,))
    ),
    "VAL-KERNEL-13": Case(lambda b: launched(b, index=0, byte_offset=8), interleaved),
    "VAL-KERNEL-14": Case(
        lambda b: launched(b, inputs=[], shape=(0,)), lambda b: launched(b, inputs=[], shape=(1,))
    ),
    "VAL-KERNEL-15": both(state),
    "VAL-KERNEL-16": both(leave_state),
    "VAL-KERNEL-17": by_mode("bad_supports", asked),
    "VAL-KERNEL-18": Case(
        lambda b: launched(b, dtype=4, dl=(0, 32)), lambda b: launched(b, dtype=5, dl=(0, 64))
    ),
    "VAL-KERNEL-19": Case(lambda b: attributes(b, 12), lambda b: attributes(b, 24)),
}
