"""`DeviceArray`: an array in simulated device memory, closed to the host.

It has shape, dtype and strides like a NumPy array, and views that share its buffer.
Reading it on the host is a copy (`copy_to_host`, `float(x)`, printing) and is recorded;
`np.asarray` of it raises. NumPy functions and operators on it become ops, that is
kernel launches, by way of `hooks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.errors import (
    DtypeError,
    HostAccessError,
    ShapeError,
    UnsupportedError,
)
from tinytorch_gpu.memory.hooks import hooks
from tinytorch_gpu.memory.layout import DeviceLayout
from tinytorch_gpu.memory.methods import NumpyMethods

if TYPE_CHECKING:
    from collections.abc import Iterator


__all__ = ["DeviceArray", "is_advanced"]


class DeviceArray(DeviceLayout, NumpyMethods):
    """An array in device memory.

    Make one with `cuda.to_device`, `cuda.device_array` or `Tensor.to("simgpu")`.

    Args:
        buffer: the allocation that holds the elements.
        elements: the NumPy view of it; hidden from the host.
        device: the device's name.
    """

    __slots__ = ()
    __array_priority__ = 1000

    @property
    def data(self) -> DeviceArray:
        """The array itself, as TinyTorch's code expects of what stands in `.grad`."""
        return self

    @data.setter
    def data(self, value: Any) -> None:
        hooks.ops.assign(self, value)

    def reshape(self, *shape: Any, order: str = "C") -> DeviceArray:
        """Return the elements in another shape: a view if possible, else a copy.

        numba refuses what needs a copy; a program for hardware asks only for views.

        Args:
            *shape: lengths, or one tuple of them; one may be -1.
            order: "C" or "F", the order in which the elements are counted.
        """
        moved = self._elements.reshape(*shape, order="F" if order == "F" else "C")
        if not moved.size or np.may_share_memory(moved, self._elements):
            return self._view(moved)
        if order == "F":
            return self.T.reshape(moved.shape[::-1]).T
        return self.copy().reshape(moved.shape)

    def ravel(self, order: str = "C", stream: Any = 0) -> DeviceArray:
        """Return the elements as one axis, as `reshape(-1, order=order)`."""
        del stream
        return self.reshape(-1, order=order)

    def flatten(self) -> DeviceArray:
        """Return a copy of the elements as one axis."""
        return self.copy().reshape(-1)

    def __getitem__(self, key: Any) -> Any:
        """Return a view for slices; one element, by a recorded copy, for full indices.

        A key with an index array or a mask is a gather: launches, and a new array.
        """
        if is_advanced(key):
            return hooks.ops.gather(self, key)
        found = self._elements[key]
        if isinstance(found, np.ndarray):
            return self._view(found)
        one = self._elements[(*_as_tuple(key), ..., None)]
        return hooks.copies.to_host(self._view(one), "element read")[0]

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write into a slice, or where an index array or mask says; broadcasts."""
        if is_advanced(key):
            hooks.ops.scatter(self, key, value)
        else:
            hooks.ops.assign(self.part(key), value)

    def getitem(self, item: Any, stream: Any = 0) -> Any:
        """Return `self[item]`; numba's name for it with a stream."""
        with hooks.copies.in_stream(stream):
            return self[item]

    def setitem(self, key: Any, value: Any, stream: Any = 0) -> None:
        """Do `self[key] = value`; numba's name for it with a stream."""
        with hooks.copies.in_stream(stream):
            self[key] = value

    def part(self, key: Any) -> DeviceArray:
        """Return a view for any basic key; full indices give a 0-d view, not a copy.

        Raises:
            UnsupportedError: the key holds an array.
        """
        parts = _as_tuple(key)
        if is_advanced(key):
            raise UnsupportedError(
                "a view of the elements that an index array names",
                where=f"x.part({type(key).__name__})",
                why="a view has strides; slices, ints, None and ... give some",
                fix="x[index], a copy by a gather, or x[index] = value",
            )
        is_open = not any(part is ... for part in parts)  # keep a view, never a scalar
        return self._view(self._elements[(*parts, ...) if is_open else parts])

    def __iter__(self) -> Iterator[Any]:
        """Go along axis 0."""
        return (self[i] for i in range(len(self)))

    # Copies to the host: always recorded.

    def copy_to_host(
        self, ary: npt.NDArray[Any] | None = None, stream: Any = 0
    ) -> npt.NDArray[Any]:
        """Copy all elements to the host (D2H).

        Args:
            ary: host array of the same shape and dtype to fill; a new one if None.
            stream: where the copy goes; with a pinned `ary` the host does not wait.

        Returns:
            The host array.

        Raises:
            ShapeError: `ary` has another shape or dtype; a ValueError, as in numba.
        """
        if ary is None:
            return hooks.copies.to_host(self, "copy_to_host", stream=stream)
        given = (np.shape(ary), getattr(ary, "dtype", type(ary).__name__))
        if not isinstance(ary, np.ndarray) or given != (self.shape, self.dtype):
            raise ShapeError(
                f"ary is {given[1]} {given[0]}, the device array is {self.dtype} "
                f"{self.shape}",
                where="array.copy_to_host(ary)",
                why="a copy converts nothing: it needs the same shape and dtype",
                fix=f'ary = np.empty({self.shape}, "{self.dtype}"), or leave it out: '
                "copy_to_host()",
                shape=self.shape,
            )
        return hooks.copies.to_host(self, "copy_to_host", out=ary, stream=stream)

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Copy a host or device array of the same shape and dtype into this array.

        Args:
            ary: the array to copy; one of another device comes by way of the host.
            stream: where the copy goes; with a pinned `ary` the host does not wait.

        Raises:
            DtypeError: `ary` has another dtype.
            ShapeError: `ary` has another shape.
        """
        given = ary if isinstance(ary, DeviceArray) else np.asarray(ary)
        if given.dtype != self.dtype:
            raise DtypeError(
                f"a {given.dtype} array copied into a {self.dtype} device array",
                where="copy_to_device",
                why="a copy moves bytes and converts nothing",
                fix=f'convert it first: array.astype("{self.dtype}")',
            )
        if isinstance(given, DeviceArray) and given.device == self.device:
            with hooks.copies.in_stream(stream):
                hooks.ops.assign(self, given)
        else:
            hooks.copies.to_device(given, "copy_to_device", self, stream)

    def item(self) -> Any:
        """Copy the single element to the host and return it as a Python scalar."""
        return self._scalar("item()")

    def _scalar(self, reason: str) -> Any:
        if self.size != 1:
            raise HostAccessError(
                f"{reason} of a {self.dtype} {self.shape} array on {self.device}",
                where=reason,
                why=f"the array has {self.size} elements, a number is 1",
                fix="index one element, or copy all: array.copy_to_host()",
                shape=self.shape,
            )
        return hooks.copies.to_host(self, reason).item()

    def __float__(self) -> float:
        """Copy the single element to the host."""
        return float(self._scalar("float()"))

    def __int__(self) -> int:
        """Copy the single element to the host."""
        return int(self._scalar("int()"))

    def __bool__(self) -> bool:
        """Copy the single element to the host."""
        return bool(self._scalar("bool()"))

    def __format__(self, spec: str) -> str:
        """Format the single element, or print the array when no format is asked."""
        return format(self._scalar("format()"), spec) if spec else str(self)

    def __repr__(self) -> str:
        """Copy the elements to the host and show them; the copy is recorded."""
        host = hooks.copies.to_host(self, "printing")
        text = np.array2string(host, separator=", ", prefix="DeviceArray(")
        return f"DeviceArray({text}, dtype={self.dtype}, device={self.device!r})"

    def __array__(self, *_args: Any, **_options: Any) -> NoReturn:
        """Refuse: the host cannot read device memory.

        Raises:
            HostAccessError: always.
        """
        raise HostAccessError(
            f"the host cannot read a {self.dtype} {self.shape} array on {self.device}",
            where="np.asarray(x), or NumPy code that makes a host array of it",
            why="the elements are in device memory, the host's NumPy sees host memory",
            fix="copy first: tensor.cpu(), or array.copy_to_host()",
            shape=self.shape,
            device=self.device,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the elements; unpickling copies them to the device again."""
        return _from_host, (hooks.copies.to_host(self, "pickling"),)

    # NumPy's protocols and methods: become ops.

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any
    ) -> Any:
        """Answer a NumPy ufunc by launching an op's kernel."""
        return hooks.ops.ufunc(ufunc, method, inputs, options)

    def __array_function__(
        self, function: Any, _types: Any, args: Any, options: Any
    ) -> Any:
        """Answer a NumPy function by launching an op's kernel."""
        return hooks.ops.function(function, args, options)

    def copy(self) -> DeviceArray:
        """Return a contiguous copy on the device."""
        out: DeviceArray = hooks.ops.convert(self, self.dtype)
        return out

    def fill(self, value: Any) -> None:
        """Write one value into every element."""
        hooks.ops.assign(self, value)

    def astype(self, dtype: npt.DTypeLike, copy: bool = True) -> DeviceArray:
        """Return the elements converted to another dtype, by a launch."""
        if not copy and np.dtype(dtype) == self.dtype:
            return self
        out: DeviceArray = hooks.ops.convert(self, np.dtype(dtype))
        return out


def _from_host(host: npt.NDArray[Any]) -> DeviceArray:
    array: DeviceArray = hooks.copies.to_device(host, "unpickling")
    return array


def _as_tuple(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def is_advanced(key: Any) -> bool:
    """Tell keys that NumPy gathers with from those that give a view.

    Args:
        key: what stands in the brackets.

    Example:
        >>> is_advanced((slice(3), 0)), is_advanced([0, 2])
        (False, True)
    """
    kinds = (list, np.ndarray, DeviceArray, bool, np.bool_)
    return any(isinstance(part, kinds) for part in _as_tuple(key))
