"""What a registered function may return: device arrays of the shape that the op has.

Only TinyTorch's own ops are checked; what other ops return is their own business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import KernelTypeError, ShapeError
from tinytorch_gpu.library.schema import parameters_of
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from tinytorch_gpu.library.registry import Registration

__all__ = ["check_result"]


def check_result(
    op: str, result: Any, operands: tuple[Any, ...], found: Registration
) -> None:
    """Refuse a result that is no device array, or has another shape than the op's.

    Args:
        op: qualified name.
        result: what the registered function returned.
        operands: what it was given.
        found: the registration, for the error.

    Raises:
        KernelTypeError: the result is no device array.
        ShapeError: an element-wise op's result has another shape than its operands.
    """
    if not op.startswith("tinytorch::"):
        return
    parts = result if _is_several(op, result) else (result,)
    if not all(
        isinstance(p, DeviceArray) for p in parts if p is not None or p is result
    ):
        raise KernelTypeError(
            f"the function registered for `{op}` returned {_kind(result)}",
            where=str(found.source),
            why="an op on device arrays gives a device array",
            fix="allocate it with out = cuda.device_array_like(x), and `return out`",
        )
    expected = _shape(op, operands)
    if expected is not None and result.shape != expected:
        raise ShapeError(
            f"the function registered for `{op}` returned shape {result.shape}",
            where=str(found.source),
            why=f"the operands give shape {expected}",
            fix=f"allocate `out` with shape {expected}",
            shape=result.shape,
        )


def _is_several(op: str, result: Any) -> bool:
    """Tell a tuple of results: gradients, where None stands for an input that has none.

    Max pooling returns two as well: what is largest, and where it stands.
    """
    has_parts = op.endswith(("_backward", "_with_indices"))
    return has_parts and isinstance(result, tuple) and len(result) > 0


def _kind(result: Any) -> str:
    return "nothing" if result is None else f"a {type(result).__name__}"


def _shape(op: str, operands: tuple[Any, ...]) -> tuple[int, ...] | None:
    """Return the result's shape of an element-wise op, None for other ops."""
    parameters = parameters_of(op)
    if not parameters.startswith(("(x, out", "(x, y, out")):
        return None
    arrays = (o.shape for o in operands if isinstance(o, DeviceArray))
    return np.broadcast_shapes(*arrays)
