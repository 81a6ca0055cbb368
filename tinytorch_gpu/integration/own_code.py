"""The learner's own code as an op of its own, so that reports can tell that it ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.library import call, has_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["own_code", "tensor_by_own_code"]


def own_code(op: str, arrays: Sequence[Any], code: Callable[[], Any]) -> Any:
    """Run the learner's own code as an op, though a kernel may be there for the op.

    Args:
        op: the op's name; where it has a kernel that does not fit, the name gets a
            suffix, so that no report says that the kernel ran.
        arrays: what the report tells the shapes of.
        code: the learner's code.
    """
    name = f"{op}_own_code" if has_kernel(op) else op
    return call(name, *arrays, decomposition=code)


def tensor_by_own_code(op: str, arrays: Sequence[Any], code: Callable[[], Any]) -> Any:
    """Run a learner's method as an op; it gives a Tensor, and hangs its node on.

    Args:
        op: the op's name, as in `own_code`.
        arrays: what the report tells the shapes of.
        code: the method.
    """
    made: list[Any] = []

    def decomposition() -> Any:
        made.append(code())
        return made[0].data

    own_code(op, arrays, decomposition)
    return made[0]
