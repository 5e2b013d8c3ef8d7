"""Every exception that device_api raises on purpose.

One tree for users to catch: `DeviceApiError` at the top, then plugins, devices and operations. A class also
derives from the built-in exception that a Python user would expect (`ValueError` for a shape, `MemoryError`
for memory), so code that has never heard of devices handles it too. Facts are kept as attributes next to the
text. This module stands below everything: it must not import anything of the package.
"""

from __future__ import annotations

from collections.abc import Sequence


class DeviceApiError(Exception):
    """Base of all errors of the package.

    The text reads "what: to what: why. What to do". A fact is a keyword argument named like an attribute
    of the class; those not given stay `None`.
    """

    why: str | None = None
    remedy: str | None = None

    def __init__(
        self,
        what: str,
        *,
        subject: object = None,
        why: str | None = None,
        remedy: str | None = None,
        **facts: object,
    ) -> None:
        for name in facts:
            if not hasattr(type(self), name):
                raise TypeError(f"{type(self).__name__} has no fact named {name!r}")
        super().__init__(_sentence(what, subject, why, remedy))
        self.why = why
        self.remedy = remedy
        self.__dict__.update(facts)


def _sentence(what: str, subject: object, why: str | None, remedy: str | None) -> str:
    """Joins the parts of an error's text; empty parts leave no trace."""
    parts = [what] if subject is None else [what, str(subject)]
    if why:
        parts.append(why)
    text = ": ".join(part.strip() for part in parts)
    if remedy:
        text = f"{text if text.endswith(('.', '!', '?')) else text + '.'} {remedy.strip()}"
    return text


# --- plugins --------------------------------------------------------------------------------------


class PluginError(DeviceApiError):
    """Finding, opening, agreeing with or running a plugin. `path` is its library or manifest."""

    path: str | None = None


class PluginNotFound(PluginError, LookupError):
    """No plugin offers the device type; `available` names the types that exist."""

    device_type: str | None = None
    available: Sequence[str] | None = None


class PluginLoadError(PluginError):
    """A library that cannot be opened or is no well-formed plugin; `detail` is the linker's text."""

    detail: str | None = None


class AbiMismatch(PluginLoadError):
    """Plugin and host speak different versions of the contract: (major, minor) of each."""

    plugin_version: tuple[int, int] | None = None
    host_version: tuple[int, int] | None = None


class ManifestError(PluginError):
    """A manifest that cannot be read or says something impossible; `field` is the place, if any."""

    field: str | None = None


class PluginRefused(PluginError):
    """A plugin that exists but may not be loaded: trust, deny list, select list or safe mode (`rule`)."""

    rule: str | None = None


class DuplicateDeviceType(PluginError):
    """Two different plugins offer one device type."""

    device_type: str | None = None
    paths: Sequence[str] | None = None


class PluginFailed(PluginError):
    """A call into a plugin returned an error: the entry, its status code and the plugin's own message."""

    entry: str | None = None
    code: int | None = None
    message: str | None = None


# --- devices --------------------------------------------------------------------------------------


class DeviceError(DeviceApiError):
    """Something about a device; `device` is its string, for example "npu:0"."""

    device: str | None = None


class InvalidDevice(DeviceError, ValueError):
    """A device string that is malformed, unknown or out of range; `spec` is what was given."""

    spec: object = None


class DeviceUnavailable(DeviceError):
    """The plugin is there, the device is not usable; `reason` is the plugin's (no driver, no permission)."""

    spec: object = None
    reason: str | None = None


class DeviceOutOfMemory(DeviceError, MemoryError):
    """Device memory is exhausted, even after cached blocks were released. Sizes in bytes."""

    requested: int | None = None
    free: int | None = None
    total: int | None = None


class DeviceLost(DeviceError):
    """The device failed for good: every later call on it fails as well."""


class DeviceTimeout(DeviceError, TimeoutError):
    """Work was not done in the time given; `timeout_ns` in nanoseconds."""

    timeout_ns: int | None = None


class CaptureError(DeviceError, RuntimeError):
    """Something that a graph cannot record, or values that wait for its first replay."""


class ForkedProcess(DeviceError):
    """A device of the parent was used in a forked child; `owner_pid` is the process that opened it."""

    owner_pid: int | None = None


class KernelFailed(DeviceError):
    """A kernel returned an error: the op, the status or vendor code, and the plugin's message in `detail`."""

    op: str | None = None
    code: int | None = None
    detail: str | None = None


# --- operations -----------------------------------------------------------------------------------


class OpError(DeviceApiError):
    """An operation was called with what it cannot take; `op` is its name, `argument` the offending one."""

    op: str | None = None
    argument: str | None = None


class ShapeError(OpError, ValueError):
    """Shapes that do not fit; `shapes` are those of the tensors involved."""

    shapes: Sequence[Sequence[int]] | None = None


class AxisError(ShapeError, IndexError):
    """An axis out of range or given twice, for a tensor of `ndim` dimensions."""

    axis: int | None = None
    ndim: int | None = None


class MaskError(ShapeError, IndexError):
    """A boolean mask that does not have the shape of the axes it is to choose from."""


class DTypeError(OpError, TypeError):
    """Element types that the op does not take or that do not promote together; `dtypes` are their names."""

    dtypes: Sequence[str] | None = None


class DeviceMismatch(OpError, ValueError):
    """Tensors of several devices in one operation; `devices` are their strings."""

    devices: Sequence[str] | None = None


class AttributeValueError(OpError, ValueError):
    """An attribute with a value the op does not take."""

    value: object = None


class IndexOutOfRange(OpError, IndexError):
    """An index outside its dimension of `size` elements."""

    index: int | None = None
    size: int | None = None


class UnsupportedOp(OpError, NotImplementedError):
    """The device has no kernel and no composition for these dtypes; `available` says what exists."""

    device: str | None = None
    dtypes: Sequence[str] | None = None
    available: Sequence[str] | None = None


class FallbackForbidden(UnsupportedOp):
    """The operation would have run on the CPU, and the policy forbids it."""


class GradientError(OpError, RuntimeError):
    """Differentiation is not possible: no gradient rule, a freed graph, a write to a needed value."""
