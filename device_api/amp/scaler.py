"""Dynamic loss scaling: the loss is multiplied by a number so large that small gradients do not vanish in
float16, and gradients are divided by it again. Steps whose gradients overflowed are left out, and the
scale follows.

The state is tensors of the device: only `found_inf` and `step` read one back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from device_api import _core
from device_api.autograd.modes import no_grad
from device_api.errors import AttributeValueError, GradientError
from device_api.ops import _functions as F
from device_api.runtime.devices import DeviceLike
from device_api.tensor.conversion import asarray


class GradScaler:
    """Scales losses and unscales gradients, on one device.

        gradients = scaler.unscale(da.grad(scaler.scale(loss), parameters))
        scaler.step(lambda: apply(gradients))
        scaler.update()

    The scale begins at `init_scale`, grows by `growth` after `interval` good steps in a row and shrinks by
    `backoff` after a bad one. With `enabled=False` nothing is scaled, and all steps are good. Raises
    `AttributeValueError` for numbers that make no sense.
    """

    def __init__(
        self,
        init_scale: float = 65536.0,
        *,
        growth: float = 2.0,
        backoff: float = 0.5,
        interval: int = 2000,
        enabled: bool = True,
        device: DeviceLike | None = None,
    ) -> None:
        _check("init_scale", init_scale, 0.0 < init_scale < float("inf"), "positive and finite")
        self.enabled = enabled
        self._scale = asarray(init_scale, dtype="float32", device=device)
        self._good_steps = asarray(0, dtype="int64", device=device)
        self._found: _core.Tensor | None = None
        self._set_rules(growth, backoff, interval)

    def _set_rules(self, growth: float, backoff: float, interval: int) -> None:
        _check("growth", growth, 1.0 < growth < float("inf"), "above 1")
        _check("backoff", backoff, 0.0 < backoff < 1.0, "between 0 and 1")
        _check("interval", interval, interval >= 1, "at least 1")
        self._growth, self._backoff, self._interval = growth, backoff, interval

    @property
    def scale_value(self) -> float:
        """The scale, read from the device; 1 when disabled."""
        return float(self._scale) if self.enabled else 1.0

    @property
    def found_inf(self) -> bool:
        """Whether a gradient unscaled since the last `update` was infinite or NaN, read from the device."""
        return self._found is not None and bool(self._found)

    def scale(self, loss: _core.Tensor) -> _core.Tensor:
        """The loss times the scale, in float32 or wider."""
        return F.multiply(loss, self._scale) if self.enabled else loss

    def unscale(self, gradients: Sequence[_core.Tensor | None]) -> list[_core.Tensor | None]:
        """The gradients divided by the scale, each in its dtype; remembers whether one was not finite. None
        stays None."""
        if not self.enabled:
            return list(gradients)
        with no_grad():
            return [None if each is None else self._unscaled(each) for each in gradients]

    def _unscaled(self, gradient: _core.Tensor) -> _core.Tensor:
        made, found = F.check_finite_and_unscale(gradient, self._scale)
        self._found = found if self._found is None else F.logical_or(self._found, found)
        return made

    def step(self, apply: Callable[[], object]) -> bool:
        """Calls `apply`, which uses the unscaled gradients, unless one was not finite; says whether it did.

        Raises `GradientError` when nothing was unscaled since the last `update`.
        """
        self._check_unscaled("step")
        if self.found_inf:
            return False
        apply()
        return True

    def update(self) -> None:
        """Sets the scale of the next step, on the device. Raises `GradientError` when nothing was
        unscaled."""
        self._check_unscaled("update")
        if self._found is not None:
            self._scale, self._good_steps = F.update_loss_scaling(
                self._scale,
                self._good_steps,
                self._found,
                growth=self._growth,
                backoff=self._backoff,
                interval=self._interval,
            )
        self._found = None

    def _check_unscaled(self, what: str) -> None:
        if self.enabled and self._found is None:
            raise GradientError(
                f"{what} knows nothing of this step's gradients",
                why="none was unscaled since the last update",
                remedy="Call unscale first.",
            )

    def state_dict(self) -> dict[str, Any]:
        """The scale, the good steps in a row, and the rules, as Python numbers."""
        return {
            "scale": float(self._scale),
            "good_steps": int(self._good_steps),
            "growth": self._growth,
            "backoff": self._backoff,
            "interval": self._interval,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Takes over what `state_dict` gave; `AttributeValueError` for a state with other or missing
        entries."""
        names = set(self.state_dict())
        if set(state) != names:
            raise AttributeValueError(
                "not the state of a GradScaler", subject=sorted(state),
                why=f"its entries are {sorted(names)}", argument="state", value=sorted(state),
            )  # fmt: skip
        _check("scale", state["scale"], 0.0 < state["scale"] < float("inf"), "positive and finite")
        self._set_rules(state["growth"], state["backoff"], state["interval"])
        device = self._scale.device
        self._scale = asarray(float(state["scale"]), dtype="float32", device=device)
        self._good_steps = asarray(int(state["good_steps"]), dtype="int64", device=device)
        self._found = None


def _check(name: str, value: float, good: bool, rule: str) -> None:
    if not good:
        raise AttributeValueError(f"{name} is {rule}", subject=value, argument=name, value=value)
