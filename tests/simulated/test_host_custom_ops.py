"""A custom op of C on a device with streams and captures: queued, recorded and replayed as every op."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from simulated_driver import Host

from device_api.cli import paths

SOURCE = Path(__file__).with_name("doubling_layer.c")
FLAGS = "-std=c99 -O1 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden".split()


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The layer that adds acme.doubled to the plugin below it."""
    library = tmp_path_factory.mktemp("layer") / "libdoubling.so"
    subprocess.run(["cc", *FLAGS, f"-I{paths.include_dir()}", str(SOURCE), "-o", str(library)], check=True)
    return library


@pytest.mark.parametrize("mode", ["lazy", "eager"])
def test_a_graph_replays_a_custom_op_of_c_on_what_its_input_holds_by_then(
    host: Host, layer: Path, mode: str
) -> None:
    ran = host(f"""
from device_api import layers
layers.use("sim", ["validate", {str(layer)!r}])
device = da.device("sim")
doubled = da.custom_ops.acme.doubled
x = da.zeros((40, 50), device=device)
with da.Graph.capture(device) as graph:
    y = doubled(x + 1)
    z = da.sum(doubled(y), axis=0)
launched = device.kernel_runs()["acme.doubled"]
for i in range(4):
    values = np.random.default_rng(i).standard_normal((40, 50)).astype(np.float32)
    da.copy_into(x, da.asarray(values, device=device))
    graph.replay()
    np.testing.assert_array_equal(y.numpy(), 2 * (values + np.float32(1)))
    np.testing.assert_allclose(z.numpy(), 4 * (values + 1.0).sum(0), rtol=1e-4, atol=1e-4)
assert launched == 2, launched
side = da.Stream(device)
side.wait_stream(da.current_stream(device))
with side:
    again = doubled(y)
assert (again.numpy() == 2 * y.numpy()).all()
assert not [each for each in layers.findings() if "STREAM" in each.rule or "KERNEL" in each.rule]
print("end")
""", MODE=mode, MAX_DELAY_US=2000)  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "end\n"), ran.stdout + ran.stderr
