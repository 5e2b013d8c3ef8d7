"""The ends of processes: exit with live objects in every way, forks, and use after them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Run = Callable[[str], "subprocess.CompletedProcess[str]"]

WAYS_OUT = {
    "return": ("", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "an exception": ("raise ValueError('over')", 1),
    "a cycle at module level": (
        "import types; m = types.ModuleType('m'); m.a = a; m.m = m; sys.modules['m'] = m",
        0,
    ),
    "a daemon thread at work": (
        "import threading\n"
        "def work():\n"
        "    while True: a + a\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "import time; time.sleep(0.05)",
        0,
    ),
    "from atexit": ("import atexit; atexit.register(lambda: print((a + a).shape))", 0),
    "after retirement": ("device.retire()", 0),
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_the_process_ends_well_with_live_tensors_and_programs(run_python: Run, way: str) -> None:
    script, status = WAYS_OUT[way]
    done = run_python(
        "a = put(device, np.ones((4, 4), np.float32)); b = a + a; c = _core.view(b, F32, (4,), (5,), 0)\n"
        "p = single(device, 'prepared')\n" + script
    )
    assert done.returncode == status, done.stderr
    assert "Fatal" not in done.stderr
    assert "Segmentation" not in done.stderr


def test_a_forked_child_is_told_and_ends_well(run_python: Run) -> None:
    done = run_python("""
import warnings
warnings.simplefilter("error")
from device_api import errors
a = put(device, np.ones(8, np.float32))
b = a + a
child = os.fork()
if child == 0:
    uses = [lambda: a + a, lambda: get(a), lambda: put(device, np.ones(2, np.float32)), device.synchronize,
            device.memory_stats, device.empty_cache, lambda: _core.copy_bytes(a, b),
            lambda: Program(device, [], [], [])]
    told = 0
    for use in uses:
        try:
            use()
        except errors.ForkedProcess as error:
            assert "'spawn'" in str(error) and error.owner_pid == os.getppid(), str(error)
            told += 1
    large = None
    del a, b
    sys.exit(0 if told == len(uses) else 9)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
assert get(a + a).tolist() == [2] * 8
print("parent works")
""")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "parent works"
    assert done.stderr == ""


def test_a_child_may_open_a_device_of_its_own(run_python: Run) -> None:
    done = run_python("""
child = os.fork()
if child == 0:
    mine = toy.open()
    a = put(mine, np.ones(8, np.float32))
    os._exit(0 if get(a + a).tolist() == [2] * 8 else 9)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
""")
    assert done.returncode == 0, done.stderr


def test_a_fork_while_another_thread_allocates_does_not_hang(run_python: Run) -> None:
    done = run_python("""
import threading
stop = False
def work():
    while not stop:
        _core.empty(device, F32, (100_000,))
thread = threading.Thread(target=work)
thread.start()
big = [_core.empty(device, F32, (100_000,)) for _ in range(20)]
for _ in range(20):
    child = os.fork()
    if child == 0:
        big.clear()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
stop = True
thread.join()
""")
    assert done.returncode == 0, done.stderr
