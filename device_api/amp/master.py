"""Master weights: parameters computed with in 16 bits, and kept in float32 for the optimiser, whose steps
are often smaller than what 16 bits can tell apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from device_api import _core, dtypes
from device_api.autograd.modes import no_grad
from device_api.errors import DTypeError, ShapeError
from device_api.ops import _functions as F
from device_api.tensor.conversion import write


class MasterWeights:
    """For level O2: `parameters` in a 16-bit dtype, which require gradients, and their `masters` in float32.

        weights = da.amp.MasterWeights(parameters, "bfloat16")
        gradients = weights.widened(da.grad(loss, weights.parameters))
        weights.assign([da.sgd_step(w, g, rate) for w, g in zip(weights.masters, gradients)])

    Raises `DTypeError` for another dtype than float16 and bfloat16.
    """

    def __init__(self, parameters: Sequence[_core.Tensor], dtype: npt.DTypeLike) -> None:
        code = dtypes.code(dtype)
        if code not in (dtypes.FLOAT16, dtypes.BFLOAT16):
            name = dtypes.NAMES[code]
            raise DTypeError(
                "parameters beside master weights have 16 bits", subject=name,
                remedy="Use float16 or bfloat16.", dtypes=(name,),
            )  # fmt: skip
        with no_grad():
            self.masters = [F.copy(each, dtype=_SINGLE) for each in parameters]
            self.parameters = [F.copy(each, dtype=dtypes.from_code(code)) for each in self.masters]
        for each in self.parameters:
            each.requires_grad = True

    def widened(self, gradients: Sequence[_core.Tensor | None]) -> list[_core.Tensor | None]:
        """Gradients of the parameters in float32."""
        with no_grad():
            return [None if each is None else F.astype(each, _SINGLE, copy=False) for each in gradients]

    def assign(self, masters: Sequence[_core.Tensor]) -> None:
        """Takes the optimiser's results as masters, and writes them, rounded, over the parameters.

        Raises `ShapeError` when they do not fit; then nothing has changed.
        """
        wanted = [each.shape for each in self.masters]
        got = [each.shape for each in masters]
        if wanted != got:
            raise ShapeError("these are no masters of the parameters", subject=f"{got} for {wanted}")
        with no_grad():
            self.masters = [F.astype(each, _SINGLE, copy=False) for each in masters]
            for master, parameter in zip(self.masters, self.parameters, strict=True):
                write(F.astype(master, parameter.dtype), parameter.detach())


_SINGLE = dtypes.from_code(dtypes.FLOAT32)
