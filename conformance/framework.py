"""The framework on the device under test: ops, gradients and training, through the host and not past it.

Kernels are judged alone by the op cases. What is judged here is what becomes of them: compositions, gradient
rules, steps of training. Fallback is off, so whatever gives a result ran on the device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

import device_api as da
import device_api._activation
import device_api.dtypes as dtypes
from conformance.case import Failure, NotSupported
from conformance.samples import Sample
from conformance.target import Target
from device_api import _core
from device_api.errors import DeviceApiError, UnsupportedOp
from device_api.ops import fallback
from device_api.opset.spec import OpSpec
from device_api.runtime.devices import open_on

Array = npt.NDArray[Any]
Tensor = _core.Tensor


def device_of(target: Target) -> _core.Device:
    """The host's device for a target; opened once per target, beside the cases' own handle of it."""
    found = _devices.get(target)
    if found is None:
        target.device  # noqa: B018 - says why there is none
        found = _devices[target] = open_on(target.started, target.location.index)
    return found


_devices: WeakKeyDictionary[Target, _core.Device] = WeakKeyDictionary()


def holds(target: Target, *names: str) -> bool:
    """Whether the device lists all of these dtypes among those of its tensors."""
    held = int(target.properties.dtypes)
    return all(held >> dtypes.code(name) & 1 for name in names)


def precise_dtype(target: Target) -> np.dtype[Any]:
    """float64 where the device has it, else float32; NotSupported where it has neither."""
    for name in ("float64", "float32"):
        if holds(target, name):
            return np.dtype(name)
    raise NotSupported("the device holds neither float64 nor float32")


def to_device(array: Array, device: _core.Device, differentiable: bool = False) -> Tensor:
    tensor = da.asarray(np.array(array, order="C"), dtype=array.dtype, device=device)
    if differentiable:
        tensor.requires_grad = True
    return tensor


def run_op(
    spec: OpSpec, inputs: Sequence[Tensor | None], sample: Sample, device: _core.Device
) -> list[Tensor]:
    """One op of the framework, by its entry; the outputs."""
    attributes = tuple(sample.attributes[attribute.name] for attribute in spec.attributes)
    creates = all(x is None for x in inputs)
    made = _core.dispatch(spec.id, tuple(inputs), attributes, device=device if creates else None)
    return list(made) if isinstance(made, tuple) else [made]


@contextmanager
def on_device_only(what: str) -> Iterator[None]:
    """A block in which nothing runs on the CPU instead. What the device has no kernels for is not supported;
    any other error of the framework is a failure."""
    try:
        with fallback.fallback("error"):
            yield
    except UnsupportedOp as error:
        raise NotSupported(f"{what}: {error}") from error
    except DeviceApiError as error:
        raise Failure(f"{what}: {type(error).__name__}: {error}") from error
