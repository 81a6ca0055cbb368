"""`Scope`: an op or a named range that is open while other things happen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Scope"]


@dataclass(frozen=True, eq=False, slots=True)
class Scope:
    """One run of an op, or of a named range; told apart by identity.

    Args:
        name: the op's qualified name, or the range's name.
        parent: what was open around it, or None.
        is_op: an op; otherwise a range.
        start_ns: modelled host time at its start.

    Example:
        >>> step = Scope("step", None, is_op=False)
        >>> add = Scope("tinytorch::add", step, is_op=True)
        >>> [scope.name for scope in add.chain()]
        ['tinytorch::add', 'step']
    """

    name: str
    parent: Scope | None
    is_op: bool
    start_ns: float = 0.0

    def chain(self) -> Iterator[Scope]:
        """Yield this scope and all around it, the innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent
