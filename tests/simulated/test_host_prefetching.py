"""Batches that are fetched ahead, on the simulated accelerator in both modes and on the CPU."""

from __future__ import annotations

import pytest
from simulated_driver import Host

MODES = pytest.mark.parametrize("mode", ["lazy", "eager"])


def good(host: Host, body: str, **settings: object) -> None:
    ran = host(body + "\nprint('end')", **settings)
    assert (ran.returncode, ran.stdout) == (0, "end\n"), ran.stdout + ran.stderr


@MODES
@pytest.mark.parametrize("device", ["sim", "cpu"])
def test_batches_come_in_order_with_the_values_they_had_when_they_were_made(
    host: Host, mode: str, device: str
) -> None:
    good(host, f"device = {device!r}" + """
memory, made = np.empty((300, 7), np.float32), []
def batches():
    for i in range(12):
        memory[:] = i                     # the same memory each time
        made.append(i)
        yield {"x": memory, "rest": (memory[0, ::2], [np.int64(i), np.array(i % 2 == 0)])}
weight = da.ones((7,), device=device)
for i, batch in enumerate(da.prefetch(batches(), device, depth=3)):
    assert len(made) == min(i + 4, 12)    # three ahead
    x, (part, (number, even)) = batch["x"], batch["rest"]
    assert (x.device, x.shape, x.dtype) == (weight.device, (300, 7), weight.dtype)
    y = x @ weight
    x += 1000                             # memory of the batch, while the next one is on its way
    assert (y.numpy() == 7 * i).all() and part.numpy().tolist() == [i] * 4
    assert int(number) == i and bool(even) == (i % 2 == 0)
assert i == 11
""", MODE=mode, MAX_DELAY_US=2000)  # fmt: skip


def test_what_the_source_raises_comes_behind_the_batches_before_it(host: Host) -> None:
    good(host, """
def batches():
    yield from np.eye(3, dtype=np.float32)
    raise KeyError("no more")
seen = []
try:
    for batch in da.prefetch(batches(), "sim"):
        seen.append(batch.numpy().tolist())
except KeyError:
    pass
else:
    raise AssertionError
assert seen == np.eye(3).tolist()
assert list(da.prefetch([], "sim")) == []
for arguments in ({"depth": 0}, {"device": "nowhere"}):
    try:
        da.prefetch([], **{"device": "sim", **arguments})
    except (da.AttributeValueError, da.PluginNotFound):
        continue
    raise AssertionError
""")  # fmt: skip
