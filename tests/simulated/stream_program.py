"""A random program over several streams, with in-place writes and dying tensors; NumPy does the same
serially. Run with `np`, `da` and SEED given; host settings come from the environment."""

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


for _ in range(250):
    with streams[rng.integers(len(streams))]:
        action = rng.integers(8) if live else 0
        place = int(rng.integers(len(live))) if live else 0
        if action <= 1:
            live.append(new())
        elif action == 2:
            tensor, twin = live[place]
            live.append((tensor * 0.5 + 1, twin * np.float32(0.5) + np.float32(1)))  # noqa: F821
        elif action == 3:
            tensor, twin = live[place]
            tensor += 1
            twin += 1
        elif action == 4:
            tensor, twin = live[place]
            tensor[: len(twin) // 2] = -3
            twin[: len(twin) // 2] = -3
        elif action == 5:
            tensor, twin = live[place]
            live.append((da.flip(tensor, axis=0) + tensor, twin[::-1] + twin))  # noqa: F821
        elif action == 6:
            check(live[place])
        if action == 7 or len(live) > 10:
            del live[place]
for pair in live:
    check(pair)
