"""NumPy on device arrays: ufuncs and functions become ops or views.

A table says which op each NumPy function is. Shapes and views are answered without a
launch; what has no entry has no kernel and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import DeviceMismatchError, UnsupportedError
from tinytorch_gpu.library.dispatcher import call
from tinytorch_gpu.library.numpy_functions import FUNCTIONS
from tinytorch_gpu.memory import DeviceArray, hooks
from tinytorch_gpu.runtime import to_device

if TYPE_CHECKING:
    from tinytorch_gpu.memory.hooks import Ops

__all__ = ["UFUNC_OPS"]

UFUNC_OPS = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.true_divide: "div",
    np.power: "pow",
    np.maximum: "maximum",
    np.minimum: "minimum",
    np.greater: "gt",
    np.greater_equal: "ge",
    np.less: "lt",
    np.less_equal: "le",
    np.equal: "eq",
    np.not_equal: "ne",
    np.negative: "neg",
    np.exp: "exp",
    np.log: "log",
    np.sqrt: "sqrt",
    np.absolute: "abs",
    np.square: "square",
    np.tanh: "tanh",
    np.isfinite: "isfinite",
    np.logical_not: "logical_not",
    np.invert: "logical_not",
    np.matmul: "matmul",
}
REDUCTIONS = {np.add: "sum", np.maximum: "max", np.minimum: "min"}


class _NumpyOps:
    """The library's answer to `memory.hooks`."""

    def ufunc(
        self,
        ufunc: np.ufunc,
        method: str,
        inputs: tuple[Any, ...],
        options: dict[str, Any],
    ) -> Any:
        """Answer `__array_ufunc__`: an op for a call, a reduction for `reduce`."""
        if method == "reduce" and ufunc in REDUCTIONS:
            axis = options.get("axis", 0)
            keep = options.get("keepdims", False)
            return call(REDUCTIONS[ufunc], inputs[0], axis=axis, keepdims=keep)
        out = _checked_out(ufunc, method, inputs, options)
        parameters: dict[str, Any] = {} if out is None else {"out": out}
        name = UFUNC_OPS.get(ufunc, ufunc.__name__)
        return call(name, *inputs, host=ufunc, **parameters)

    def function(self, function: Any, args: Any, options: dict[str, Any]) -> Any:
        """Answer `__array_function__`."""
        answer = FUNCTIONS.get(function)
        if answer is not None:
            return answer(*args, **options)
        arrays = [a for a in args if isinstance(a, DeviceArray)]
        return call(function.__name__, *arrays, host=lambda *_: function(*args))

    def convert(self, array: DeviceArray, dtype: np.dtype[Any]) -> DeviceArray:
        """Copy an array into a new contiguous one of that dtype."""
        made: DeviceArray = call("copy", array, dtype=dtype)
        return made

    def assign(self, out: DeviceArray, value: Any) -> None:
        """Copy a value (broadcast) into every element of a device array."""
        if isinstance(value, DeviceArray):
            call("copy", value, out=out)
        elif np.ndim(value) == 0:
            call("fill", out, np.asarray(value)[()])
        else:
            host = np.broadcast_to(np.asarray(value), out.shape)
            to_device(host, "x[...] = host array", out=out)


def _checked_out(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> DeviceArray | None:
    """Return the `out` array; refuse what a launch cannot honour."""
    (out,) = options.pop("out", (None,))
    if method != "__call__" or options:
        raise UnsupportedError(
            f"np.{ufunc.__name__} with {method if method != '__call__' else options} "
            "on a device array",
            where=f"np.{ufunc.__name__}",
            why="device arrays answer plain calls, reduce of add and maximum, and out=",
            fix="write it with plain operators, or compute on the host: .cpu()",
        )
    if out is not None and not isinstance(out, DeviceArray):
        raise DeviceMismatchError(
            f"np.{ufunc.__name__} of a device array into a host array",
            where=f"host array of shape {out.shape} {ufunc.__name__}= device array",
            why="the result is in device memory, `out` is in host memory",
            fix='keep both on one device: x = x.to("simgpu"), or y = y.cpu()',
            shapes=tuple(np.shape(i) for i in inputs),
        )
    return out


_ops: Ops = _NumpyOps()
hooks.ops = _ops
