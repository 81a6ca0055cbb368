"""The demo's training: one loop for both devices, as a learner would write it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.tinytorch import layers as layers_module
from tinytorch_gpu.tinytorch.activations import ReLU
from tinytorch_gpu.tinytorch.dataloader import DataLoader, TensorDataset
from tinytorch_gpu.tinytorch.layers import Linear, Sequential
from tinytorch_gpu.tinytorch.losses import CrossEntropyLoss
from tinytorch_gpu.tinytorch.optimizers import SGD
from tinytorch_gpu.tinytorch.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.demo.digits import Digits

__all__ = ["Run", "train"]

BATCH = 32
HIDDEN = 32
LEARNING_RATE = 0.1
MOMENTUM = 0.9
SEED = 7


@dataclass(frozen=True)
class Run:
    """What one training gave.

    Args:
        losses: the loss of each step.
        accuracy: share of the test images that are told right, 0 to 1.
    """

    losses: tuple[float, ...]
    accuracy: float


def steps_per_epoch(digits: Digits) -> int:
    """Return the batches of one epoch."""
    return -(-len(digits.train_labels) // BATCH)


def train(digits: Digits, device: str, epochs: int, on_step: Callable[[], None]) -> Run:
    """Train a 64-32-10 network on the digits.

    Args:
        digits: the data.
        device: `"cpu"` or `"simgpu"`; the embedded core must have it installed.
        epochs: passes over the training images.
        on_step: called after each step, for a progress bar.

    Returns:
        Losses and test accuracy; from the same seed on either device.
    """
    random.seed(SEED)  # the loader shuffles with it
    layers_module.rng = np.random.default_rng(SEED)
    model: Any = Sequential(Linear(64, HIDDEN), ReLU(), Linear(HIDDEN, 10))
    model.to(device)
    optimizer = SGD(model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)
    loss_fn = CrossEntropyLoss()
    dataset = TensorDataset(Tensor(digits.train_images), Tensor(digits.train_labels))
    loader: Any = DataLoader(dataset, batch_size=BATCH, shuffle=True)
    losses = []
    for _ in range(epochs):
        for images, labels in loader:
            loss: Any = loss_fn(model(images.to(device)), labels.to(device))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
            on_step()
    test_images: Any = Tensor(digits.test_images)
    scores = model(test_images.to(device)).cpu().numpy()
    is_right = np.argmax(scores, axis=1) == digits.test_labels
    return Run(tuple(losses), float(np.mean(is_right)))
