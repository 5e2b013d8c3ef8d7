"""The namespace beyond the ops: inspection, sets, searching, rearranging, linear algebra and transforms, held
against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import device_api as da
from device_api import fft, linalg

FLOATS = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5),
    elements=st.sampled_from([0.0, -0.0, 1.0, -2.5, 3.0, math.inf, -math.inf]),
)
FEW = settings(max_examples=30, deadline=None)
RNG = np.random.default_rng(5)


@FEW
@given(FLOATS)
def test_unique_elements_are_numpys(array: np.ndarray) -> None:
    made = da.unique_all(da.asarray(array))
    expected = np.unique_all(array)
    for ours, theirs in zip(made, expected, strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs)


def test_every_nan_is_an_element_of_its_own() -> None:
    made = da.unique_counts(da.asarray([math.nan, 1.0, math.nan]))
    assert made.counts.tolist() == [1, 1, 1]


@FEW
@given(FLOATS, FLOATS, st.sampled_from(["left", "right"]))
def test_a_sorted_vector_is_searched_as_numpy_does(x: np.ndarray, y: np.ndarray, side: str) -> None:
    line = np.sort(x.reshape(-1))
    made = da.searchsorted(da.asarray(line), da.asarray(y), side=side)
    np.testing.assert_array_equal(made.numpy(), np.searchsorted(line, y, side=side))


@FEW
@given(FLOATS, hnp.arrays(np.float64, st.integers(0, 40), elements=st.integers(-3, 3).map(float)))
def test_membership_is_numpys(x: np.ndarray, among: np.ndarray) -> None:
    made = da.isin(da.asarray(x), da.asarray(among))
    np.testing.assert_array_equal(made.numpy(), np.isin(x, among))


def test_digits_of_python_numbers_survive_a_wide_dtype() -> None:
    assert da.asarray(0.1, dtype=da.float64).item() == 0.1
    assert da.asarray([16777217j], dtype=da.complex128).tolist() == [16777217j]


def test_rearranging_is_numpys() -> None:
    x = RNG.normal(size=(2, 3, 4))
    t = da.asarray(x)
    np.testing.assert_array_equal(da.moveaxis(t, 0, -1).numpy(), np.moveaxis(x, 0, -1))
    np.testing.assert_array_equal(
        da.repeat(t, da.asarray([1, 0, 2]), axis=1).numpy(), np.repeat(x, [1, 0, 2], 1)
    )
    np.testing.assert_array_equal(da.diff(t, 2).numpy(), np.diff(x, 2))
    np.testing.assert_allclose(
        da.tensordot(t, t, axes=((0, 2), (0, 2))).numpy(), np.tensordot(x, x, axes=((0, 2), (0, 2)))
    )
    assert [part.shape for part in da.unstack(t, axis=1)] == [(2, 4)] * 3


def test_the_inspection_namespace_tells_defaults() -> None:
    info = da.__array_namespace_info__()
    assert info.default_device() == "cpu"
    assert info.default_dtypes()["real floating"] == da.float32
    assert set(info.dtypes(kind="complex floating")) == {"complex64", "complex128"}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128], ids=str)
def test_factorisations_rebuild_their_matrices(dtype: type[np.generic]) -> None:
    a = RNG.normal(size=(2, 4, 3)).astype(dtype)
    tolerance = 1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-10
    u, s, vh = (each.numpy() for each in linalg.svd(da.asarray(a), full_matrices=False))
    np.testing.assert_allclose((u * s[:, None]) @ vh, a, atol=tolerance)
    q, r = (each.numpy() for each in linalg.qr(da.asarray(a)))
    np.testing.assert_allclose(q @ r, a, atol=tolerance)
    square = a.conj().swapaxes(-1, -2) @ a + np.eye(3, dtype=dtype)
    lower = linalg.cholesky(da.asarray(square)).numpy()
    np.testing.assert_allclose(lower @ lower.conj().swapaxes(-1, -2), square, atol=tolerance * 10)


@pytest.mark.filterwarnings("error")
def test_a_singular_matrix_is_an_error_that_names_the_op() -> None:
    with pytest.raises(da.KernelFailed, match="inv failed"):
        linalg.inv(da.zeros((2, 2)))


def test_matrices_of_the_wrong_shape_are_typed_errors() -> None:
    with pytest.raises(da.ShapeError, match="square"):
        linalg.det(da.zeros((2, 3)))
    with pytest.raises(da.ShapeError, match="rows"):
        linalg.solve(da.zeros((2, 2)), da.zeros((3, 1)))


SQUARE = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
DIFFERENTIABLE = {
    "inv": linalg.inv,
    "det": linalg.det,
    "slogdet": lambda x: linalg.slogdet(x).logabsdet,
    "cholesky": lambda x: linalg.cholesky(da.matmul(x, x.mT) + da.eye(3, dtype=da.float64)),
    "eigvalsh": lambda x: linalg.eigvalsh(x + x.mT),
    "eigh": lambda x: da.square(linalg.eigh(x + x.mT).eigenvectors),
    "svdvals": linalg.svdvals,
    "svd": lambda x: da.square(linalg.svd(x, full_matrices=False).U),
    "qr": lambda x: linalg.qr(x).R,
    "pinv": linalg.pinv,
    "trace": linalg.trace,
    "fft": lambda x: da.abs(fft.fftn(x)),
    "rfft": lambda x: da.square(da.real(fft.rfft(x, n=4))),
    "irfft": lambda x: fft.irfft(x, n=5),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_of_linear_algebra_are_right(name: str) -> None:
    x = da.asarray(SQUARE)
    x.requires_grad = True
    da.gradcheck(DIFFERENTIABLE[name], (x,))


def test_solve_has_gradients_for_both_sides() -> None:
    a, b = da.asarray(SQUARE), da.asarray(RNG.normal(size=3))
    a.requires_grad = b.requires_grad = True
    da.gradcheck(linalg.solve, (a, b))


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("n", [None, 4, 9])
def test_transforms_are_numpys(name: str, n: int | None, norm: str) -> None:
    x = RNG.normal(size=(3, 6)) + (0 if name in ("rfft", "ihfft") else 1j)
    made = getattr(fft, name)(da.asarray(x), n=n, axis=1, norm=norm)
    np.testing.assert_allclose(made.numpy(), getattr(np.fft, name)(x, n, 1, norm), atol=1e-12)


def test_transforms_of_several_axes_are_numpys() -> None:
    x = RNG.normal(size=(3, 4, 5))
    np.testing.assert_allclose(
        fft.rfftn(da.asarray(x), s=(4, 6), axes=(0, 2)).numpy(), np.fft.rfftn(x, s=(4, 6), axes=(0, 2))
    )
    np.testing.assert_allclose(fft.irfftn(da.asarray(x + 1j)).numpy(), np.fft.irfftn(x + 1j), atol=1e-12)


def test_complex_numbers_are_rounded_part_by_part() -> None:
    made = da.round(da.asarray([1.5 - 0.5j, complex(math.inf, 2.5)]))
    assert made.tolist() == [2.0 - 0.0j, complex(math.inf, 2)]


def test_a_diagonal_far_outside_is_not_there() -> None:
    assert da.eye(2, k=1 << 70).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_a_mask_that_does_not_fit_is_an_index_error() -> None:
    with pytest.raises(IndexError, match="mask"):
        da.ones(3)[da.asarray([True, False])]
    assert da.ones(3)[da.asarray([], dtype=da.bool)].shape == (0,)
