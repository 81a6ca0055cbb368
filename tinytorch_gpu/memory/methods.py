"""NumPy's methods on device arrays: each is the NumPy function of its name."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from tinytorch_gpu.errors import DtypeError
from tinytorch_gpu.memory.hooks import hooks

__all__ = ["NumpyMethods"]

Axis = SupportsIndex | tuple[int, ...] | None


class NumpyMethods(NDArrayOperatorsMixin):
    """Operators and methods that become ops, by way of NumPy's protocols."""

    __slots__ = ()

    def __index__(self: Any) -> int:
        """Copy the single integer to the host, to index a list or count a range.

        Raises:
            DtypeError: the element is no integer; a TypeError.
            HostAccessError: there is more than one element, or none.
        """
        if self.dtype.kind not in "iu":
            raise DtypeError(
                f"a {self.dtype} {self.shape} array on {self.device} as an index",
                where="list[x], range(x) or another place that takes an integer",
                why=f"an index is an integer, and {self.dtype} is none",
                fix='convert it: int(x), or x.astype("int64")',
                dtype=self.dtype,
            )
        return int(self._scalar("index()"))

    def __round__(self: Any, ndigits: SupportsIndex | None = None) -> Any:
        """Copy the single element to the host and round it.

        Raises:
            HostAccessError: there is more than one element, or none.
        """
        return round(self._scalar("round()"), ndigits)

    def sum(self: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        """Sum over axes; see `np.sum`."""
        return np.sum(self, axis=axis, keepdims=keepdims)

    def prod(self: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        """Multiply over axes; see `np.prod`."""
        return np.prod(self, axis=axis, keepdims=keepdims)

    def mean(self: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        """Mean over axes; see `np.mean`."""
        return np.mean(self, axis=axis, keepdims=keepdims)

    def var(self: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        """Variance over axes; see `np.var`."""
        return np.var(self, axis=axis, keepdims=keepdims)

    def std(self: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        """Root of the variance over axes; see `np.std`."""
        return np.std(self, axis=axis, keepdims=keepdims)

    def max(self: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        """Maximum over axes; see `np.max`."""
        return np.max(self, axis=axis, keepdims=keepdims)

    def min(self: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        """Minimum over axes; see `np.min`."""
        return np.min(self, axis=axis, keepdims=keepdims)

    def argmax(self: Any, axis: SupportsIndex | None = None) -> Any:
        """Place of the maximum along an axis; see `np.argmax`."""
        return np.argmax(self, axis=axis)

    def argmin(self: Any, axis: SupportsIndex | None = None) -> Any:
        """Place of the minimum along an axis; see `np.argmin`."""
        return np.argmin(self, axis=axis)

    def any(self: Any, axis: Any = None) -> Any:
        """Whether anything is not zero; see `np.any`."""
        return np.any(self, axis=axis)

    def all(self: Any, axis: Any = None) -> Any:
        """Whether nothing is zero; see `np.all`."""
        return np.all(self, axis=axis)

    def tolist(self: Any) -> Any:
        """Copy all elements to the host and return them as Python's lists."""
        return hooks.copies.to_host(self, "tolist()").tolist()

    def sort(self: Any, axis: SupportsIndex = -1) -> None:
        """Sort in place; see `np.sort`, for which there has to be a kernel."""
        self[...] = np.sort(self, axis=axis)

    def nonzero(self: Any) -> Any:
        """Places of what is not zero; see `np.nonzero`."""
        return np.nonzero(self)

    def clip(self: Any, a_min: Any = None, a_max: Any = None) -> Any:
        """Return the elements within two limits; see `np.clip`."""
        return np.clip(self, a_min, a_max)

    def round(self: Any, decimals: int = 0) -> Any:
        """Return the nearest whole numbers; see `np.round`."""
        return np.round(self, decimals)

    def dot(self: Any, b: Any) -> Any:
        """Multiply vectors or matrices; see `np.dot`."""
        return np.dot(self, b)

    def take(self: Any, indices: Any, axis: SupportsIndex | None = None) -> Any:
        """Return the slices along an axis that indices name; see `np.take`."""
        return np.take(self, indices, axis=axis)

    def repeat(self: Any, repeats: int, axis: SupportsIndex | None = None) -> Any:
        """Return each element several times; see `np.repeat`."""
        return np.repeat(self, repeats, axis=axis)

    def cumsum(self: Any, axis: SupportsIndex | None = None) -> Any:
        """Return running sums along an axis; see `np.cumsum`."""
        return np.cumsum(self, axis=axis)
