"""The same bits for any number of threads, for large and small launches, and from several host threads."""

from __future__ import annotations

import hashlib
import json
import threading

import numpy as np
from cpu_driver import Plugin, child, ffi, integer_attribute

DIGESTS = """
import json, test_threads, cpu_driver
print(json.dumps(test_threads.digests(cpu_driver.Plugin())))
"""


def digests(plugin: Plugin) -> dict[str, str]:
    """What large launches of every family give."""
    rng = np.random.default_rng(11)
    x = rng.standard_normal(700_001).astype(np.float32)
    wide = x[:300_000].astype(np.float64)
    matrix = x[:600_000].reshape(1000, 600)
    integers = rng.integers(-(1 << 62), 1 << 62, 400_000)
    made: dict[str, str] = {}

    def keep(name: str, array: np.ndarray) -> None:
        made[name] = hashlib.sha256(array.tobytes()).hexdigest()

    for op in ("exp", "tanh", "sin", "log1p", "erf"):
        keep(op, plugin.run(op, x))
        keep(f"{op} of float16", plugin.run(op, x.astype(np.float16)))
    keep("add", plugin.run("add", x, x[::-1]))
    keep("broadcast", plugin.run("multiply", np.broadcast_to(matrix[0], matrix.shape), matrix))
    keep("transpose", plugin.run("copy", matrix.T, dtype=np.float16))
    for name, row in {"float32": x, "float64": wide, "int64": integers}.items():
        keep(f"sum of {name}", plugin.run("reduce_sum", row, shape=()))
        keep(f"argmax of {name}", plugin.run("reduce_argmax", row, dtype=np.int64, shape=()))
        keep(f"max of {name}", plugin.run("reduce_max", row, shape=()))
    keep("rows", plugin.run("reduce_sum", matrix, shape=(1000,)))
    keep("columns", plugin.run("reduce_sum", matrix.T, shape=(600,)))
    keep("scan", plugin.run("scan_sum", matrix))
    keep("argsort", plugin.run("argsort_last", matrix, dtype=np.int64, attributes=integer_attribute(0)))
    keep("matmul", plugin.run("batch_matmul", matrix, matrix.T, shape=(1000, 1000)))
    keep(
        "float64 matmul",
        plugin.run("batch_matmul", wide.reshape(500, 600), wide.reshape(600, 500), shape=(500, 500)),
    )
    keep(
        "int matmul",
        plugin.run("batch_matmul", integers.reshape(1000, 400), integers.reshape(400, 1000)[:, :300]),
    )
    keep(
        "batches",
        plugin.run("batch_matmul", x[:640_000].reshape(40_000, 4, 4), x[:640_000].reshape(40_000, 4, 4)),
    )
    words = np.zeros(300_000, np.uint32)
    memory = ffi.cast("void *", words.__array_interface__["data"][0])
    plugin.check(plugin.random.bits(plugin.device, ffi.NULL, 3, 4, memory, 0, words.size))
    keep("random", words)
    return made


def test_one_two_and_three_threads_give_the_same_bits() -> None:
    first, second, third = (json.loads(child(DIGESTS, DEVICE_API_CPU_THREADS=str(n))) for n in (1, 2, 3))
    assert first == second == third
    assert len(set(first.values())) > 25


def test_a_large_elementwise_launch_is_its_parts(plugin: Plugin) -> None:
    x = np.random.default_rng(12).standard_normal(300_000).astype(np.float32)
    for op in ("exp", "tanh", "sin", "log1p", "erf", "expm1", "cosh"):
        whole = plugin.run(op, x)
        for start, stop in ((0, 1), (5, 22), (1000, 1777), (299_000, 300_000)):
            part = plugin.run(op, x[start:stop].copy())
            assert whole[start:stop].tobytes() == part.tobytes(), op


def test_a_row_sums_to_the_same_bits_alone_and_among_many(plugin: Plugin) -> None:
    x = np.random.default_rng(13).standard_normal((2000, 300)).astype(np.float32)
    whole = plugin.run("reduce_sum", x, shape=(2000,))
    for row in (0, 3, 1999):
        assert plugin.run("reduce_sum", x[row], shape=()) == whole[row]


def test_host_threads_may_launch_at_once(plugin: Plugin) -> None:
    x = np.random.default_rng(14).standard_normal(400_000).astype(np.float32)
    expected = plugin.run("exp", x).tobytes()
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(10):
            if plugin.run("exp", x).tobytes() != expected:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_launches_are_whole_while_threads_fall_asleep_and_wake_up() -> None:
    code = """
import time
import numpy as np
import cpu_driver
plugin = cpu_driver.Plugin()
x = np.random.default_rng(15).standard_normal(300_000).astype(np.float32)
expected = plugin.run("add", x, x).tobytes()
for number in range(60):
    time.sleep((number % 6) * 5e-5)  # the threads give up waiting after some time of this order
    assert plugin.run("add", x, x).tobytes() == expected, number
"""
    child(code, DEVICE_API_CPU_THREADS="4")


def test_threads_without_work_take_no_processor_time() -> None:
    code = """
import time
import numpy as np
import cpu_driver
plugin = cpu_driver.Plugin()
plugin.run("add", np.ones(300_000, np.float32), np.ones(300_000, np.float32))
began = time.process_time()
time.sleep(0.3)
print(time.process_time() - began)
"""
    assert float(child(code, DEVICE_API_CPU_THREADS="4")) < 0.1
