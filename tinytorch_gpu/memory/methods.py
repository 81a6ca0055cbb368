"""NumPy's methods on device arrays: each is the NumPy function of its name.

They take what it takes, in its order, and it refuses what has no kernel.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from tinytorch_gpu.errors import DtypeError
from tinytorch_gpu.memory.hooks import hooks

__all__ = ["NumpyMethods"]


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

    def sum(self: Any, *args: Any, **options: Any) -> Any:
        """Sum over axes; see `np.sum`."""
        return np.sum(self, *args, **options)

    def prod(self: Any, *args: Any, **options: Any) -> Any:
        """Multiply over axes; see `np.prod`."""
        return np.prod(self, *args, **options)

    def mean(self: Any, *args: Any, **options: Any) -> Any:
        """Mean over axes; see `np.mean`."""
        return np.mean(self, *args, **options)

    def var(self: Any, *args: Any, **options: Any) -> Any:
        """Variance over axes; see `np.var`."""
        return np.var(self, *args, **options)

    def std(self: Any, *args: Any, **options: Any) -> Any:
        """Root of the variance over axes; see `np.std`."""
        return np.std(self, *args, **options)

    def max(self: Any, *args: Any, **options: Any) -> Any:
        """Maximum over axes; see `np.max`."""
        return np.max(self, *args, **options)

    def min(self: Any, *args: Any, **options: Any) -> Any:
        """Minimum over axes; see `np.min`."""
        return np.min(self, *args, **options)

    def argmax(self: Any, *args: Any, **options: Any) -> Any:
        """Place of the maximum along an axis; see `np.argmax`."""
        return np.argmax(self, *args, **options)

    def argmin(self: Any, *args: Any, **options: Any) -> Any:
        """Place of the minimum along an axis; see `np.argmin`."""
        return np.argmin(self, *args, **options)

    def any(self: Any, *args: Any, **options: Any) -> Any:
        """Whether anything is not zero; see `np.any`."""
        return np.any(self, *args, **options)

    def all(self: Any, *args: Any, **options: Any) -> Any:
        """Whether nothing is zero; see `np.all`."""
        return np.all(self, *args, **options)

    def tolist(self: Any) -> Any:
        """Copy all elements to the host and return them as Python's lists."""
        return hooks.copies.to_host(self, "tolist()").tolist()

    def sort(self: Any, *args: Any, **options: Any) -> None:
        """Sort in place; see `np.sort`, for which there has to be a kernel."""
        self[...] = np.sort(self, *args, **options)

    def nonzero(self: Any) -> Any:
        """Places of what is not zero; see `np.nonzero`."""
        return np.nonzero(self)

    def clip(
        self: Any,
        min: Any = None,  # noqa: A002  (NumPy's name)
        max: Any = None,  # noqa: A002
        **options: Any,
    ) -> Any:
        """Return the elements within two limits; see `np.clip`."""
        return np.clip(self, min, max, **options)

    def round(self: Any, *args: Any, **options: Any) -> Any:
        """Return the nearest whole numbers; see `np.round`."""
        return np.round(self, *args, **options)

    def dot(self: Any, b: Any, **options: Any) -> Any:
        """Multiply vectors or matrices; see `np.dot`."""
        return np.dot(self, b, **options)

    def take(self: Any, indices: Any, *args: Any, **options: Any) -> Any:
        """Return the slices along an axis that indices name; see `np.take`."""
        return np.take(self, indices, *args, **options)

    def repeat(self: Any, repeats: int, *args: Any, **options: Any) -> Any:
        """Return each element several times; see `np.repeat`."""
        return np.repeat(self, repeats, *args, **options)

    def cumsum(self: Any, *args: Any, **options: Any) -> Any:
        """Return running sums along an axis; see `np.cumsum`."""
        return np.cumsum(self, *args, **options)
