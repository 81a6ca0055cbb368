"""Device functions declared with a signature: arguments and result are converted.

A call in a kernel takes the signature that loses least; every number is cast to the
declared type, floats to integers too, as numba's compiler does.

Source: numba.cuda 0.30.4 (resolution of calls to declared device functions).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.introspection import dummy_of_type
from tinytorch_gpu.cuda.rewrite import KernelFunction
from tinytorch_gpu.cuda.signature import losses
from tinytorch_gpu.cuda.types import ArrayType, NoneType, ScalarType, Signature, Type
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.conversion import cast
from tinytorch_gpu.executor.kernel_array import KernelArray

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType

    from tinytorch_gpu.cuda.program import DeviceProgram

__all__ = ["DeclaredFunction"]


class DeclaredFunction(KernelFunction):
    """A device function with signatures.

    Args:
        function: the decorated Python function.
        function_of: as in `KernelFunction`.
        declared: the signatures.
    """

    def __init__(
        self,
        function: FunctionType,
        function_of: Callable[[Any], KernelFunction | None],
        declared: tuple[Signature, ...],
    ) -> None:
        super().__init__(function, function_of)
        self._declared = declared

    def device_program(self, dummies: list[Any]) -> DeviceProgram:
        """Return the program for these types of arguments, which it converts.

        Args:
            dummies: one for each parameter.

        Raises:
            KernelTypeError: they fit no signature.
        """
        fitting = [s for s in self._declared if _fits(s, dummies)]
        if not fitting:
            raise _no_match(self.text.name, self._declared)
        best = min(fitting, key=lambda signature: losses(signature, dummies))
        inner = super().device_program(list(map(_parameter, best.args, dummies)))
        return _converting(inner, best)


def _fits(signature: Signature, dummies: list[Any]) -> bool:
    return len(signature.args) == len(dummies) and all(
        map(_accepts, signature.args, dummies)
    )


def _accepts(declared: Type, dummy: Any) -> bool:
    if isinstance(declared, ArrayType):
        return isinstance(dummy, KernelArray) and (
            (dummy.element_dtype, len(dummy.lengths))
            == (declared.element.dtype, declared.ndim)
        )
    if isinstance(declared, ScalarType):
        return isinstance(dummy, np.generic)
    return dummy is None


def _parameter(declared: Type, dummy: Any) -> Any:
    """Return the dummy that the function sees."""
    return dummy_of_type(declared) if isinstance(declared, ScalarType) else dummy


def _converting(inner: DeviceProgram, signature: Signature) -> DeviceProgram:
    """Wrap a program: numbers become the declared types on the way in and out."""
    result, returned = signature.return_type, inner.returned
    if isinstance(result, (ScalarType, NoneType)):
        returned = dummy_of_type(result)
    return replace(
        inner,
        returned=returned,
        plain=_wrapped(inner, "plain", signature),
        counted=_wrapped(inner, "counted", signature),
    )


def _wrapped(
    inner: DeviceProgram, which: str, signature: Signature
) -> Callable[..., Any]:
    def prepared(arguments: tuple[Any, ...]) -> list[Any]:
        return [_cast(v, t) for v, t in zip(arguments, signature.args, strict=True)]

    def run(batch: Any, mask: Any, *arguments: Any) -> Any:
        done = getattr(inner, which)(batch, mask, *prepared(arguments))
        return _cast(done, signature.return_type)

    def suspend(batch: Any, mask: Any, *arguments: Any) -> Any:
        done = yield from getattr(inner, which)(batch, mask, *prepared(arguments))
        return _cast(done, signature.return_type)

    return suspend if inner.is_resumable else run


def _cast(value: Any, declared: Type | None) -> Any:
    return cast(value, declared.dtype) if isinstance(declared, ScalarType) else value


def _no_match(name: str, declared: tuple[Signature, ...]) -> KernelTypeError:
    return KernelTypeError(
        f"a call of {name} fits no signature of it",
        why="declared: " + "\n".join(map(repr, declared)),
        fix="pass numbers and arrays of the declared types, or drop the signature",
    )
