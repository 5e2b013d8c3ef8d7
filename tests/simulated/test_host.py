"""The whole host on the simulated accelerator: its programs give the CPU's bits, whatever the device is like.

Each program runs in a process of its own, because the device is configured when it is first used.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from simulated_driver import IN_PLACE, ROOT

Ran = subprocess.CompletedProcess[str]
PROGRAM = Path(__file__).with_name("random_program.py")

pytestmark = pytest.mark.skipif(
    not IN_PLACE.exists() or not (ROOT / "reference_cpu" / "libdevice_api_cpu.so").exists(),
    reason="the host finds plugins and its core in the source tree, and they are not built in place",
)


def python(*arguments: object, **settings: object) -> Ran:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SIM_", "DEVICE_API_"))}
    environment |= {f"SIM_{name}": str(value) for name, value in settings.items()}
    environment["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, *(str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)


@pytest.fixture
def host() -> Callable[..., Ran]:
    """Runs Python text with the package as `da`, the plugin registered, and NumPy as `np`."""

    def run(body: str, **settings: object) -> Ran:
        head = "import numpy as np\nimport device_api as da\n"
        head += f"da.register_plugin({str(ROOT / 'plugins' / 'simulated' / 'sim.json')!r})\n"
        return python("-c", head + body, **settings)

    return run


@pytest.mark.parametrize("mode", ["lazy", "eager"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_random_program_gives_the_bits_of_the_cpu(mode: str, seed: int) -> None:
    ran = python(PROGRAM, seed, 120, MODE=mode, SEED=seed)
    assert (ran.returncode, ran.stdout) == (0, "checked\n"), ran.stderr


@pytest.mark.parametrize("mode", ["lazy", "eager"])
def test_random_programs_of_several_threads_give_the_bits_of_the_cpu(mode: str) -> None:
    ran = python(PROGRAM, 4, 60, 4, MODE=mode)
    assert (ran.returncode, ran.stdout) == (0, "checked\n"), ran.stderr


@pytest.mark.parametrize(
    "settings",
    [
        {"STREAMS": 0},
        {"STRIDES": 0},
        {"MAX_RANK": 3},
        {"FLOAT64": 0},
        {"HIDE_OPS": "sub*,square,where,logical_*"},
        {"STRIDES": 0, "MAX_RANK": 3, "FLOAT64": 0, "STREAMS": 0},
        {"MEMORY": 6_000_000},
        {"FAIL_ALLOCATION": 1},
        {"MODE": "eager", "MAX_DELAY_US": 3000},
    ],
    ids=lambda settings: " ".join(f"{name}={value}" for name, value in settings.items()),
)
def test_a_random_program_gives_the_bits_of_the_cpu_on_a_lesser_device(settings: dict[str, object]) -> None:
    ran = python(PROGRAM, 5, 100, **settings)
    assert (ran.returncode, ran.stdout) == (0, "checked\n"), ran.stderr


@pytest.mark.parametrize("mode", ["lazy", "eager"])
def test_gradients_have_the_bits_of_the_cpu(host: Callable[..., Ran], mode: str) -> None:
    body = """
def train(device):
    rng = np.random.default_rng(0)
    def put(*shape):
        return da.asarray(rng.standard_normal(shape).astype(np.float32), device=device)
    x, w, v = put(32, 20), put(20, 16), put(16, 3)
    w.requires_grad = v.requires_grad = True
    for _ in range(5):
        loss = da.mean(da.square(da.tanh(x @ w) @ v))
        loss.backward()
        with da.no_grad():
            w -= 0.1 * w.grad
            v -= 0.1 * v.grad
        w.grad = v.grad = None
    return w.numpy(), v.numpy()
for found, expected in zip(train("sim:1"), train("cpu")):
    np.testing.assert_array_equal(found, expected)
print("equal")
"""
    ran = host(body, MODE=mode)
    assert (ran.returncode, ran.stdout) == (0, "equal\n"), ran.stderr


@pytest.mark.parametrize("mode", ["lazy", "eager"])
def test_an_array_may_change_as_soon_as_it_was_copied(host: Callable[..., Ran], mode: str) -> None:
    body = """
source = np.ones(100_000, np.float32)
tensors = []
for i in range(20):
    source[:] = i
    tensors.append(da.asarray(source, device="sim:0", copy=True) + 1)
    source[:] = -1
