"""Batches of a dataset on a device are on that device.

TinyTorch's `TensorDataset` takes sample i of a Tensor by `tensor.data[i]`. Of rows that
is a view on the device. Of numbers, such as labels, it is a number that comes to the
host; the batch of them goes back by one copy.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.integration.moving import moved, place

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.patches import Patches

__all__ = ["patch_batches"]


def patch_batches(patches: Patches, found: TinyTorch) -> None:
    """Let a DataLoader's batches be where the Tensors of its dataset are.

    Args:
        patches: where originals are kept.
        found: the TinyTorch to change.
    """
    for owner in found.classes():
        patches.wrap(owner, "_collate_batch", _collating)


def _collating(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def collate(self: Any, *args: Any, **options: Any) -> Any:
        batch = original(self, *args, **options)
        tensors = getattr(getattr(self, "dataset", None), "tensors", ())
        if len(tensors) == len(batch):
            for part, tensor in zip(batch, tensors, strict=True):
                _place(part, place(tensor.data))
        return batch

    return collate


def _place(part: Any, device: Any) -> None:
    """Move a batch that was made on the host to the device of its dataset."""
    if device is not None and isinstance(part.data, np.ndarray):
        part.__dict__["data"] = moved(part.data, device, reason="a batch of numbers")
