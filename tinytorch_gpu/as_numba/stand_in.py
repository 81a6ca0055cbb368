"""Modules that stand in for numba's: their names, and what a missing name says."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from tinytorch_gpu.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["MissingModuleError", "MissingNameError", "StandIn"]

_WHY = "it is not among the names of numba that tinytorch_gpu stands in for"


class MissingNameError(UnsupportedError, AttributeError):
    """A name of numba that the stand-in does not have."""


class MissingModuleError(UnsupportedError, ModuleNotFoundError):
    """A module of numba that the stand-in does not have.

    Args:
        name: dotted name of the module.
    """

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no module {name} under as_numba",
            where=f"import {name}",
            why=_WHY,
            fix="import it under try/except ImportError, or run this file on a GPU",
        )
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the module's name."""
        return MissingModuleError, (self.name,)


class StandIn(ModuleType):
    """A module whose attributes are looked up here and refused by name.

    Args:
        name: dotted name of the module that it stands in for.
        behind: namespaces asked in this order: modules or mappings.

    Example:
        >>> import math
        >>> module = StandIn("numba.cuda.example", {"one": 1}, math)
        >>> module.one, module.floor(2.5)
        (1, 2)
        >>> hasattr(module, "two")
        False
    """

    def __init__(self, name: str, *behind: ModuleType | Mapping[str, Any]) -> None:
        super().__init__(name, f"{name}, as tinytorch_gpu runs it.")
        self.__path__: list[str] = []  # a package, so that its parts can be imported
        self._behind = behind
        self.__all__ = self.__dir__()

    def __getattr__(self, name: str) -> Any:
        """Find a name that is not the module's own.

        Raises:
            MissingNameError: none of the namespaces has it.
        """
        for space in self.__dict__.get("_behind", ()):
            if name in _public(space):
                is_module = isinstance(space, ModuleType)
                return getattr(space, name) if is_module else space[name]
        raise MissingNameError(
            f"{self.__name__} has no {name} under as_numba",
            where=f"{self.__name__}.{name}",
            why=_WHY,
            fix="use a name that docs/reference/cuda.md lists, or run it on a GPU",
        )

    def __dir__(self) -> list[str]:
        """List the public names."""
        return sorted({name for space in self._behind for name in _public(space)})


def _public(space: ModuleType | Mapping[str, Any]) -> Iterable[str]:
    """Name what a module or a mapping offers; a module offers its `__all__`."""
    if isinstance(space, ModuleType):
        return cast("list[str]", getattr(space, "__all__", None) or vars(space))
    return space
