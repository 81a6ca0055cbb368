"""The 1,797 UCI handwritten digits, split once and for all.

Source: data/digits-LICENSE.txt.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Digits", "load_digits"]

TRAIN = 1437
SPLIT_SEED = 0


@dataclass(frozen=True)
class Digits:
    """Images as rows of 64 pixels between 0 and 1, and labels 0 to 9, all float32.

    Args:
        train_images: (1437, 64).
        train_labels: (1437,).
        test_images: (360, 64).
        test_labels: (360,).
    """

    train_images: npt.NDArray[Any]
    train_labels: npt.NDArray[Any]
    test_images: npt.NDArray[Any]
    test_labels: npt.NDArray[Any]


def load_digits() -> Digits:
    """Return the digits, shuffled with a fixed seed and split 80 : 20.

    Example:
        >>> digits = load_digits()
        >>> digits.train_images.shape, digits.test_labels.shape
        ((1437, 64), (360,))
    """
    path = resources.files("tinytorch_gpu") / "data" / "digits.npz"
    with resources.as_file(path) as file, np.load(file, allow_pickle=False) as stored:
        images = stored["images"].reshape(-1, 64).astype(np.float32) / 16
        labels = stored["labels"].astype(np.float32)
    order = np.random.default_rng(SPLIT_SEED).permutation(len(labels))
    train, test = order[:TRAIN], order[TRAIN:]
    return Digits(images[train], labels[train], images[test], labels[test])
