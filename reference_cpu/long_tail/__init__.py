"""The CPU's kernels in Python, for ops where a kernel in C++ would only call the same library.

`KERNELS` names the module of each op; a module is imported when one of its ops is first planned. A kernel is
a function of NumPy arrays and the op's attributes that returns the op's results.
"""

from __future__ import annotations

_MODULES = {
    "rounding": "round",
    "factorisation": "cholesky qr eigh eigvalsh eig eigvals svd svdvals solve inv det slogdet",
    "fourier": "fourier fourier_real fourier_hermitian",
}

KERNELS: dict[str, str] = {op: module for module, ops in _MODULES.items() for op in ops.split()}
