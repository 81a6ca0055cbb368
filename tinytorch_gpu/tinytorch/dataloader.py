"""Data in batches: `TensorDataset` and `DataLoader`."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.tinytorch.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DataLoader", "Dataset", "TensorDataset"]


class Dataset(ABC):
    """Samples by number."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of samples."""

    @abstractmethod
    def __getitem__(self, idx: int) -> Any:
        """Return one sample."""


class TensorDataset(Dataset):
    """Rows of tensors of one length.

    Raises:
        ValueError: the lengths differ.
    """

    def __init__(self, *tensors: Tensor) -> None:
        lengths = {t.shape[0] for t in tensors}
        if len(lengths) != 1:
            message = f"tensors of different lengths: {[t.shape for t in tensors]}"
            raise ValueError(message)
        self.tensors = tensors

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.tensors[0].shape[0])

    def __getitem__(self, idx: int) -> tuple[Tensor, ...]:
        """Return one row of each tensor."""
        return tuple(Tensor(t.data[idx]) for t in self.tensors)


class DataLoader:
    """Iterate over a dataset in batches.

    Args:
        dataset: the samples.
        batch_size: samples of a batch; the last one may be smaller.
        shuffle: another order in each pass, by Python's `random`.
    """

    def __init__(self, dataset: Any, batch_size: int, shuffle: bool = False) -> None:
        self.dataset, self.batch_size, self.shuffle = dataset, batch_size, shuffle

    def __len__(self) -> int:
        """Return the number of batches."""
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        """Yield batches of host tensors."""
        order = list(range(len(self.dataset)))
        if self.shuffle:
            random.shuffle(order)
        for start in range(0, len(order), self.batch_size):
            batch = [self.dataset[i] for i in order[start : start + self.batch_size]]
            columns = zip(*batch, strict=True)
            yield tuple(Tensor(np.stack([t.data for t in c])) for c in columns)
