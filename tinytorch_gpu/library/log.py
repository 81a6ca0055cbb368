"""`log` and `explain`: each op call in order, how it was served, and what it did.

Comes in: the timeline's records, which the dispatcher and the runtime write as things
happen. Goes out: an `OpLog`, a tree of entries. Nothing is worked out afterwards: the
keys of a path are those that the dispatcher asked.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.library.dispatcher import call
from tinytorch_gpu.library.log_entry import LogEntry
from tinytorch_gpu.library.log_text import table_text, tree_text
from tinytorch_gpu.memory.hooks import hooks
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.trace import (
    CopyRecord,
    LaunchRecord,
    OpRecord,
    RangeRecord,
    SynchronizeRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinytorch_gpu.trace import Record, Scope

__all__ = ["OpLog", "explain", "log"]


@dataclass
class _Node:
    """An op, range, launch, copy or wait, with what lies within it."""

    facts: dict[str, Any]
    children: list[_Node] = field(default_factory=list)


class OpLog:
    """What happened in a `with library.log()` block, as a tree; it grows as it happens.

    `print(log)` shows the tree, `log.table()` a row for each op and copy.

    Example:
        >>> print(OpLog())
        the log is empty
    """

    def __init__(self) -> None:
        self._top: list[_Node] = []
        self._scopes: dict[Scope, _Node] = {}

    def hear(self, record: Record) -> None:
        """Take in a record of the timeline."""
        facts = _facts(record)
        if facts is None:
            return
        if isinstance(record, (OpRecord, RangeRecord)) and record.scope is not None:
            self._of(record.scope).facts.update(facts)
        else:
            self._within(record.scope).append(_Node(facts))

    @property
    def entries(self) -> tuple[LogEntry, ...]:
        """All entries; those within an op follow it."""
        walked = _walked(self._top, 0)
        return tuple(
            LogEntry(number, depth, **node.facts)
            for number, (depth, node) in enumerate(walked, 1)
        )

    @property
    def ops(self) -> tuple[LogEntry, ...]:
        """The entries of ops."""
        return self._of_kind("op")

    @property
    def launches(self) -> tuple[LogEntry, ...]:
        """The entries of launches."""
        return self._of_kind("launch")

    @property
    def copies(self) -> tuple[LogEntry, ...]:
        """The entries of copies, each with its reason."""
        return self._of_kind("copy")

    def table(self) -> str:
        """Return a row for each op, copy and wait; launches are counted."""
        return table_text(self.entries)

    def __str__(self) -> str:
        """Show the tree: below an op stands what it did."""
        return tree_text(self.entries)

    def __repr__(self) -> str:
        """Count what the log holds."""
        parts = (len(self.ops), len(self.launches), len(self.copies))
        return "<OpLog: {} ops, {} launches, {} copies>".format(*parts)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """Return the entries in plain types; equal runs give equal values."""
        return {"entries": [entry.to_dict() for entry in self.entries]}

    def _of_kind(self, kind: str) -> tuple[LogEntry, ...]:
        return tuple(entry for entry in self.entries if entry.kind == kind)

    def _of(self, scope: Scope) -> _Node:
        """Return the node of an op or range; its place is that of its first record."""
        new = takewhile(lambda around: around not in self._scopes, scope.chain())
        for each in reversed(list(new)):  # no recursion: there may be very many
            kind = "op" if each.is_op else "range"
            node = _Node({"kind": kind, "name": each.name})
            self._within(each.parent).append(node)
            self._scopes[each] = node
        return self._scopes[scope]

    def _within(self, scope: Scope | None) -> list[_Node]:
        return self._top if scope is None else self._of(scope).children


def _walked(nodes: list[_Node], depth: int) -> Iterator[tuple[int, _Node]]:
    for node in nodes:
        yield depth, node
        yield from _walked(node.children, depth + 1)


def _facts(record: Record) -> dict[str, Any] | None:
    """Return what an entry tells of a record; None if the log leaves it out."""
    if isinstance(record, OpRecord):
        op = {"kind": "op", "name": record.op, "source": record.implementation}
        facts = {"shapes": record.shapes, "path": record.path, "error": record.error}
        return {**op, **facts}
    if isinstance(record, RangeRecord):
        return {"kind": "range", "name": record.name}
    if isinstance(record, LaunchRecord):
        kernel = {"name": record.kernel.name, "source": record.kernel}
        shape = {"grid": record.grid, "block": record.block}
        return {"kind": "launch", **kernel, **shape}
    if isinstance(record, CopyRecord):
        moved = {"name": record.direction, "bytes": record.bytes}
        return {"kind": "copy", "reason": record.reason, **moved}
    if isinstance(record, SynchronizeRecord):
        return {"kind": "wait", "name": record.kind, "reason": record.reason}
    return None


@contextmanager
def log() -> Iterator[OpLog]:
    """Write down each op call of a `with` block on the current device.

    Yields:
        The log.

    Example:
        >>> import numpy as np
        >>> from tinytorch_gpu import cuda, kernels
        >>> x = cuda.to_device(np.ones(3, np.float32))
        >>> with log() as seen:
        ...     y = x + x
        >>> print(seen)
        1 add of (3,) (3,)
            Profiler → SimGPU: add (threads.py:...)
        2   launch add_kernel (threads.py:...), 1 block of 4 threads

    Limits: leaves out host work such as `cudaMalloc`; what it costs tells the profiler.
    """
    seen = OpLog()
    hooks.look()
    listeners = current_device().timeline.listeners
    listeners.append(seen.hear)
    try:
        yield seen
    finally:
        listeners.remove(seen.hear)


def explain(op: str, *args: Any, **parameters: Any) -> OpLog:
    """Run an op and return the log of it: the keys, the kernel, launches and copies.

    Args:
        op: the op, for example `"tinytorch::softmax"`.
        *args: what it takes.
        **parameters: what it takes by name; also `decomposition` and `host`.

    Raises:
        MissingKernelError: nothing serves the op.

    Example:
        >>> import numpy as np
        >>> from tinytorch_gpu import cuda, kernels
        >>> seen = explain("tinytorch::exp", cuda.to_device(np.zeros(3, np.float32)))
        >>> [entry.name for entry in seen.launches]
        ['exp_kernel']
    """
    with log() as seen:
        call(op, *args, **parameters)
    return seen