for i, tensor in enumerate(tensors):
    assert (tensor.numpy() == i + 1).all(), i
print("kept")
"""
    ran = host(body, MODE=mode)
    assert (ran.returncode, ran.stdout) == (0, "kept\n"), ran.stderr


def test_running_out_of_memory_says_so_and_leaves_the_device_usable(host: Callable[..., Ran]) -> None:
    body = """
held = []
try:
    while True:
        held.append(da.ones((1 << 20,), device="sim:0"))
except da.DeviceOutOfMemory as error:
    assert isinstance(error, MemoryError)
    assert "4194304 bytes" in str(error), error
assert len(held) >= 5
del held
for _ in range(100):
    assert float(da.sum(da.ones((1 << 20,), device="sim:0"))) == 1 << 20
print("usable")
"""
    ran = host(body, MEMORY=32 << 20)
    assert (ran.returncode, ran.stdout) == (0, "usable\n"), ran.stderr


@pytest.mark.parametrize("mode", ["lazy", "eager"])
def test_a_failing_launch_is_raised_where_the_program_waits_and_once(
    host: Callable[..., Ran], mode: str
) -> None:
    body = """
x = da.asarray(np.ones(10, np.float32), device="sim:0")
da.synchronize("sim:0")
y = x
try:
    for _ in range(50):
        y = y * 2
    da.synchronize("sim:0")
except da.DeviceApiError as error:
    assert "SIM_FAIL_LAUNCH" in str(error), error
    print("raised")
da.synchronize("sim:0")
assert (x + 1).numpy().tolist() == [2] * 10
"""
    ran = host(body, MODE=mode, FAIL_LAUNCH=20)
    assert (ran.returncode, ran.stdout) == (0, "raised\n"), ran.stderr


def test_a_lost_device_is_its_own_error_and_the_other_goes_on(host: Callable[..., Ran]) -> None:
    body = """
x = da.asarray(np.ones(10, np.float32), device="sim:0")
for _ in range(3):
    try:
        (x * 2).numpy()
        print("no error")
    except da.DeviceLost as error:
        assert "sim:0" in str(error)
assert (da.asarray(np.ones(10, np.float32), device="sim:1")).numpy().tolist() == [1] * 10
print("end")
"""
    ran = host(body, LOSE_DEVICE=1)
    assert (ran.returncode, ran.stdout) == (0, "end\n"), ran.stderr


@pytest.mark.parametrize("mode", ["lazy", "eager"])
@pytest.mark.parametrize("way", ["pass", "raise SystemExit(3)", "import os; os._exit(4)", "1 / 0"])
def test_a_program_may_end_in_any_way_with_work_queued(host: Callable[..., Ran], mode: str, way: str) -> None:
    body = """
x = da.asarray(np.ones(1000, np.float32), device="sim:0")
for _ in range(100):
    x = x * 1.5
print("end", flush=True)
"""
    ran = host(body + way, MODE=mode, MAX_DELAY_US=5000)
    expected = {"pass": 0, "raise SystemExit(3)": 3, "import os; os._exit(4)": 4, "1 / 0": 1}[way]
    assert (ran.returncode, ran.stdout) == (expected, "end\n"), ran.stderr


def test_a_fork_after_use_is_an_error_in_the_child_and_the_parent_goes_on(host: Callable[..., Ran]) -> None:
    body = """
import os
x = da.asarray(np.ones(10, np.float32), device="sim:0")
pid = os.fork()
if pid == 0:
    try:
        (x + 1).numpy()
    except da.ForkedProcess:
        os._exit(7)
    os._exit(1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
assert (x + 1).numpy().tolist() == [2] * 10
"""
    ran = host(body)
    assert (ran.returncode, ran.stdout) == (0, "7\n"), ran.stderr


def test_memory_does_not_grow_over_many_iterations(host: Callable[..., Ran]) -> None:
    body = """
x = da.asarray(np.ones(1000, np.float32), device="sim:0")
for i in range(3000):
    y = da.softmax(x * 2 + 1)
    if i == 500:
        da.synchronize("sim:0")
        before = da.memory_stats("sim:0")
da.synchronize("sim:0")
after = da.memory_stats("sim:0")
for name in ("allocated", "reserved", "plugin_allocations"):
    assert after[name] == before[name], (name, before, after)
print("flat")
"""
    ran = host(body)
    assert (ran.returncode, ran.stdout) == (0, "flat\n"), ran.stderr
