"""Graphs of the host on the simulated accelerator: recorded once, replayed on new inputs, safe to misuse."""

from __future__ import annotations

import pytest
from simulated_driver import Host

CONFIGURATIONS = pytest.mark.parametrize(
    "settings",
    [{"MODE": "lazy"}, {"MODE": "eager", "MAX_DELAY_US": 2000}, {"MODE": "lazy", "ALLOCATOR": "direct"}],
    ids=lambda settings: " ".join(map(str, settings.values())),
)


def good(host: Host, body: str, **settings: object) -> None:
    ran = host(body + "\nprint('end')", **settings)
    assert (ran.returncode, ran.stdout) == (0, "end\n"), ran.stdout + ran.stderr


@CONFIGURATIONS
def test_a_replay_works_on_what_the_inputs_hold_by_then(host: Host, settings: dict[str, object]) -> None:
    good(host, """
x = da.zeros((50, 40), device="sim")
total = da.zeros((50, 40), device="sim")
with da.Graph.capture("sim") as graph:
    y = da.softmax(x * 2 + 1, axis=1)
    z = da.sum(y @ y.T, axis=0)
    total += y
    del y
expected = np.zeros((50, 40))
for i in range(5):
    values = np.random.default_rng(i).standard_normal((50, 40)).astype(np.float32)
    da.copy_into(x, da.asarray(values, device="sim"))
    graph.replay()
    y = np.exp(values * 2.0 + 1)
    y /= y.sum(1, keepdims=True)
    expected += y
    np.testing.assert_allclose(z.numpy(), (y @ y.T).sum(0), rtol=1e-4)
np.testing.assert_allclose(total.numpy(), expected, rtol=1e-4)
""", **settings)  # fmt: skip


@CONFIGURATIONS
def test_memory_of_a_graph_lives_as_long_as_the_graph_and_no_longer(
    host: Host, settings: dict[str, object]
) -> None:
    good(host, """
import gc
x, weight = da.ones((2000,), device="sim"), da.full((2000,), 3.0, device="sim")
with da.Graph.capture("sim") as graph:
    y = da.exp(x * 0.0) * weight
    z = y + 1
    del y
del weight
gc.collect()
for i in range(20):  # whoever could take memory of the graph would spoil it
    noise = [da.full((2000,), float(i), device="sim") for _ in range(20)]
    da.empty_cache("sim")
    graph.replay()
    side = da.Stream("sim")
    with side:
        kept = z * 2
    del noise
    graph.replay()  # behind the reading on the other stream
    assert (kept.numpy() == 8).all() and (z.numpy() == 4).all()
del graph
gc.collect()
assert (z.numpy() == 4).all()
del x, z, kept, side
da.clear_plans()
da.synchronize("sim")
da.empty_cache("sim")
assert da.memory_reserved("sim") == 0, da.memory_snapshot("sim")
""", **settings)  # fmt: skip


def test_a_training_step_is_replayed_with_the_results_of_the_step(host: Host) -> None:
    good(host, """
rng = np.random.default_rng(0)
values = [rng.standard_normal(shape).astype(np.float32) for shape in ((32, 20), (20, 16), (16, 3))]
def make(device):
    x, w, v = (da.asarray(each, device=device) for each in values)
    w.requires_grad = v.requires_grad = True
    def step():
        loss = da.mean(da.square(da.tanh(x @ w) @ v))
        loss.backward()
        with da.no_grad():
            w.__isub__(0.1 * w.grad)
            v.__isub__(0.1 * v.grad)
        w.grad = v.grad = None
        return loss
    return step, w, v
step, w, v = make("cpu")
for _ in range(6):
    loss = step()
traced, p, q = make("sim")
with da.Graph.capture("sim") as graph:
    recorded = traced()
for _ in range(6):
    graph.replay()
for found, expected in ((p, w), (q, v), (recorded, loss)):
    np.testing.assert_array_equal(found.numpy(), expected.numpy())
""")  # fmt: skip


