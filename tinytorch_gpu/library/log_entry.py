"""`LogEntry`: one line of the log of ops."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinytorch_gpu.trace import KernelSource

__all__ = ["LogEntry"]


@dataclass(frozen=True)
class LogEntry:
    """One line of the log.

    Args:
        number: position in the log, from 1.
        depth: how many entries it lies within.
        kind: `op`, `launch`, `copy`, `wait` or `range`.
        name: the op's qualified name, the kernel's name, the copy's direction, what was
            waited for, or the range's name.
        shapes: of an op's array operands.
        path: of an op, the keys that it came by, and what was met at each.
        source: name, file and line of the registered function, or of the kernel.
        grid: of a launch, blocks in x, y, z.
        block: of a launch, threads in x, y, z.
        bytes: of a copy.
        reason: of a copy or a wait, what asked for it.
        error: of an op that raised, the error in one line.
    """

    number: int
    depth: int
    kind: str
    name: str
    shapes: tuple[tuple[int, ...], ...] = ()
    path: tuple[tuple[str, str], ...] = ()
    source: KernelSource | None = None
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    bytes: int = 0
    reason: str = ""
    error: str = ""

    @property
    def key(self) -> str:
        """The dispatch key that served an op, or "" if it raised."""
        return self.path[-1][0] if self.path and not self.error else ""

    def to_dict(self) -> dict[str, Any]:
        """Return all fields in plain types; of a source the name, file and line."""
        return {**asdict(self), "source": str(self.source) if self.source else ""}
