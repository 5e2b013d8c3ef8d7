"""Element types: the numbers of the C header, their NumPy types, and the sets that rules speak of.

The header's `enum da_dtype` is the one numbering of element types; everything above the C border uses
NumPy's (and ml_dtypes') own type objects, so that any library that knows NumPy understands a tensor's
dtype. This module is the bridge between the two. It knows nothing of tensors, devices or ops.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

BOOL_CODE: Final = 1
INT8: Final = 2
INT16: Final = 3
INT32: Final = 4
INT64: Final = 5
UINT8: Final = 6
UINT16: Final = 7
UINT32: Final = 8
UINT64: Final = 9
FLOAT16: Final = 10
BFLOAT16: Final = 11
FLOAT32: Final = 12
FLOAT64: Final = 13
COMPLEX64: Final = 14
COMPLEX128: Final = 15
FLOAT8_E4M3FN: Final = 16
FLOAT8_E5M2: Final = 17

_SCALAR_TYPES: Final[dict[int, type[np.generic]]] = {
    BOOL_CODE: np.bool_,
    INT8: np.int8,
    INT16: np.int16,
    INT32: np.int32,
    INT64: np.int64,
    UINT8: np.uint8,
    UINT16: np.uint16,
    UINT32: np.uint32,
    UINT64: np.uint64,
    FLOAT16: np.float16,
    BFLOAT16: ml_dtypes.bfloat16,
    FLOAT32: np.float32,
    FLOAT64: np.float64,
    COMPLEX64: np.complex64,
    COMPLEX128: np.complex128,
    FLOAT8_E4M3FN: ml_dtypes.float8_e4m3fn,
    FLOAT8_E5M2: ml_dtypes.float8_e5m2,
}
_DTYPES: Final[dict[int, np.dtype[Any]]] = {code: np.dtype(kind) for code, kind in _SCALAR_TYPES.items()}
_CODES: Final[dict[np.dtype[Any], int]] = {dtype: code for code, dtype in _DTYPES.items()}

NAMES: Final[dict[int, str]] = {code: dtype.name for code, dtype in _DTYPES.items()}
CODES_BY_NAME: Final[dict[str, int]] = {name: code for code, name in NAMES.items()}
ITEM_SIZES: Final[dict[int, int]] = {code: dtype.itemsize for code, dtype in _DTYPES.items()}

BOOL: Final = frozenset({BOOL_CODE})
SIGNED: Final = frozenset({INT8, INT16, INT32, INT64})
UNSIGNED: Final = frozenset({UINT8, UINT16, UINT32, UINT64})
INTEGER: Final = SIGNED | UNSIGNED
FLOATING: Final = frozenset({FLOAT16, BFLOAT16, FLOAT32, FLOAT64})
COMPLEX: Final = frozenset({COMPLEX64, COMPLEX128})
REAL: Final = INTEGER | FLOATING
NUMERIC: Final = REAL | COMPLEX
FLOAT8: Final = frozenset({FLOAT8_E4M3FN, FLOAT8_E5M2})
ALL: Final = BOOL | NUMERIC | FLOAT8

# What Python's numbers become; floats and complex numbers follow `set_default_floating`.
_PYTHON_TYPES: Final[dict[type, int]] = {bool: BOOL_CODE, int: INT64, float: FLOAT32, complex: COMPLEX64}
_COMPANIONS: Final = {FLOAT32: COMPLEX64, FLOAT64: COMPLEX128}


def default_code(kind: type) -> int:
    """The code of the dtype that Python's `bool`, `int`, `float` or `complex` stand for in this process."""
    return _PYTHON_TYPES[kind]


def set_default_floating(code: int) -> None:
    """Sets what `float` stands for, float32 or float64, and with it `complex`. Whoever keeps plans must
    forget them: they were made with the old default. `TypeError` for another dtype."""
    if code not in _COMPANIONS:
        raise TypeError(f"the default floating dtype is float32 or float64, not {NAMES[code]}")
    _PYTHON_TYPES[float] = code
    _PYTHON_TYPES[complex] = _COMPANIONS[code]


def scalar_type(code: int) -> type[np.generic]:
    """The NumPy scalar type of a code, for example `numpy.float32` for 12."""
    return _SCALAR_TYPES[code]


def from_code(code: int) -> np.dtype[Any]:
    """The NumPy dtype of a code; `KeyError` for a number that is no element type."""
    return _DTYPES[code]


def code(dtype: DTypeLike | None) -> int:
    """The code of anything NumPy takes as a dtype, of a name such as "bfloat16", or of a Python type.

    Python's `int`, `float` and `complex` mean the default types: int64, and float32 and complex64 unless
    `set_default_floating` chose others.
    Raises `TypeError` for what is no dtype and for dtypes that devices do not hold (strings, objects).
    """
    found: int | None
    if dtype is None:
        found = None
    elif isinstance(dtype, np.dtype):
        found = _CODES.get(dtype)
    elif isinstance(dtype, type) and dtype in _PYTHON_TYPES:
        found = _PYTHON_TYPES[dtype]
    elif isinstance(dtype, str) and dtype in CODES_BY_NAME:
        found = CODES_BY_NAME[dtype]
    else:
        found = _CODES.get(np.dtype(dtype))
    if found is None:
        raise TypeError(
            f"{dtype!r} is not an element type of devices; these are: {', '.join(NAMES.values())}"
        )
    return found


def names(codes: frozenset[int]) -> list[str]:
    """The names of a set of codes, in the order of the codes."""
    return [NAMES[each] for each in sorted(codes)]


@cache
def from_mask(mask: int) -> frozenset[int]:
    """The codes of a set written as `DA_DTYPE_BIT`s; bits that are no element type are left out."""
    return frozenset(each for each in NAMES if mask >> each & 1)
