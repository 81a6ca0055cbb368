"""A registration: a function as the table of kernels holds it, and the fallthrough."""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.memory.origin import PACKAGE
from tinytorch_gpu.trace import KernelSource

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Registration", "fallthrough_kernel", "registration"]


def fallthrough_kernel(*_: Any, **__: Any) -> Any:
    """Stand for "skip this key, ask the next"; to be registered, not to be called.

    Raises:
        UnsupportedError: it is called.
    """
    raise UnsupportedError(
        "fallthrough_kernel was called",
        where="library.fallthrough_kernel",
        why="it has no code: the dispatcher passes on where it is registered",
        fix='register it: library.register_kernel("mine::op", "Autograd",\n'
        "library.fallthrough_kernel)",
    )


@dataclass(frozen=True, eq=False)
class Registration:
    """One registered function.

    Args:
        function: the host function that launches the kernels.
        source: its name, file and line.
    """

    function: Callable[..., Any]
    source: KernelSource

    @property
    def is_shipped(self) -> bool:
        """Whether it came with this package."""
        return self.source.file.startswith(PACKAGE)

    @property
    def is_fallthrough(self) -> bool:
        """Whether it passes every call on to the next key."""
        return self.function is fallthrough_kernel


def registration(function: Any) -> Registration:
    """Return what the table holds of a function.

    Raises:
        UnsupportedError: it is no Python function.
    """
    if not isinstance(function, FunctionType):
        raise UnsupportedError(
            f"a {type(function).__name__} registered as an op's kernel",
            where="library.impl",
            why="the op calls a Python function that allocates `out` and launches",
            fix="write a function: def op(x): out = cuda.device_array_like(x);\n"
            "kernel[grid, block](x, out); return out",
        )
    return Registration(function, KernelSource.of(function))
