"""The demo's training: one loop for both devices, as a learner would write it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.demo.fused import FusedSGD, LinearReLU
from tinytorch_gpu.tinytorch import layers as layers_module
from tinytorch_gpu.tinytorch.activations import ReLU
from tinytorch_gpu.tinytorch.dataloader import DataLoader, TensorDataset
from tinytorch_gpu.tinytorch.layers import Linear, Sequential
from tinytorch_gpu.tinytorch.losses import CrossEntropyLoss
from tinytorch_gpu.tinytorch.optimizers import SGD
from tinytorch_gpu.tinytorch.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinytorch_gpu.demo.digits import Digits

__all__ = ["Plan", "Run", "train"]

HIDDEN = 32
LEARNING_RATE = 0.1
MOMENTUM = 0.9
SEED = 7


@dataclass(frozen=True)
class Plan:
    """How to train.

    Args:
        epochs: passes over the training images.
        batch: images in a batch, 1 or more.
        is_resident: copy the training images to the device once, before the first step,
            and take batches of them there; the order is then the same in all epochs.
        is_pinned: let batches that are copied lie in page-locked host memory.
        is_fused: bias and ReLU are one kernel, and so is the step of all parameters.
    """

    epochs: int = 10
    batch: int = 32
    is_resident: bool = False
    is_pinned: bool = False
    is_fused: bool = False

    def steps(self, digits: Digits) -> int:
        """Return the steps of the whole training."""
        return self.epochs * -(-len(digits.train_labels) // self.batch)


@dataclass(frozen=True)
class Run:
    """What one training gave.

    Args:
        losses: the loss of each step.
        accuracy: share of the test images that are told right, 0 to 1.
    """

    losses: tuple[float, ...]
    accuracy: float


def train(digits: Digits, device: str, plan: Plan, on_step: Callable[[], None]) -> Run:
    """Train a 64-32-10 network on the digits.

    Args:
        digits: the data.
        device: `"cpu"` or `"simgpu"`; the embedded core must have it installed.
        plan: epochs, batch, and where the images lie.
        on_step: called after each step, for a progress bar.

    Returns:
        Losses and test accuracy; from the same seed on either device.
    """
    random.seed(SEED)  # the loader shuffles with it
    layers_module.rng = np.random.default_rng(SEED)
    first = [LinearReLU(64, HIDDEN)] if plan.is_fused else [Linear(64, HIDDEN), ReLU()]
    model: Any = Sequential(*first, Linear(HIDDEN, 10))
    model.to(device)
    optimizer_class = FusedSGD if plan.is_fused else SGD
    optimizer = optimizer_class(model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)
    loss_fn = CrossEntropyLoss()
    batches = _resident_batches if plan.is_resident else _copied_batches
    losses = []
    for images, labels in batches(digits, device, plan):
        loss: Any = loss_fn(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        on_step()
    test_images: Any = Tensor(digits.test_images)
    scores = model(test_images.to(device)).cpu().numpy()
    is_right = np.argmax(scores, axis=1) == digits.test_labels
    return Run(tuple(losses), float(np.mean(is_right)))


def _copied_batches(digits: Digits, device: str, plan: Plan) -> Iterator[list[Any]]:
    """Yield images and labels of each step, copied when their turn comes."""
    dataset = TensorDataset(Tensor(digits.train_images), Tensor(digits.train_labels))
    loader: Any = DataLoader(dataset, batch_size=plan.batch, shuffle=True)
    for _ in range(plan.epochs):
        for batch in loader:
            hosts = [part.pin_memory() if plan.is_pinned else part for part in batch]
            yield [part.to(device) for part in hosts]


def _resident_batches(digits: Digits, device: str, plan: Plan) -> Iterator[list[Any]]:
    """Yield rows of images and labels that were copied to the device beforehand."""
    order = list(range(len(digits.train_labels)))
    random.shuffle(order)
    hosts: list[Any] = [
        Tensor(rows[order]) for rows in (digits.train_images, digits.train_labels)
    ]
    if plan.is_pinned:
        hosts = [part.pin_memory() for part in hosts]
    parts = [part.to(device) for part in hosts]
    for _ in range(plan.epochs):
        for start in range(0, len(order), plan.batch):
            yield [part[start : start + plan.batch] for part in parts]
