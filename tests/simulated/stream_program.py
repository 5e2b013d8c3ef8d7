"""A random program over several streams: in-place writes, copies between devices and to pinned memory,
events, graphs, and tensors that die while they are used. NumPy does the same serially. Run with `np`, `da`
and SEED given; host settings come from the environment."""

rng = np.random.default_rng(SEED)  # noqa: F821
streams = [da.Stream("sim", priority=int(p)) for p in (0, 0, -1, 2)]  # noqa: F821
live: list[tuple[object, object]] = []


def new() -> tuple[object, object]:
    values = rng.integers(-9, 9, int(rng.integers(1, 30_000))).astype(np.float32)  # noqa: F821
    twin = values.copy()
    tensor = da.asarray(values, device="sim")  # noqa: F821
    values[:] = 77
    return tensor, twin


def check(pair) -> None:
    np.testing.assert_array_equal(pair[0].numpy(), pair[1])  # noqa: F821


graphs: list[tuple[object, object]] = []


def scaled(pair):
    tensor, twin = pair
    live.append((tensor * 0.5 + 1, twin * np.float32(0.5) + np.float32(1)))  # noqa: F821


def raised(pair):
    tensor, twin = pair
    tensor += 1
    twin += 1


def half_written(pair):
    tensor, twin = pair
    tensor[: len(twin) // 2] = -3
    twin[: len(twin) // 2] = -3


def mirrored(pair):
    tensor, twin = pair
    live.append((da.flip(tensor, axis=0) + tensor, twin[::-1] + twin))  # noqa: F821


def visited(pair):
    """There and back: to another device, or to memory that the device has pinned."""
    tensor, twin = pair
    if rng.integers(2):
        moved = da.asarray(tensor, device="sim:1") * 2  # noqa: F821
    else:
        moved = da.pinned_empty((len(twin),), device="sim")  # noqa: F821
        da.copy_into(moved, tensor, non_blocking=True)  # noqa: F821
        moved *= 2
    live.append((da.asarray(moved, device="sim"), twin * 2))  # noqa: F821


def marked(pair):
    event = da.Event()  # noqa: F821
    event.record(streams[rng.integers(len(streams))])
    da.current_stream("sim").wait_event(event)  # noqa: F821
    pair[0].record_stream(streams[rng.integers(len(streams))])
    if rng.integers(4) == 0:
        event.synchronize()


def captured(pair):
    tensor, twin = pair
    with da.Graph.capture("sim") as graph:  # noqa: F821
        between = tensor * 2 - 1
        tensor *= 0.5
        result = between + tensor
        del between
    result_twin = np.empty_like(twin)  # noqa: F821

    def replay():
        between = twin * 2 - 1
        np.multiply(twin, np.float32(0.5), out=twin)  # noqa: F821
        result_twin[:] = between + twin

    graph.replay()
    replay()
    live.append((result, result_twin))
    graphs.append((graph, replay))
    del graphs[:-2]


def replayed(pair):
    for graph, replay in graphs:
        graph.replay()
        replay()


actions = [scaled, raised, half_written, mirrored, visited, marked, captured, replayed, replayed, check]
for _ in range(250):
    with streams[rng.integers(len(streams))]:
        if not live or rng.integers(6) == 0:
            live.append(new())
        else:
            actions[rng.integers(len(actions))](live[rng.integers(len(live))])
        if live and (rng.integers(8) == 0 or len(live) > 10):
            del live[rng.integers(len(live))]
for pair in live:
    check(pair)
