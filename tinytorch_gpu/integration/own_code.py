"""The learner's own code as an op of its own, so that reports can tell that it ran."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.library import call, has_kernel
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["hangs_node", "own_code", "tensor_by_own_code"]


def own_code(
    op: str, arrays: Sequence[Any], code: Callable[[], Any], autograd: str = ""
) -> Any:
    """Run the learner's own code as an op, though a kernel may be there for the op.

    Args:
        op: the op's name; where it has a kernel that does not fit, the name gets a
            suffix, so that no report says that the kernel ran.
        arrays: what the report tells the shapes of.
        code: the learner's code.
        autograd: what of TinyTorch's autograd calls, as in `call`.
    """
    name = f"{op}_own_code" if has_kernel(op) else op
    return call(name, *arrays, decomposition=code, autograd=autograd)


def tensor_by_own_code(
    op: str, arrays: Sequence[Any], code: Callable[[], Any], autograd: str = ""
) -> Any:
    """Run a learner's method as an op; what it gives, and its node, stay.

    Args:
        op: the op's name, as in `own_code`.
        arrays: what the report tells the shapes of.
        code: the method.
        autograd: what of TinyTorch's autograd calls, as in `call`.
    """
    made: list[Any] = []

    def decomposition() -> Any:
        made.append(code())
        data = getattr(made[0], "data", None)
        return data if isinstance(data, DeviceArray) else made[0]

    own_code(op, arrays, decomposition, autograd)
    return made[0]


def hangs_node(method: Callable[..., Any]) -> bool:
    """Tell whether a method of generation A is autograd's: it sets `_grad_fn`.

    Args:
        method: what stands in the class.

    Example:
        >>> hangs_node(own_code)
        False
    """
    return "_grad_fn" in inspect.unwrap(method).__code__.co_names
