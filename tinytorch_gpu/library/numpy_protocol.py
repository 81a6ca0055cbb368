"""NumPy on device arrays: ufuncs and functions become ops or views.

Tables say which op each NumPy function is, or of which ops it is made. Shapes and views
are answered without a launch; what has no entry has no kernel and says so.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import (
    DeviceMismatchError,
    DtypeError,
    HostAccessError,
    UnsupportedError,
)
from tinytorch_gpu.library import numpy_indexing
from tinytorch_gpu.library.dispatcher import call
from tinytorch_gpu.library.numpy_functions import FUNCTIONS
from tinytorch_gpu.memory import DeviceArray, hooks
from tinytorch_gpu.runtime import to_device

if TYPE_CHECKING:
    from collections.abc import Callable

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
    np.isnan: "isnan",
    np.floor: "floor",
    np.ceil: "ceil",
    np.trunc: "trunc",
    np.rint: "round",
    np.sign: "sign",
    np.sin: "sin",
    np.cos: "cos",
    np.log1p: "log1p",
    np.expm1: "expm1",
    np.reciprocal: "reciprocal",
    np.floor_divide: "floor_divide",
    np.remainder: "remainder",
    np.logaddexp: "logaddexp",
    np.logical_not: "logical_not",
    np.logical_and: "logical_and",
    np.logical_or: "logical_or",
    np.bitwise_and: "logical_and",
    np.bitwise_or: "logical_or",
    np.invert: "logical_not",
    np.matmul: "matmul",
}
REDUCTIONS = {
    np.add: "sum",
    np.multiply: "prod",
    np.maximum: "max",
    np.minimum: "min",
}
# They write elements into a file or a text, which the host does.
WRITING = {
    np.save, np.savez, np.savez_compressed, np.savetxt,
    np.array2string, np.array_repr, np.array_str,
}  # fmt: skip
BIT_BY_BIT = {np.invert, np.bitwise_and, np.bitwise_or}
# Ufuncs without an op of their own, made of further ones; a registered kernel is first.
COMPOSED: dict[np.ufunc, Callable[..., Any]] = {
    np.isinf: lambda x: call("eq", call("abs", x), np.inf),
    np.fabs: lambda x: call("abs", _as_floats(x)),
    np.log2: lambda x: np.log(x) / math.log(2),
    np.log10: lambda x: np.log(x) / math.log(10),
    np.exp2: lambda x: 2.0 ** _as_floats(x),
    np.fmax: lambda x, y: np.where((x >= y) | (y != y), x, y),  # noqa: PLR0124
    np.fmin: lambda x, y: np.where((x <= y) | (y != y), x, y),  # noqa: PLR0124
}


NO_NUMBERS = (type(None), complex, str, bytes)


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
        is_plain = not set(options) - {"axis", "keepdims"}
        if method == "reduce" and ufunc in REDUCTIONS and is_plain:
            return call(REDUCTIONS[ufunc], inputs[0], **{"axis": 0, **options})
        if method == "at" and ufunc is np.add and not options:
            numpy_indexing.add_at(*inputs)
            return None
        if ufunc in BIT_BY_BIT and any(_kind(value) != "b" for value in inputs):
            raise _unsupported(ufunc.__name__, "integers")
        if ufunc is np.rint:
            inputs = (_as_floats(inputs[0]),)  # np.round of integers is none
        out = _checked_out(ufunc, method, inputs, options)
        name = UFUNC_OPS.get(ufunc, ufunc.__name__)
        own = COMPOSED.get(ufunc)
        if out is None or own or ufunc is np.matmul:
            parts = partial(own, *inputs) if own else None
            result = call(name, *inputs, decomposition=parts, host=ufunc)
            return result if out is None else self._stored(out, result)
        return call(name, *inputs, host=ufunc, out=out)

    def _stored(self, out: DeviceArray, result: DeviceArray) -> DeviceArray:
        """Copy a result that had to be complete before `out` is written."""
        call("copy", result, out=out)
        return out

    def function(self, function: Any, args: Any, options: dict[str, Any]) -> Any:
        """Answer `__array_function__`."""
        answer = FUNCTIONS.get(function)
        if function in WRITING:
            raise _host_only(function.__name__, args)
        if answer is None:
            return call(function.__name__, *args, host=function, **options)
        try:
            return answer(*args, **options)
        except TypeError as error:
            trace = error.__traceback__
            if trace is None or trace.tb_next is not None:
                raise  # it came from inside, not from the arguments
            raise _unsupported(function.__name__, "these arguments") from None

    def convert(self, array: DeviceArray, dtype: np.dtype[Any]) -> DeviceArray:
        """Copy an array into a new contiguous one of that dtype."""
        made: DeviceArray = call("copy", array, dtype=dtype)
        return made

    def gather(self, array: DeviceArray, key: Any) -> DeviceArray:
        """Return the elements that a key with index arrays or a mask names."""
        return numpy_indexing.gather(array, key)

    def scatter(self, array: DeviceArray, key: Any, value: Any) -> None:
        """Write where a key with index arrays or a mask says."""
        numpy_indexing.scatter(array, key, value)

    def assign(self, out: DeviceArray, value: Any) -> None:
        """Copy a value (broadcast) into every element of a device array."""
        extra = np.ndim(value) - out.ndim
        if extra > 0 and np.shape(value)[:extra] == (1,) * extra:
            value = np.reshape(value, np.shape(value)[extra:])  # as NumPy takes it
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
    odd = next((v for v in inputs if isinstance(v, NO_NUMBERS)), ...)
    if odd is not ... and not (odd is None and ufunc in (np.equal, np.not_equal)):
        raise DtypeError(
            f"np.{ufunc.__name__} of a device array and {odd!r}",
            where=f"np.{ufunc.__name__}",
            why=f"a {type(odd).__name__} has no dtype that device memory holds",
            fix="give a number: an int, a float or a bool",
        )
    (out,) = options.pop("out", (None,))
    if method != "__call__" or options:
        given = method if method != "__call__" else ", ".join(options)
        raise _unsupported(ufunc.__name__, given)
    if out is not None and not isinstance(out, DeviceArray):
        raise DeviceMismatchError(
            f"np.{ufunc.__name__} of a device array into a host array",
            where=f"host array of shape {out.shape} {ufunc.__name__}= device array",
            why="the result is in device memory, `out` is in host memory",
            fix='keep both on one device: x = x.to("simgpu"), or y = y.cpu()',
            shapes=tuple(np.shape(i) for i in inputs),
        )
    return out


def _as_floats(x: DeviceArray) -> DeviceArray:
    """Return integers and bools as float64, in which NumPy computes with them."""
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def _kind(value: Any) -> str:
    return np.result_type(getattr(value, "dtype", value)).kind


def _host_only(name: str, args: tuple[Any, ...]) -> HostAccessError:
    """Tell that a function of the host needs a copy first."""
    given = next((a for a in args if isinstance(a, DeviceArray)), None)
    array = "a device array"
    if given is not None:
        array = f"a {given.dtype} {given.shape} array on {given.device}"
    return HostAccessError(
        f"np.{name} of {array}",
        where=f"np.{name}",
        why="it writes the elements, which are in device memory, on the host",
        fix=f"copy first: np.{name} of tensor.cpu().numpy(), or of x.copy_to_host()",
    )


def _unsupported(name: str, given: str) -> UnsupportedError:
    return UnsupportedError(
        f"np.{name} with {given} on a device array",
        where=f"np.{name}",
        why="device arrays answer plain calls, axis, keepdims, dtype and out where a "
        "kernel takes them,\nand reduce of add, multiply, maximum and minimum",
        fix="write it with plain operators, or compute on the host: .cpu()",
    )


hooks.ops = _NumpyOps()
