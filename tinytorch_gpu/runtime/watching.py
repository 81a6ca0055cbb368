"""Who listens to launches beside the counters: traces and sanitizers.

`with watching(recorder):` lets a recorder hear all launches of the block, each from
`begin` to `end`. Launches that are watched are always run in full.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tinytorch_gpu.memory.hooks import hooks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinytorch_gpu.trace import Recorder

__all__ = ["watchers", "watching"]

_watchers: list[Recorder] = []


def watchers() -> tuple[Recorder, ...]:
    """Return the recorders that listen now, the first to listen first.

    Example:
        >>> watchers()
        ()
    """
    return tuple(_watchers)


@contextmanager
def watching(recorder: Recorder) -> Iterator[None]:
    """Let a recorder hear all launches of a `with` block, whoever else puts them off.

    Args:
        recorder: what listens.

    Yields:
        Nothing.

    Example:
        >>> from tinytorch_gpu.trace import Recorder
        >>> with watching(Recorder()):
        ...     len(watchers())
        1
    """
    hooks.look()
    _watchers.append(recorder)
    try:
        yield
    finally:
        _watchers.remove(recorder)
