"""Names of the namespace that are values: element types, as NumPy's scalar types, and the constants.

NumPy's `bool`, not Python's, so that `x.dtype == da.bool` holds as for every other type.
"""

from __future__ import annotations

import math
from typing import Final

import ml_dtypes
import numpy as np

__all__ = [
    "bfloat16",
    "bool",
    "complex64",
    "complex128",
    "e",
    "float8_e4m3fn",
    "float8_e5m2",
    "float16",
    "float32",
    "float64",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "nan",
    "newaxis",
    "pi",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

bool = np.bool_
int8 = np.int8
int16 = np.int16
int32 = np.int32
int64 = np.int64
uint8 = np.uint8
uint16 = np.uint16
uint32 = np.uint32
uint64 = np.uint64
float16 = np.float16
bfloat16 = ml_dtypes.bfloat16
float32 = np.float32
float64 = np.float64
complex64 = np.complex64
complex128 = np.complex128
float8_e4m3fn = ml_dtypes.float8_e4m3fn
float8_e5m2 = ml_dtypes.float8_e5m2

e: Final = math.e
inf: Final = math.inf
nan: Final = math.nan
pi: Final = math.pi
newaxis: Final = None
