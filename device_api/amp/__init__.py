"""Mixed precision: 16-bit floats where they serve, float32 where they do not.

with da.amp.autocast("npu:0"):
    loss = da.cross_entropy(model(images), digits)
gradients = scaler.unscale(da.grad(scaler.scale(loss), parameters))
"""

from device_api.amp.casting import autocast, is_autocast_enabled
from device_api.amp.master import MasterWeights
from device_api.amp.scaler import GradScaler
from device_api.amp.support import is_bfloat16_supported, is_float16_supported

__all__ = [
    "GradScaler",
    "MasterWeights",
    "autocast",
    "is_autocast_enabled",
    "is_bfloat16_supported",
    "is_float16_supported",
]