def test_what_cannot_be_replayed_is_an_error_and_spoils_nothing(host: Host) -> None:
    good(host, """
x = da.ones((10,), device="sim")
event, side, stream = da.Event(), da.Stream("sim"), None
ready = x + 1
with da.Graph.capture("sim") as graph:
    y = x * 2
    stream = da.current_stream("sim")
    state = da.get_random_state("sim")
    refused = {
        "reading": lambda: y.numpy(),
        "reading what was there before": lambda: ready.numpy(),
        "item": lambda: float(da.sum(y)),
        "an upload": lambda: da.asarray(np.ones(3, np.float32), device="sim"),
        "a download": lambda: y.to_device("cpu"),
        "another device": lambda: y.to_device("sim:1").numpy(),
        "waiting for the device": lambda: da.synchronize("sim"),
        "waiting for the stream": stream.synchronize,
        "a limited wait": lambda: stream.synchronize(timeout=1),
        "asking the stream": stream.query,
        "a callback": lambda: stream.add_callback(print),
        "recording": event.record if da.set_device("sim") else None,
        "an event": lambda: ready is None or stream.wait_event(event) or side.record_event(event).wait(),
        "joining": lambda: side.wait_stream(stream),
        "being joined": lambda: stream.wait_stream(side),
        "another stream": side.__enter__,
        "random numbers": lambda: da.uniform((3,), device="sim"),
        "a fallback": lambda: da.linalg.svd(da.ones((3, 3), device="sim")),
        "a capture": da.Graph.capture("sim").__enter__,
        "a replay": graph.replay,
    }
    for what, action in refused.items():
        try:
            action()
        except (da.CaptureError, da.FallbackForbidden):
            continue
        raise AssertionError(f"{what} was not refused")
    assert da.get_random_state("sim") == state
    assert da.current_stream("sim") == stream
    z = y + ready
for what, action in {
    "reading before the first replay": z.numpy, "using it before": lambda: z + 1,
    "entering twice": graph.__enter__,
    "the graph's stream": stream.__enter__, "an event on it": lambda: event.record(stream),
}.items():
    try:
        action()
    except da.CaptureError:
        continue
    raise AssertionError(f"{what} was not refused")
graph.replay()
assert (z.numpy() == 4).all()
assert (ready.numpy() == 2).all()
""")  # fmt: skip


@pytest.mark.parametrize("mode", ["lazy", "eager"])
def test_a_capture_that_fails_leaves_everything_as_it_was(host: Host, mode: str) -> None:
    good(host, """
x = da.ones((10,), device="sim") + 1
default = da.current_stream("sim")
for _ in range(3):
    try:
        with da.Graph.capture("sim") as graph:
            y = x * 3
            x += 5
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    assert da.current_stream("sim") == default
    for action in (graph.replay, y.numpy, lambda: y + 1):
        try:
            action()
        except da.CaptureError:
            continue
        raise AssertionError
    assert (x.numpy() == 2).all()
with da.Graph.capture("sim") as graph:
    x += 1
for _ in range(3):
    graph.replay()
assert (x.numpy() == 5).all()
streams = {repr(da.Stream("sim")) for _ in range(20)}
assert len(streams) <= 3, streams
""", MODE=mode)  # fmt: skip


@pytest.mark.parametrize("mode", ["lazy", "eager"])
def test_a_failure_in_a_replay_is_raised_at_the_wait_and_numbers_do_not_come_of_it(
    host: Host, mode: str
) -> None:
    good(host, """
table, index = da.arange(5, dtype="float32", device="sim"), da.zeros((3,), dtype="int64", device="sim")
with da.Graph.capture("sim") as graph:
    y = da.take(table, index, axis=0) + 1
graph.replay()
assert y.numpy().tolist() == [1, 1, 1]
da.copy_into(index, da.asarray(np.array([0, 1, 99]), device="sim"))
graph.replay()
for _ in range(2):
    try:
        y.numpy()
    except da.IndexOutOfRange as error:
        assert "take" in str(error) or "gather" in str(error), error
    else:
        raise AssertionError
da.copy_into(index, da.asarray(np.array([0, 1, 4]), device="sim"))
graph.replay()
assert y.numpy().tolist() == [1, 2, 5]
""", MODE=mode)  # fmt: skip


def test_a_device_without_captures_says_so(host: Host) -> None:
    good(host, """
for device in ("cpu", "sim"):
    try:
        with da.Graph.capture(device):
            raise AssertionError
    except da.UnsupportedOp as error:
        assert device in str(error)
""", STREAMS=0)  # fmt: skip


@pytest.mark.parametrize("way", ["pass", "raise SystemExit(0)", "graph.replay()"])
def test_a_program_may_end_with_a_graph_and_leaves_nothing_in_the_plugin(host: Host, way: str) -> None:
    ran = host("""
from device_api import layers
layers.use("sim", "validate")
x = da.ones((1000,), device="sim")
with da.Graph.capture("sim") as graph:
    y = da.softmax(x)
graph.replay()
print("end")
""" + way)  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "end\n"), ran.stderr
    assert "0 findings" in ran.stderr, ran.stderr
    assert "never freed" not in ran.stderr, ran.stderr
