"""`DeviceLayout`: what the host knows of a device array without a copy, and views.

Shape, dtype and strides live on the host; views share the buffer and launch nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import check_dtype
from tinytorch_gpu.errors import ShapeError, UnsupportedError, UseAfterFreeError
from tinytorch_gpu.memory.hooks import hooks

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt
    from typing_extensions import Self

    from tinytorch_gpu.memory.buffer import DeviceBuffer

__all__ = ["DeviceLayout", "elements_of"]


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
    def gpu_data(self) -> DeviceBuffer:
        """The allocation, by numba's name; `gpu_data.free()` frees it at once.

        Example:
            >>> from tinytorch_gpu import cuda
            >>> x = cuda.device_array(4)
            >>> x.gpu_data.free()
            >>> x.gpu_data.freed_by     # from now on a use raises UseAfterFreeError
            'array.gpu_data.free()'

        Source: numba.cuda 0.30.4 (`DeviceNDArray.gpu_data`, `MemoryPointer.free`).
        """
        return self.buffer

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

    @property
    def flags(self) -> dict[str, bool]:
        """Whether the elements lie without gaps, by order; with NumPy's keys."""
        return {
            "C_CONTIGUOUS": self.is_c_contiguous(),
            "F_CONTIGUOUS": self.is_f_contiguous(),
        }

    def is_c_contiguous(self) -> bool:
        """Tell whether the elements lie in C order without gaps."""
        return self._elements.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        """Tell whether the elements lie in Fortran order without gaps."""
        return self._elements.flags.f_contiguous

    @property
    def address(self) -> int:
        """Simulated address of the first element."""
        return self.buffer.address + self.buffer.offset_of(self._elements)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Shape, type and simulated address, as CUDA libraries exchange arrays.

        Source: CUDA Array Interface, version 3.
        """
        return {
            "shape": self.shape,
            "strides": None if self.is_c_contiguous() else self.strides,
            "data": (self.address if self.size else 0, False),
            "typestr": self.dtype.str,
            "stream": None,
            "version": 3,
        }

    def __len__(self) -> int:
        """Return the length of axis 0."""
        return len(self._elements)

    def _view(self, elements: npt.NDArray[Any]) -> Self:
        return type(self)(self.buffer, elements, self.device)

    @property
    def T(self) -> Self:  # noqa: N802  (NumPy's name)
        """The view with all axes reversed."""
        return self._view(self._elements.T)

    def transpose(self, axes: Any = None, *more: int) -> Self:
        """Return a view with the axes permuted; strides change, elements stay.

        Args:
            axes: the new order, a tuple, or None for the reverse.
            *more: with an int as `axes`, the rest of the order, as NumPy takes it.
        """
        order = (axes, *more) if more else axes
        return self._view(self._elements.transpose(order))

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """Return a view with two axes exchanged."""
        return self._view(self._elements.swapaxes(axis1, axis2))

    def broadcast_to(self, shape: tuple[int, ...]) -> Self:
        """Return a view of a larger shape; repeated axes have stride 0."""
        return self._view(np.broadcast_to(self._elements, shape))

    def squeeze(self, axis: Any = None, stream: Any = 0) -> Self:
        """Return a view without the axes of length 1, or without those named.

        Args:
            axis: an axis or a tuple of them; all of length 1 if None.
            stream: accepted for numba's sake.

        Raises:
            ValueError: a named axis is longer than 1.
        """
        del stream
        return self._view(self._elements.squeeze(axis))

    def view(self, dtype: npt.DTypeLike) -> Self:
        """Return the same bytes as elements of another dtype.

        Args:
            dtype: one that device memory holds; of another width only if the array is
                C-contiguous.

        Raises:
            DtypeError: device memory does not hold the dtype.
            ShapeError: the bytes of the last axis are no whole number of elements, or
                the first byte is not aligned to them.
        """
        kind = check_dtype(dtype)
        try:
            elements = self._elements.view(kind)
        except ValueError as error:
            raise _no_view(self, kind, str(error)) from None
        if self.buffer.offset_of(elements) % kind.itemsize:
            raise _no_view(self, kind, "a GPU reads only aligned addresses")
        return self._view(elements)

    def split(self, section: int, stream: Any = 0) -> Iterator[Self]:
        """Yield views of `section` elements each; the last may be shorter.

        Args:
            section: elements of a view, 1 or more.
            stream: accepted for numba's sake.

        Yields:
            Views of a contiguous one-dimensional array.

        Raises:
            ShapeError: the array has another shape, or gaps.
        """
        del stream
        if self.ndim != 1 or not self.is_c_contiguous():
            raise ShapeError(
                f"split of a {self.dtype} {self.shape} array",
                where="array.split(section)",
                why="only a contiguous one-dimensional array is split",
                fix="flatten it first: array.reshape(-1).split(section)",
            )
        for first in range(0, self.size, section):
            yield self._view(self._elements[first : first + section])

    def bind(self, stream: Any = 0) -> Self:
        """Return the same array for use on a stream; streams run in order here."""
        del stream
        return self._view(self._elements)

    def get_ipc_handle(self) -> Any:
        """Refuse: simulated memory belongs to one process.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            "get_ipc_handle of a device array",
            where=f"a {self.dtype} {self.shape} array on {self.device}",
            why="simulated device memory is not shared between processes",
            fix="send array.copy_to_host() to the other process",
        )


def elements_of(array: DeviceLayout) -> npt.NDArray[Any]:
    """Return the hidden elements; for copies and the executor only.

    Raises:
        UseAfterFreeError: the memory that they lie in was freed.
    """
    hooks.look()
    if array.buffer.freed_by:
        error = _freed(array)
        for watch in hooks.watches:
            watch.misused(error)
        raise error
    return array._elements  # noqa: SLF001  (the one door)


def _freed(array: DeviceLayout) -> UseAfterFreeError:
    told = f"a {array.dtype} {array.shape} array on {array.device}"
    return UseAfterFreeError(
        f"{told} is used after its memory was freed",
        where=f"freed by {array.buffer.freed_by}",
        why="the array's name is still there, its memory is not; on hardware another\n"
        "array may lie there by now",
        fix="free it after its last use, or copy it to the device again",
        kind="use_after_free",
        space="global",
        shape=array.shape,
        freed_by=array.buffer.freed_by,
    )


def _no_view(array: DeviceLayout, dtype: np.dtype[Any], why: str) -> ShapeError:
    return ShapeError(
        f"no view of a {array.dtype} {array.shape} array as {dtype}",
        where=f'array.view("{dtype}")',
        why=why,
        fix="copy it first (array.copy()), or take a dtype of the same width",
    )
