"""A DLPack producer made by hand, so that capsules can be what no library makes: of future versions,
read-only, with odd strides and offsets, and so that every call of a deleter is counted."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("index", ctypes.c_int32))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device", _Device), ("rank", ctypes.c_int32), ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Legacy(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _DELETER))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", _DELETER), ("flags", ctypes.c_uint64), ("tensor", _Tensor),
    )  # fmt: skip


_new = ctypes.pythonapi.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype = ctypes.c_char_p
_name.argtypes = (ctypes.py_object,)

_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
BFLOAT = 4


def capsule_name(capsule: object) -> bytes:
    return bytes(_name(capsule))


class Producer:
    """Offers the memory of an array, described as the arguments say; `deleted` counts the calls of the
    deleter."""

    def __init__(
        self,
        array: np.ndarray,
        *,
        version: tuple[int, int] | None = (1, 0),
        flags: int = 0,
        offset: int = 0,
        code: int | None = None,
        bits: int | None = None,
        lanes: int = 1,
        shape: tuple[int, ...] | None = None,
        strides: tuple[int, ...] | None = None,
        compact: bool = False,
        device: int = 1,
    ) -> None:
        self.array = array
        self.deleted = 0
        self.asked: dict[str, Any] = {}
        shape = array.shape if shape is None else shape
        if strides is None:
            strides = tuple(each // array.itemsize for each in array.strides)
        if code is None:
            code = BFLOAT if array.dtype == ml_dtypes.bfloat16 else _CODES[array.dtype.kind]
        self._numbers = (ctypes.c_int64 * len(shape))(*shape), (ctypes.c_int64 * len(strides))(*strides)
        self._deleter = _DELETER(self._delete)
        tensor = _Tensor(
            array.ctypes.data - offset,
            _Device(device, 0),
            len(shape),
            code,
            bits or array.itemsize * 8,
            lanes,
            self._numbers[0],
            None if compact else self._numbers[1],
            offset,
        )
        if version is None:
            self.managed: Any = _Legacy(tensor, None, self._deleter)
        else:
            self.managed = _Versioned(*version, None, self._deleter, flags, tensor)
        self.name = b"dltensor" if version is None else b"dltensor_versioned"
        self.capsule = _new(ctypes.addressof(self.managed), self.name, None)

    def _delete(self, managed: int) -> None:
        assert managed == ctypes.addressof(self.managed)
        self.deleted += 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **asked: Any) -> object:
        self.asked = asked
        return self.capsule
