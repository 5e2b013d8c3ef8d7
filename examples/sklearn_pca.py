"""scikit-learn on a device: PCA, ridge regression, linear discriminants and a grid search, on real data.

    python examples/sklearn_pca.py --device cpu
    python examples/sklearn_pca.py --device npu:0

scikit-learn takes device_api's tensors as they are, by the array API standard, and computes where they
live. Every fitted attribute and prediction is checked to be a tensor on the device, and to agree with what
scikit-learn computes from NumPy arrays. Exits with 1 when one does not.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

# SciPy and scikit-learn look at this when they are imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
from sklearn import config_context
from sklearn.datasets import load_diabetes, load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

import device_api as da

# Of the largest number, in float32: the sums of two libraries are ordered differently.
TOLERANCE = 2e-3
Results = dict[str, Any]


def pca(images: Any, digits: Any, progress: Any, measurements: Any) -> Results:
    """Twenty principal components of 1797 images of digits."""
    model = PCA(n_components=20, svd_solver="full").fit(images)
    back = model.inverse_transform(model.transform(images))
    return {"variances": model.explained_variance_, "mean": model.mean_, "reconstruction": back}


def ridge(images: Any, digits: Any, progress: Any, measurements: Any) -> Results:
    """The progress of diabetes from ten measurements of a patient."""
    model = Ridge(alpha=0.5, solver="svd").fit(measurements, progress)
    return {"coefficients": model.coef_, "prediction": model.predict(measurements)}


def discriminants(images: Any, digits: Any, progress: Any, measurements: Any) -> Results:
    """Which digit an image shows, from linear discriminants of its components."""
    few = PCA(n_components=20, svd_solver="full").fit_transform(images)
    model = LinearDiscriminantAnalysis().fit(few, digits)
    return {"means": model.means_, "prediction": model.predict(few)}


def grid(images: Any, digits: Any, progress: Any, measurements: Any) -> Results:
    """The penalty of ridge regression that explains patients best who were left out."""
    search = GridSearchCV(Ridge(solver="svd"), {"alpha": [0.01, 0.1, 1.0]}, cv=5).fit(measurements, progress)
    print(f"    best penalty {search.best_params_['alpha']}, score {search.best_score_:.4f}")
    return {"coefficients": search.best_estimator_.coef_, "prediction": search.predict(measurements)}


def data() -> list[np.ndarray]:
    """Images and their digits, patients' progress and their measurements."""
    images, digits = load_digits(return_X_y=True)
    measurements, progress = load_diabetes(return_X_y=True)
    return [images.astype(np.float32), digits, progress.astype(np.float32), measurements.astype(np.float32)]


def agrees(name: str, ours: Any, theirs: np.ndarray, device: da.Device) -> bool:
    """Whether a result stayed on the device and is what NumPy gives; says so."""
    if not isinstance(ours, da.Tensor) or ours.device != device:
        print(f"    {name} left the device: {type(ours).__name__}")
        return False
    values = ours.numpy()
    if values.dtype.kind == "i":
        share = float(np.mean(values == theirs))
        print(f"    {name} on {ours.device}: {share:.2%} as NumPy")
        return share >= 0.999
    error = float(np.max(np.abs(values - theirs)) / np.max(np.abs(theirs)))
    print(f"    {name} on {ours.device}: relative difference to NumPy {error:.1e}")
    return error <= TOLERANCE


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu", help="a device string such as cpu or npu:0")
    device = da.set_device(parser.parse_args().device)
    host = data()
    there = [da.asarray(each) for each in host]
    models: tuple[Callable[..., Results], ...] = (pca, ridge, discriminants, grid)
    good = True
    with config_context(array_api_dispatch=True):
        for model in models:
            started = time.perf_counter()
            ours = model(*there)
            seconds = time.perf_counter() - started
            print(f"{model.__name__}: {seconds:.2f} s. {model.__doc__}")
            expected = model(*host)
            for name, value in ours.items():
                good &= agrees(name, value, expected[name], device)
    ran = da.fallback_report()
    print(f"fallback: {sum(entry.count for entry in ran)} runs on the CPU")
    for entry in ran:
        print(f"    {entry.op:20s} {entry.count:7d}  {entry.reason}")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
