"""Where the public names that are no ops live: name to module. The ops are those of ops/_functions.py, except
where a name here stands before them, for functions that also take a device string or a plain shape."""

from __future__ import annotations

_BY_MODULE = {
    "device_api._core": "Device Tensor cache_info clear_plans",
    "device_api.autograd": "backward enable_grad grad gradcheck is_grad_enabled no_grad",
    "device_api.errors": (
        "AbiMismatch AttributeValueError AxisError CaptureError DTypeError DeviceApiError DeviceError"
        " DeviceLost DeviceMismatch DeviceOutOfMemory DeviceTimeout DeviceUnavailable DuplicateDeviceType"
        " FallbackForbidden ForkedProcess GradientError IndexOutOfRange InvalidDevice KernelFailed"
        " ManifestError MaskError OpError PluginError PluginFailed PluginLoadError PluginNotFound"
        " PluginRefused ShapeError UnsupportedOp"
    ),
    "device_api.loading": "PluginRecord plugin_records register_plugin",
    "device_api.ops.custom": "CustomOp TensorInfo custom_op",
    "device_api.ops.namespace": "custom_ops",
    "device_api.ops.fallback": (
        "FallbackEntry FallbackWarning denied_ops fallback fallback_report reset_fallback_report"
        " set_denied_ops set_fallback"
    ),
    "device_api.ops.kernel_decorator": "PythonKernel kernel",
    "device_api.runtime": (
        "Event Generator Graph Stream copy_into current_stream default_device default_stream device"
        " device_count device_properties device_types devices empty_cache get_default_device get_device"
        " get_random_state is_available manual_seed max_memory_allocated max_memory_reserved memory_allocated"
        " memory_reserved memory_snapshot memory_stats pinned_empty reset_peak_memory_stats"
        " set_default_device set_device set_memory_limit set_random_state synchronize"
    ),
    "device_api.tensor.constants": (
        "bfloat16 bool complex64 complex128 e float8_e4m3fn float8_e5m2 float16 float32 float64 inf int8"
        " int16 int32 int64 nan newaxis pi uint8 uint16 uint32 uint64"
    ),
    "device_api.tensor.conversion": "asarray to_device",
    "device_api.tensor.creation": (
        "arange empty empty_like eye full full_like linspace ones ones_like zeros zeros_like"
    ),
    "device_api.interop.dlpack": "from_dlpack",
    "device_api.tensor.dynamic": "count_nonzero nonzero",
    "device_api.tensor.inspection": (
        "__array_namespace_info__ can_cast finfo get_default_dtype iinfo isdtype result_type"
        " set_default_dtype"
    ),
    "device_api.tensor.complex_parts": "imag real",
    "device_api.tensor.rearranging": (
        "astype broadcast_arrays broadcast_shapes diff meshgrid moveaxis positive repeat reshape tensordot"
        " unstack"
    ),
    "device_api.tensor.prefetching": "prefetch",
    "device_api.tensor.sharing": "host_view managed_empty wrap_memory",
    "device_api.tensor.sets": "isin searchsorted unique_all unique_counts unique_inverse unique_values",
    "device_api.tensor.random": "bernoulli exponential multinomial normal permutation randint uniform",
}

MODULES: dict[str, str] = {name: module for module, names in _BY_MODULE.items() for name in names.split()}
OPS_MODULE = "device_api.ops._functions"
SUBMODULES = frozenset(
    "abi amp autograd cli dtypes errors fft linalg loading ops opset prototype runtime tensor".split()
)
