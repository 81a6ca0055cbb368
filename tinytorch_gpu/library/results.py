"""What a registered function may return: device arrays as the op's rule says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import DtypeError, KernelTypeError, ShapeError
from tinytorch_gpu.library.fakes import expected_results
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from tinytorch_gpu.library.fakes import FakeArray
    from tinytorch_gpu.library.registration import Registration

__all__ = ["check_result", "parts_of"]


def check_result(
    op: str,
    result: Any,
    operands: tuple[Any, ...],
    parameters: dict[str, Any],
    found: Registration,
) -> None:
    """Refuse a result that is no device array, or is not what the op's rule says.

    Args:
        op: qualified name; other ops than TinyTorch's are checked if they have a rule.
        result: what the registered function returned.
        operands: what it was given.
        parameters: what it was given by name.
        found: the registration, for the error.

    Raises:
        KernelTypeError: the result is no device array, or too few or too many.
        ShapeError: it has another shape than the rule says.
        DtypeError: it has another dtype.
    """
    expected = expected_results(op, operands, parameters)
    if expected is None and not op.startswith("tinytorch::"):
        return
    parts = parts_of(result)
    # None stands for an input that gets no gradient.
    arrays = [p for p in parts if p is not None or p is result]
    is_several = op.endswith("_backward") or expected is None or len(expected) > 1
    if isinstance(result, (tuple, list)) and not is_several:
        raise _no_array(op, result, found)
    if not arrays or not all(isinstance(p, DeviceArray) for p in arrays):
        raise _no_array(op, result, found)
    if expected is None:
        return
    if len(parts) != len(expected) and not op.endswith("_backward"):
        raise _other_count(op, len(parts), len(expected), found)
    for part, wanted in zip(parts, expected, strict=False):
        if part is not None and wanted is not None:
            _check_array(op, part, wanted, found)


def parts_of(result: Any) -> tuple[Any, ...]:
    """Return an op's results as a tuple."""
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def _check_array(
    op: str, result: DeviceArray, wanted: FakeArray, found: Registration
) -> None:
    if result.shape != wanted.shape:
        raise ShapeError(
            f"the function registered for `{op}` returned shape {result.shape}",
            where=str(found.source),
            why=f"the operands give shape {wanted.shape}",
            fix=f"allocate `out` with shape {wanted.shape}",
            shape=result.shape,
        )
    if result.dtype != wanted.dtype:
        raise DtypeError(
            f"the function registered for `{op}` returned {result.dtype.name}",
            where=str(found.source),
            why=f"the operands give {wanted.dtype.name}",
            fix=f"allocate it: out = cuda.device_array({wanted.shape}, "
            f"np.{wanted.dtype.name})",
            dtype=result.dtype,
        )


def _no_array(op: str, result: Any, found: Registration) -> KernelTypeError:
    kind = "nothing" if result is None else f"a {type(result).__name__}"
    return KernelTypeError(
        f"the function registered for `{op}` returned {kind}",
        where=str(found.source),
        why="an op on device arrays gives a device array",
        fix="allocate it with out = cuda.device_array_like(x), and `return out`",
    )


def _other_count(
    op: str, given: int, wanted: int, found: Registration
) -> KernelTypeError:
    return KernelTypeError(
        f"the function registered for `{op}` returned {given} results",
        where=str(found.source),
        why=f"the op gives {wanted}",
        fix="return one array for each result of the op",
    )
