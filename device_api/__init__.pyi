# ruff: noqa: F403
# The public namespace as type checkers see it; at run time names come from the same modules on demand.
from device_api.ops._functions import *  # isort: skip
from device_api import amp as amp
from device_api import fft as fft
from device_api import linalg as linalg
from device_api._core import Device as Device
from device_api._core import Tensor as Tensor
from device_api._core import cache_info as cache_info
from device_api._core import clear_plans as clear_plans
from device_api.autograd import backward as backward
from device_api.autograd import enable_grad as enable_grad
from device_api.autograd import grad as grad
from device_api.autograd import gradcheck as gradcheck
from device_api.autograd import is_grad_enabled as is_grad_enabled
from device_api.autograd import no_grad as no_grad
from device_api.errors import AbiMismatch as AbiMismatch
from device_api.errors import AttributeValueError as AttributeValueError
from device_api.errors import AxisError as AxisError
from device_api.errors import CaptureError as CaptureError
from device_api.errors import DeviceApiError as DeviceApiError
from device_api.errors import DeviceError as DeviceError
from device_api.errors import DeviceLost as DeviceLost
from device_api.errors import DeviceMismatch as DeviceMismatch
from device_api.errors import DeviceOutOfMemory as DeviceOutOfMemory
from device_api.errors import DeviceTimeout as DeviceTimeout
from device_api.errors import DeviceUnavailable as DeviceUnavailable
from device_api.errors import DTypeError as DTypeError
from device_api.errors import DuplicateDeviceType as DuplicateDeviceType
from device_api.errors import FallbackForbidden as FallbackForbidden
from device_api.errors import ForkedProcess as ForkedProcess
from device_api.errors import GradientError as GradientError
from device_api.errors import IndexOutOfRange as IndexOutOfRange
from device_api.errors import InvalidDevice as InvalidDevice
from device_api.errors import KernelFailed as KernelFailed
from device_api.errors import ManifestError as ManifestError
from device_api.errors import MaskError as MaskError
from device_api.errors import OpError as OpError
from device_api.errors import PluginError as PluginError
from device_api.errors import PluginFailed as PluginFailed
from device_api.errors import PluginLoadError as PluginLoadError
from device_api.errors import PluginNotFound as PluginNotFound
from device_api.errors import PluginRefused as PluginRefused
from device_api.errors import ShapeError as ShapeError
from device_api.errors import UnsupportedOp as UnsupportedOp
from device_api.interop.dlpack import from_dlpack as from_dlpack
from device_api.loading import PluginRecord as PluginRecord
from device_api.loading import plugin_records as plugin_records
from device_api.loading import register_plugin as register_plugin
from device_api.ops.custom import CustomOp as CustomOp
from device_api.ops.custom import TensorInfo as TensorInfo
from device_api.ops.custom import custom_op as custom_op
from device_api.ops.fallback import FallbackEntry as FallbackEntry
from device_api.ops.fallback import FallbackWarning as FallbackWarning
from device_api.ops.fallback import denied_ops as denied_ops
from device_api.ops.fallback import fallback as fallback
from device_api.ops.fallback import fallback_report as fallback_report
from device_api.ops.fallback import reset_fallback_report as reset_fallback_report
from device_api.ops.fallback import set_denied_ops as set_denied_ops
from device_api.ops.fallback import set_fallback as set_fallback
from device_api.ops.kernel_decorator import PythonKernel as PythonKernel
from device_api.ops.kernel_decorator import kernel as kernel
from device_api.ops.namespace import custom_ops as custom_ops
from device_api.runtime import *
from device_api.tensor.complex_parts import imag as imag
from device_api.tensor.complex_parts import real as real
from device_api.tensor.constants import *
from device_api.tensor.conversion import asarray as asarray
from device_api.tensor.conversion import to_device as to_device
from device_api.tensor.creation import arange as arange
from device_api.tensor.creation import empty as empty
from device_api.tensor.creation import empty_like as empty_like
from device_api.tensor.creation import eye as eye  # type: ignore[assignment]
from device_api.tensor.creation import full as full  # type: ignore[assignment]
from device_api.tensor.creation import full_like as full_like  # type: ignore[assignment]
from device_api.tensor.creation import linspace as linspace
from device_api.tensor.creation import ones as ones
from device_api.tensor.creation import ones_like as ones_like
from device_api.tensor.creation import zeros as zeros
from device_api.tensor.creation import zeros_like as zeros_like
from device_api.tensor.dynamic import count_nonzero as count_nonzero
from device_api.tensor.dynamic import nonzero as nonzero
from device_api.tensor.inspection import __array_namespace_info__ as __array_namespace_info__
from device_api.tensor.inspection import can_cast as can_cast
from device_api.tensor.inspection import finfo as finfo
from device_api.tensor.inspection import get_default_dtype as get_default_dtype
from device_api.tensor.inspection import iinfo as iinfo
from device_api.tensor.inspection import isdtype as isdtype
from device_api.tensor.inspection import result_type as result_type
from device_api.tensor.inspection import set_default_dtype as set_default_dtype
from device_api.tensor.prefetching import prefetch as prefetch
from device_api.tensor.random import bernoulli as bernoulli
from device_api.tensor.random import exponential as exponential
from device_api.tensor.random import multinomial as multinomial  # type: ignore[assignment]
from device_api.tensor.random import normal as normal
from device_api.tensor.random import permutation as permutation
from device_api.tensor.random import randint as randint
from device_api.tensor.random import uniform as uniform
from device_api.tensor.rearranging import astype as astype  # type: ignore[assignment]
from device_api.tensor.rearranging import broadcast_arrays as broadcast_arrays
from device_api.tensor.rearranging import broadcast_shapes as broadcast_shapes
from device_api.tensor.rearranging import diff as diff  # type: ignore[assignment]
from device_api.tensor.rearranging import meshgrid as meshgrid
from device_api.tensor.rearranging import moveaxis as moveaxis
from device_api.tensor.rearranging import positive as positive
from device_api.tensor.rearranging import repeat as repeat  # type: ignore[assignment]
from device_api.tensor.rearranging import reshape as reshape  # type: ignore[assignment]
from device_api.tensor.rearranging import tensordot as tensordot
from device_api.tensor.rearranging import unstack as unstack
from device_api.tensor.sets import isin as isin
from device_api.tensor.sets import searchsorted as searchsorted  # type: ignore[assignment]
from device_api.tensor.sets import unique_all as unique_all
from device_api.tensor.sets import unique_counts as unique_counts
from device_api.tensor.sets import unique_inverse as unique_inverse
from device_api.tensor.sets import unique_values as unique_values
from device_api.tensor.sharing import host_view as host_view
from device_api.tensor.sharing import managed_empty as managed_empty
from device_api.tensor.sharing import wrap_memory as wrap_memory

__version__: str
__array_api_version__: str

def get_include() -> str: ...
def get_cmake_dir() -> str: ...
