"""Gradients by reverse-mode differentiation over the op set's gradient rules."""

from device_api.autograd.engine import backward, grad
from device_api.autograd.gradcheck import gradcheck
from device_api.autograd.graph import recipe, record_move
from device_api.autograd.modes import enable_grad, is_grad_enabled, no_grad

__all__ = [
    "backward",
    "enable_grad",
    "grad",
    "gradcheck",
    "is_grad_enabled",
    "no_grad",
    "recipe",
    "record_move",
]
