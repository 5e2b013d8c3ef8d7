"""Trains a two-layer network on scikit-learn's handwritten digits, with every operation on one device.

    python examples/digits.py --device cpu
    python examples/digits.py --device npu:0

Prints the accuracy on digits the network has not seen, which kernels of the device ran how often, and what
ran on the CPU instead. On the CPU that is forbidden; on other devices it is allowed with a warning, unless
--fallback says otherwise. Exits with 1 when the accuracy is below 0.96.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import device_api as da

HIDDEN = 128
EPOCHS = 40
BATCH = 64
LEARNING_RATE = 0.1
MOMENTUM = 0.9
GOOD = 0.96


class Network:
    """64 pixels, one hidden layer, 10 digits."""

    def __init__(self) -> None:
        self.parameters = [
            da.normal((64, HIDDEN), std=(2 / 64) ** 0.5),
            da.zeros((HIDDEN,)),
            da.normal((HIDDEN, 10), std=(2 / HIDDEN) ** 0.5),
            da.zeros((10,)),
        ]
        self.velocities = [da.zeros_like(each) for each in self.parameters]
        for each in self.parameters:
            each.requires_grad = True

    def __call__(self, images: da.Tensor) -> da.Tensor:
        weight1, bias1, weight2, bias2 = self.parameters
        return da.relu(images @ weight1 + bias1) @ weight2 + bias2

    def step(self, images: da.Tensor, digits: da.Tensor) -> da.Tensor:
        """One step of descent on a batch; gives the loss before it."""
        loss = da.cross_entropy(self(images), digits)
        gradients = da.grad(loss, self.parameters)
        with da.no_grad():
            for i, gradient in enumerate(gradients):
                moved, self.velocities[i] = da.momentum_step(
                    self.parameters[i], gradient, self.velocities[i], LEARNING_RATE, momentum=MOMENTUM
                )
                moved.requires_grad = True
                self.parameters[i] = moved
        return loss.detach()


def accuracy(network: Network, images: da.Tensor, digits: da.Tensor) -> float:
    """The share of digits that are recognised."""
    with da.no_grad():
        hits = da.equal(da.argmax(network(images), axis=1), digits)
        return float(da.mean(da.astype(hits, da.float32)))


def train(device: str) -> float:
    """Trains on three quarters of the digits; gives the accuracy on the rest."""
    da.set_device(device)
    da.manual_seed(0)
    images, digits = load_digits(return_X_y=True)
    split = train_test_split(images.astype(np.float32) / 16, digits, test_size=0.25, random_state=0)
    train_images, test_images, train_digits, test_digits = (da.asarray(part) for part in split)
    network = Network()
    for epoch in range(EPOCHS):
        order = da.permutation(train_images.shape[0])
        total = da.zeros(())
        for start in range(0, train_images.shape[0] - BATCH + 1, BATCH):
            batch = order[start : start + BATCH]
            total = total + network.step(da.take(train_images, batch), da.take(train_digits, batch))
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1:3d}: loss {float(total) / (train_images.shape[0] // BATCH):.4f}")
    return accuracy(network, test_images, test_digits)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu", help="a device string such as cpu or npu:0")
    parser.add_argument(
        "--fallback", choices=("error", "warn", "allow"), help="running ops on the CPU instead"
    )
    options = parser.parse_args()
    device = da.device(options.device)
    policy = options.fallback or ("error" if device.type == "cpu" else "warn")
    device.reset_kernel_runs()
    started = time.perf_counter()
    with da.fallback(policy):
        reached = train(options.device)
    print(f"test accuracy on {device}: {reached:.4f} in {time.perf_counter() - started:.1f} s")
    runs = device.kernel_runs()
    print(f"kernels of {device}: {sum(runs.values())} runs")
    for op, count in sorted(runs.items(), key=lambda item: -item[1]):
        print(f"  {op:20s} {count:7d}")
    report = da.fallback_report()
    print(f"fallback (policy {policy}): {sum(entry.count for entry in report)} runs on the CPU")
    for entry in report:
        print(f"  {entry.op:20s} {entry.count:7d}  {entry.reason}")
    return 0 if reached >= GOOD else 1


if __name__ == "__main__":
    raise SystemExit(main())
