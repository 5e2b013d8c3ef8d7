"""Random generators: states, forks, threads, and the same numbers from every backend; bad input is an
error."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import device_api as da

sys.path.insert(0, str(Path(__file__).parent.parent / "ops"))
from masked_devices import Mask, masked

DRAWS: dict[str, Callable[[], da.Tensor]] = {
    "uniform": lambda: da.uniform((7,)),
    "uniform float64": lambda: da.uniform((7,), dtype="float64"),
    "uniform bfloat16": lambda: da.uniform((7,), dtype="bfloat16"),
    "scaled": lambda: da.uniform((7,), low=-2.0, high=3.0),
    "randint": lambda: da.randint(-5, 1000, (7,)),
    "randint int8": lambda: da.randint(-128, 128, (7,), dtype="int8"),
    "permutation": lambda: da.permutation(9),
    "bernoulli": lambda: da.bernoulli((9,), p=0.3),
    "dropout": lambda: da.dropout(da.ones(9), rate=0.4)[1],
}


def test_a_generator_gives_the_numbers_of_its_seed_and_leaves_the_device_alone() -> None:
    da.manual_seed(7)
    expected = [da.uniform(5).tolist(), da.normal(3).tolist()]
    before = da.get_random_state()
    generator = da.Generator(7)
    with generator:
        assert [da.uniform(5).tolist(), da.normal(3).tolist()] == expected
    assert da.get_random_state() == before
    assert generator.get_state() == before
    assert da.uniform(5).tolist() != expected[0]


def test_a_state_can_be_restored_and_given_to_another_generator() -> None:
    one, other = da.Generator(3), da.Generator()
    with one:
        da.uniform(10)
    state = one.get_state()
    other.set_state(state)
    with one:
        first = da.uniform(10).tolist()
    with other:
        assert da.uniform(10).tolist() == first
    one.manual_seed(3)
    assert one.get_state() == (3, 0)
    assert repr(one) == "Generator(seed=3, offset=0, device='cpu:0')"


def test_blocks_nest_and_each_device_keeps_its_innermost_one() -> None:
    device = masked(Mask())
    ours, inner, theirs = da.Generator(1), da.Generator(2), da.Generator(1, device=device)
    with ours:
        outside = da.uniform(4).tolist()
        with theirs, inner:
            assert da.uniform(4, device=device).tolist() == outside
            assert da.uniform(4).tolist() != outside
    assert (ours.get_state(), inner.get_state(), theirs.get_state()) == ((1, 1), (2, 1), (1, 1))


def test_forks_are_repeatable_and_independent() -> None:
    parent, twin = da.Generator(5), da.Generator(5)
    forks = [parent.fork(), parent.fork()]
    again = [twin.fork(), twin.fork()]
    assert [each.get_state() for each in forks] == [each.get_state() for each in again]
    assert parent.get_state() == (5, 2)
    drawn = []
    for each in (parent, *forks):
        with each:
            drawn.append(tuple(da.uniform(8).tolist()))
    assert len(set(drawn)) == 3


def test_other_threads_draw_from_the_device() -> None:
    da.manual_seed(11)
    expected = da.uniform(4).tolist()
    da.manual_seed(11)
    seen: list[list[float]] = []
    with da.Generator(1):
        thread = threading.Thread(target=lambda: seen.append(da.uniform(4).tolist()))
        thread.start()
        thread.join()
    assert seen == [expected]


def test_threads_that_share_a_generator_never_get_the_same_numbers() -> None:
    generator, seen = da.Generator(9), []

    def draw() -> None:
        with generator:
            for _ in range(100):
                seen.append(tuple(da.uniform(4, dtype="float64").tolist()))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    with da.Generator(9):
        alone = {tuple(da.uniform(4, dtype="float64").tolist()) for _ in range(400)}
    assert set(seen) == alone
    assert generator.get_state() == (9, 800)


@pytest.mark.parametrize("random", [True, False])
@pytest.mark.parametrize("name", DRAWS)
def test_every_backend_draws_the_same_numbers(name: str, random: bool) -> None:
    bare = masked(Mask(hidden=("uniform", "random_bits", "philox_bits"), random=random))
    da.manual_seed(123, "cpu")
    expected = DRAWS[name]().tolist()
    da.manual_seed(123, bare)
    with da.default_device(bare):
        assert DRAWS[name]().tolist() == expected


def test_the_number_of_threads_of_the_cpu_changes_nothing() -> None:
    program = "import device_api as da; da.manual_seed(1); print(hash(da.uniform(1 << 18).numpy().tobytes()))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "DEVICE_API_CPU_THREADS": threads, "PYTHONHASHSEED": "0"},
            capture_output=True, text=True, check=True, timeout=60,
        ).stdout
        for threads in ("1", "2", "5")
    }  # fmt: skip
    assert len(seen) == 1


NAN, INF = math.nan, math.inf
BAD: dict[str, Callable[[], object]] = {
    "low above high": lambda: da.uniform(2, low=2.0, high=1.0),
    "low not a number": lambda: da.uniform(2, low=NAN),
    "high infinite": lambda: da.uniform(2, high=INF),
    "high beyond the dtype": lambda: da.uniform(2, high=6e38),
    "negative deviation": lambda: da.normal(2, std=-1.0),
    "mean not a number": lambda: da.normal(2, mean=NAN),
    "rate of 0": lambda: da.exponential(2, rate=0.0),
    "rate not a number": lambda: da.exponential(2, rate=NAN),
    "empty range": lambda: da.randint(3, 3, 2),
    "high beyond int8": lambda: da.randint(0, 129, 2, dtype="int8"),
    "low beyond uint8": lambda: da.randint(-1, 5, 2, dtype="uint8"),
    "probability above 1": lambda: da.bernoulli(2, p=1.5),
    "probability not a number": lambda: da.bernoulli(2, p=NAN),
    "dropout not a number": lambda: da.dropout(da.ones(2), rate=NAN),
    "negative count": lambda: da.permutation(-1),
    "weight not a number": lambda: da.multinomial(da.asarray([0.5, NAN]), 2),
    "weight negative": lambda: da.multinomial(da.asarray([0.5, -1.0]), 2),
    "weight infinite": lambda: da.multinomial(da.asarray([0.5, INF]), 2),
    "no weight": lambda: da.multinomial(da.asarray([[0.5, 1.0], [0.0, 0.0]]), 2),
    "too few weights": lambda: da.multinomial(da.asarray([0.5, 0.0]), 2, replacement=False),
    "too many draws": lambda: da.multinomial(da.asarray([0.5, 0.5]), 3, replacement=False),
    "seed of a generator": lambda: da.Generator(-1),
    "seed with a fraction": lambda: da.manual_seed(1.5),  # type: ignore[arg-type]
    "state of a generator": lambda: da.Generator().set_state((0, 2**64)),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_drawn_is_an_error_that_names_the_argument(what: str) -> None:
    with pytest.raises(da.AttributeValueError) as caught:
        BAD[what]()
    assert caught.value.argument


@pytest.mark.parametrize("draw", [da.uniform, da.normal, da.bernoulli, da.exponential])
def test_negative_sizes_are_errors(draw: Callable[[object], da.Tensor]) -> None:
    for shape in (-1, (2, -3)):
        with pytest.raises(da.ShapeError, match="negative"):
            draw(shape)
