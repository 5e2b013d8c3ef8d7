"""A custom op whose kernel is C: a plugin lists it under the op's name, and reads its attributes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

from device_api.cli import paths

ROOT = Path(__file__).parents[2]
ENTRY = """{sizeof(da_kernel), NULL, "acme.swish", {DA_DTYPE_BIT(DA_FLOAT32), 0, 0, 0}, CONTIGUOUS, 0, 0,
           launch_swish, NULL, NULL, NULL},"""
PROGRAM = """
import numpy as np
import device_api as da

swish = da.custom_op(
    "acme.swish(x: T, *, beta: float = 1.0, shift: float? = None) -> out: T",
    types={"T": "floating"},
    decompose=lambda F, x, *, beta, shift: F.call("multiply", x, 0.0) + 7.0,
    gradient=lambda g, x, out, *, beta, shift: g * da.sigmoid(x),
)
device = da.device("primitives")
x = da.asarray([[0.5, -1.0, 2.0]], device=device)
right = lambda v, b: v / (1 + np.exp(-b * v))
with da.fallback("error"):
    np.testing.assert_allclose(swish(x, beta=2.0).numpy(), right(x.numpy(), 2.0), rtol=1e-6)
    np.testing.assert_allclose(swish(x.T, shift=0.25).numpy(), right(x.numpy().T + 0.25, 1.0), rtol=1e-6)
    # For another dtype the plugin has no kernel: the composition, which is told apart by its value, serves.
    assert swish(x.astype(da.float64)).tolist() == [[7, 7, 7]]
    x.requires_grad = True
    da.sum(swish(x)).backward()
assert device.kernel_runs()["acme.swish"] == 3, device.kernel_runs()
"""


def test_a_kernel_in_c_serves_a_custom_op_with_its_attributes(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(
        ROOT / "plugins" / "primitives_only", source, ignore=shutil.ignore_patterns("*.so", "build")
    )
    shutil.copy(Path(__file__).with_name("swish.c"), source / "kernels")
    listing = source / "kernels" / "kernels.c"
    text = listing.read_text()
    assert "{KERNELS(KERNEL_ENTRY)}" in text
    text = text.replace("{KERNELS(KERNEL_ENTRY)}", f"{{KERNELS(KERNEL_ENTRY) {ENTRY}}}")
    table = "static const da_kernel kernels"
    listing.write_text(text.replace(table, f"LAUNCH(swish);\n\n{table}"))
    library = tmp_path / "libdevice_api_primitives_only.so"
    flags = "-std=c99 -O1 -Wall -Wextra -Werror -pedantic -fPIC -shared -fvisibility=hidden"
    sources = [str(path) for path in sorted(source.rglob("*.c"))]
    command = ["gcc", *flags.split(), f"-I{paths.include_dir()}", *sources, "-lm", "-o", str(library)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    shutil.copy(source / "primitives_only.json", tmp_path)
    search = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, search)),
            "DEVICE_API_PLUGIN_PATH": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
