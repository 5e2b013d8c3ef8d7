# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: c_api_binop_methods=True, always_allow_keywords=False, auto_pickle=False, embedsignature=False
# distutils: language=c++
"""The binding of the native core: devices, tensors, programs and the dispatch of calls.

It turns Python objects into what the C++ engine works on, holds the interpreter's lock where the engine asks for
"the host lock", releases it around whatever may block, and turns failures into the package's exceptions. It must
not know the op set, promotion or shape rules: hooks installed by the layers above answer on the first call of a kind.
"""

cimport cython
from cpython.bool cimport PyBool_Check
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.complex cimport PyComplex_Check, PyComplex_ImagAsDouble, PyComplex_RealAsDouble
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check, PyFloat_CheckExact
from cpython.long cimport PyLong_AsDouble, PyLong_Check, PyLong_CheckExact
from cpython.object cimport PyObject, PyObject_Hash, PyObject_RichCompareBool, Py_EQ
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from libc.math cimport signbit
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcpy, memset
from libcpp cimport bool as cpp_bool
from libcpp.map cimport map as cpp_map
from libcpp.string cimport string
from libcpp.vector cimport vector

cimport engine_api as ce

import atexit
import gc
import logging
import operator
import os
import re
import weakref

from device_api import dtypes as _dtypes
from device_api import errors as _errors
from device_api.loading import environment as _environment

include "failures.pxi"
include "device.pxi"
include "tensor.pxi"
include "scalars.pxi"
include "program.pxi"
include "waits.pxi"
include "streams.pxi"
include "events.pxi"
include "runner.pxi"
include "memory.pxi"
include "views.pxi"
include "dlpack.pxi"
include "random.pxi"
include "graph.pxi"
include "shared_memory.pxi"
include "dispatch.pxi"
include "autocast.pxi"
include "autograd.pxi"
include "surface.pxi"
include "services.pxi"
