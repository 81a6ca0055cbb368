"""`DeviceLayout`: what the host knows of a device array without a copy, and views.

Shape, dtype and strides live on the host; views share the buffer and launch nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Self

    from tinytorch_gpu.memory.allocator import DeviceBuffer

__all__ = ["DeviceLayout"]


class DeviceLayout:
    """Shape, type and views of elements in device memory.

    Args:
        buffer: the allocation that holds the elements.
        elements: the NumPy view of it; hidden from the host.
        device: the device's name.
    """

    __slots__ = ("__weakref__", "_elements", "buffer", "device")

    def __init__(
        self, buffer: DeviceBuffer, elements: npt.NDArray[Any], device: str
    ) -> None:
        self.buffer = buffer
        self._elements = elements
        self.device = device

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""
        return self._elements.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return self._elements.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._elements.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._elements.size

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        return self._elements.strides

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._elements.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._elements.nbytes

    def is_c_contiguous(self) -> bool:
        """Tell whether the elements lie in C order without gaps."""
        return bool(self._elements.flags.c_contiguous)

    def __len__(self) -> int:
        """Return the length of axis 0."""
        return len(self._elements)

    def _view(self, elements: npt.NDArray[Any]) -> Self:
        return type(self)(self.buffer, elements, self.device)

    @property
    def T(self) -> Self:  # noqa: N802  (NumPy's name)
        """The view with all axes reversed."""
        return self._view(self._elements.T)

    def transpose(self, *axes: Any) -> Self:
        """Return a view with the axes permuted; strides change, elements stay."""
        return self._view(self._elements.transpose(*axes))

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """Return a view with two axes exchanged."""
        return self._view(self._elements.swapaxes(axis1, axis2))

    def broadcast_to(self, shape: tuple[int, ...]) -> Self:
        """Return a view of a larger shape; repeated axes have stride 0."""
        return self._view(np.broadcast_to(self._elements, shape))
