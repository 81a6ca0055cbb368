"""Samples and batches. Batches are new host Tensors; Python's `random` shuffles."""

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from tinytorch_gpu.tinytorch.tensor import Tensor

__all__ = ["DataLoader", "Dataset", "TensorDataset"]


class Dataset(ABC):
    """Samples by number: a subclass has `len(dataset)` and `dataset[i]`."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of samples."""

    @abstractmethod
    def __getitem__(self, idx: int) -> tuple[Tensor, ...]:
        """Return one sample."""


class TensorDataset(Dataset):
    """Sample i is row i of each Tensor.

    Args:
        *tensors: Tensors with first axes of one length.

    Raises:
        ValueError: there are none, or their lengths differ.
    """

    def __init__(self, *tensors: Tensor) -> None:
        if len({tensor.shape[:1] for tensor in tensors} - {()}) != 1:
            shapes = ", ".join(str(tensor.shape) for tensor in tensors)
            raise ValueError(f"TensorDataset needs first axes of one length: {shapes}")
        self.tensors = tensors

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.tensors[0].data)

    def __getitem__(self, idx: int) -> tuple[Tensor, ...]:
        """Return one row of each Tensor."""
        return tuple(Tensor(tensor.data[idx]) for tensor in self.tensors)


class DataLoader:
    """Batches of a dataset, stacked; the last one may be smaller.

    Args:
        dataset: what has `len()` and gives a tuple of Tensors or arrays by number.
        batch_size: most samples in a batch.
        shuffle: go through the samples in another order each time.

    Raises:
        ValueError: the batch size is not positive.

    Example:
        >>> loader = DataLoader(TensorDataset(Tensor([1, 2, 3])), batch_size=2)
        >>> [batch.numpy().tolist() for (batch,) in loader]
        [[1.0, 2.0], [3.0]]
    """

    def __init__(self, dataset: Any, batch_size: int, shuffle: bool = False) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; at least 1 is needed")
        self.dataset, self.batch_size, self.shuffle = dataset, batch_size, shuffle

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(range(0, len(self.dataset), self.batch_size))

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        """Yield the batches: a Tensor (samples, ...) for each part of a sample."""
        order = list(range(len(self.dataset)))
        if self.shuffle:
            random.shuffle(order)
        for start in range(0, len(order), self.batch_size):
            picked = order[start : start + self.batch_size]
            yield self._collate_batch([self.dataset[i] for i in picked])

    def _collate_batch(self, samples: list[Any]) -> tuple[Tensor, ...]:
        columns = zip(*samples, strict=True)
        return tuple(Tensor(np.stack([_array(s) for s in c])) for c in columns)


def _array(sample: Any) -> Any:
    return sample.data if isinstance(sample, Tensor) else np.asarray(sample)
