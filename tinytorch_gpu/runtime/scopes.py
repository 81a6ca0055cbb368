"""`Scopes`: the host's clock, which ops are open, and who hears of every record.

Comes in: ops and ranges that begin and end, and finished records. Goes out: labels for
the records, and each record at once to every listener; none is kept. Each thread and
each asyncio task has open ops of its own.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from tinytorch_gpu.trace import RangeRecord, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinytorch_gpu.trace import OpRecord, Record

__all__ = ["Scopes"]


class Scopes:
    """The part of a timeline that labels records and hands them out."""

    def __init__(self) -> None:
        self.listeners: list[Callable[[Record], None]] = []
        self._host_ns = 0.0
        # Opened in this thread or task, the innermost last.
        self._opened: ContextVar[tuple[Scope, ...]] = ContextVar("scopes", default=())
        self._open: set[Scope] = set()  # in any thread

    @property
    def scope(self) -> Scope | None:
        """The innermost op or range that is open in this thread, or None."""
        opened = reversed(self._opened.get())
        return next((scope for scope in opened if scope in self._open), None)

    @property
    def host_ns(self) -> float:
        """Modelled time at which the host is."""
        return self._host_ns

    @property
    def current_op(self) -> str:
        """The innermost op that is running, or ""."""
        scopes = self.scope.chain() if self.scope else ()
        return next((scope.name for scope in scopes if scope.is_op), "")

    @contextmanager
    def op_scope(self, name: str) -> Iterator[Scope]:
        """Label the records that are made within the `with` block.

        Args:
            name: the op's qualified name.

        Yields:
            The scope.

        Example:
            >>> timeline = Scopes()
            >>> with timeline.op_scope("tinytorch::add"):
            ...     timeline.current_op
            'tinytorch::add'
        """
        scope = Scope(name, self.scope, is_op=True, start_ns=self.host_ns)
        with self._entered(scope):
            yield scope

    @contextmanager
    def range_scope(self, name: str) -> Iterator[None]:
        """Name what happens within the `with` block; a `RangeRecord` tells its times.

        Args:
            name: the range's name.

        Yields:
            Nothing.

        Example:
            >>> timeline = Scopes()
            >>> timeline.listeners.append(lambda record: print(record.name))
            >>> with timeline.range_scope("step"):
            ...     pass
            step
        """
        scope = Scope(name, self.scope, is_op=False, start_ns=self.host_ns)
        depth = sum(not around.is_op for around in scope.chain()) - 1
        try:
            with self._entered(scope):
                yield
        finally:
            end = self.host_ns
            self._tell(RangeRecord(name, scope.start_ns, end, depth, scope))

    @contextmanager
    def within(self, scope: Scope | None) -> Iterator[None]:
        """Label the records of the `with` block as those of an op that may be over.

        Args:
            scope: the op's; None changes nothing.

        Yields:
            Nothing.
        """
        opened, is_over = self._opened.get(), scope not in self._open
        if scope is None or scope is self.scope:
            yield
            return
        self._open.add(scope)
        self._opened.set((*opened, scope))
        try:
            yield
        finally:
            self._opened.set(opened)
            if is_over:
                self._open.discard(scope)

    @contextmanager
    def _entered(self, scope: Scope) -> Iterator[None]:
        """Make it the innermost open scope for a while.

        What a generator opens may be closed within another block, or by another thread:
        exactly this scope ends, whichever is the innermost then.
        """
        self._open.add(scope)
        self._opened.set((*self._opened.get(), scope))
        try:
            yield
        finally:
            self._open.discard(scope)
            still = (one for one in self._opened.get() if one in self._open)
            self._opened.set(tuple(still))

    def add_op(self, record: OpRecord) -> None:
        """Hand the record of one op to the listeners; it takes no modelled time."""
        self._tell(record)

    def _tell(self, record: Record) -> None:
        for listener in tuple(self.listeners):
            listener(record)
