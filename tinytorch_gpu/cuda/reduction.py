"""`cuda.reduce`: a reduction kernel made of a function of two values.

Each block of 128 threads strides over the array; its warps combine their values in
halves, and a last launch of one block combines the blocks. The order of combination is
numba's, so that float results are the same to the last bit.

Source: numba.cuda 0.30.4, `Reduce` (order of combination, parameters).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cuda.arrays import device_array, to_device
from tinytorch_gpu.cuda.jit import Kernel, jit
from tinytorch_gpu.cuda.reduction_kernels import (
    BLOCK,
    rest_kernel,
    whole_blocks_kernel,
)
from tinytorch_gpu.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from tinytorch_gpu.memory import DeviceArray

__all__ = ["Reduce", "reduce"]

MOST_BLOCKS = 64


class Reduce:
    """A reduction of one-dimensional arrays; use as `@cuda.reduce`.

    Args:
        functor: function of two values, associative and commutative; plain Python or
            `@cuda.jit(device=True)`.

    Example:
        >>> import numpy as np
        >>> @Reduce
        ... def largest(a, b):
        ...     return max(a, b)
        >>> largest(np.array([3, 9, 4], np.int32))
        np.int32(9)
    """

    def __init__(self, functor: Callable[[Any, Any], Any]) -> None:
        self._functor = functor if isinstance(functor, Kernel) else jit(functor)
        self._kernels: dict[np.dtype[Any], tuple[Kernel, Kernel]] = {}

    def __call__(
        self,
        arr: Any,
        size: int | None = None,
        res: DeviceArray | None = None,
        init: Any = 0,
        stream: Any = 0,
    ) -> Any:
        """Reduce an array by launches of kernels.

        Args:
            arr: device or host array, (n,).
            size: elements to reduce, from the first on; all if None.
            res: device array that gets the result as its first element.
            init: combined with the result once; converted to the array's dtype. It is
                the result for an empty array.
            stream: on which to launch.

        Returns:
            The result, copied to the host; None when `res` is given.

        Raises:
            ShapeError: the array has not one axis.
        """
        if arr.ndim != 1:
            raise _not_one_axis(arr)
        start = arr.dtype.type(init)
        values = arr if size is None else arr[:size]
        if values.size == 0:
            return start
        total = self._total(to_device(values), start, stream)
        if res is None:
            return total[0]
        res[:1].copy_to_device(total, stream=stream)
        return None

    def _total(self, values: DeviceArray, init: Any, stream: Any) -> DeviceArray:
        """Return the result as a device array, (1,)."""
        if values.dtype not in self._kernels:
            self._kernels[values.dtype] = (
                whole_blocks_kernel(self._functor, values.dtype),
                rest_kernel(self._functor, values.dtype),
            )
        whole, rest = self._kernels[values.dtype]
        split = values.size - values.size % BLOCK
        body, tail = values[:split], values[split:]
        blocks = min(split // BLOCK, MOST_BLOCKS)
        partials = device_array(blocks + min(tail.size, 1), values.dtype)
        takes_init = True
        if blocks:
            whole[blocks, BLOCK, stream](body, partials[:blocks], init, takes_init)
            takes_init = False
        if tail.size:
            rest[1, tail.size, stream](tail, partials[blocks:], init, takes_init)
            takes_init = False
        if partials.size > 1:
            rest[1, partials.size, stream](partials, partials, init, takes_init)
        result: DeviceArray = partials[:1]
        return result


def _not_one_axis(array: Any) -> ShapeError:
    return ShapeError(
        f"a reduction of a {array.dtype} {array.shape} array",
        where="cuda.reduce",
        why="it takes arrays with one axis",
        fix="flatten it: array.reshape(-1)",
        shape=array.shape,
    )


reduce = Reduce
