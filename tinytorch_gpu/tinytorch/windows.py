"""Windows that slide over images (N, C, H, W): taken up, and added up again.

All places of one entry of the window are one slice of the image with a step, so the
loops here run over the window's few entries, not over places.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["images_of", "windows_of"]


def _entries(
    lengths: tuple[int, ...], size: tuple[int, ...], layer: Any
) -> Iterator[tuple[slice, ...]]:
    """Yield, for each entry of the window, its places in the padded image."""
    axes = []
    for length, entries, step in zip(lengths, size, layer.stride, strict=True):
        span = length + 2 * layer.padding - entries  # between first and last window
        if span < 0:
            raise ValueError(
                f"a window of {tuple(size)} is larger than images of {tuple(lengths)} "
                f"with padding {layer.padding}; pad more, or take a smaller one"
            )
        axes.append([slice(i, i + span + 1, step) for i in range(entries)])
    for rows in axes[0]:
        for columns in axes[1]:
            yield (slice(None), slice(None), rows, columns)


def windows_of(x: Any, size: tuple[int, ...], layer: Any, fill: float = 0.0) -> Any:
    """Return (N, C, entries of the window, H', W')."""
    edge = (layer.padding, layer.padding)
    padded = np.pad(x, ((0, 0), (0, 0), edge, edge), constant_values=fill)
    places = _entries(x.shape[2:], size, layer)
    return np.stack([padded[place] for place in places], axis=2)


def images_of(taken: Any, like: Any, size: tuple[int, ...], layer: Any) -> Any:
    """Add what `windows_of` took up again, where it came from: an array like `like`."""
    edge, (count, channels, rows, columns) = layer.padding, like.shape
    lengths = (count, channels, rows + 2 * edge, columns + 2 * edge)
    padded = np.zeros_like(like, shape=lengths)
    for entry, place in enumerate(_entries((rows, columns), size, layer)):
        padded[place] = padded[place] + taken[:, :, entry]
    return padded[:, :, edge : edge + rows, edge : edge + columns]
