"""Device functions declared with a signature: what a call converts.

A call in a kernel takes the signature that loses least; every number is cast to the
declared type, floats to integers too, as numba's compiler does.

Source: numba.cuda 0.30.4 (resolution of calls to declared device functions).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.introspection import dummy_of_type
from tinytorch_gpu.cuda.program import PENDING
from tinytorch_gpu.cuda.signature import best_signature
from tinytorch_gpu.cuda.types import ArrayType, NoneType, ScalarType, Type
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.kernel_array import KernelArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.cuda.types import Signature

__all__ = ["declared_dummies"]


def declared_dummies(
    name: str, declared: Sequence[Signature], dummies: Sequence[Any]
) -> tuple[list[Any], Any]:
    """Return what a call's arguments and its result are converted to.

    Args:
        name: the function's, for the error.
        declared: its signatures.
        dummies: of the arguments.

    Returns:
        A dummy for each parameter, and that of the result: PENDING when none is told
        or an array is, since the function tells then.

    Raises:
        KernelTypeError: the arguments fit no signature.

    Example:
        >>> from tinytorch_gpu.cuda.types import float32, int8
        >>> declared_dummies("f", [int8(float32)], [np.float64(1)])
        ([np.float32(1.0)], np.int8(1))
    """
    best = best_signature(declared, dummies, _accepts)
    if best is None:
        raise _no_match(name, declared)
    parameters = list(map(_parameter, best.args, dummies))
    result = best.return_type
    if isinstance(result, (ScalarType, NoneType)):
        return parameters, dummy_of_type(result)
    return parameters, PENDING


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


def _no_match(name: str, declared: Sequence[Signature]) -> KernelTypeError:
    return KernelTypeError(
        f"a call of {name} fits no signature of it",
        why="declared: " + "\n".join(map(repr, declared)),
        fix="pass numbers and arrays of the declared types, or drop the signature",
    )
