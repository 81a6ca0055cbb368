"""`LaunchTrace`: one launch, to ask questions of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import TraceQueryError
from tinytorch_gpu.trace import queries
from tinytorch_gpu.trace.answers import (
    AccessMatrix,
    FirstTouch,
    LaneHistory,
    LineTable,
    ThreadHistory,
    WarpHistory,
)
from tinytorch_gpu.trace.places import coordinates, spelled
from tinytorch_gpu.trace.recorded_launch import RecordedLaunch
from tinytorch_gpu.trace.trace_writer import write_trace

if TYPE_CHECKING:
    import os

    from tinytorch_gpu.trace.places import Place
    from tinytorch_gpu.trace.source import SourceLine

__all__ = ["LaunchTrace"]


class LaunchTrace(RecordedLaunch):
    """What happened in one launch, in which order.

    `with simgpu.tracing() as traces:` makes one for each launch. Its answers hold NumPy
    values and print as tables; `note` tells what was not kept. The order is that of the
    simulator: all threads of many blocks at once, or as `Settings.schedule` says. A GPU
    promises an order only within a thread and across barriers.

    Args: those of `RecordedLaunch`.

    Example:
        >>> import tinytorch_gpu as simgpu
        >>> from tinytorch_gpu import cuda
        >>> @cuda.jit
        ... def double(x, out):
        ...     i = cuda.grid(1)
        ...     if i < out.size:
        ...         out[i] = 2 * x[i]
        >>> with simgpu.tracing() as traces:
        ...     double[2, 32](np.arange(40.0), np.zeros(40))
        >>> trace = traces[0]     # the examples of the methods ask it, too
        >>> print(trace.thread(0, 3))
        block (0, 0, 0), thread (3, 0, 0)
        step  kind    element  value  line
        --------------------------------------------------
           0  branch  taken           4: if i < out.size:
           1  load    x[3]     3.0    5: out[i] = 2 * x[i]
           2  store   out[3]   6.0    5: out[i] = 2 * x[i]
    """

    def touching(
        self,
        array: str,
        index: Any,
        *,
        block: Place | None = None,
        thread: Place | None = None,
    ) -> LaneHistory:
        """Tell everything that touched an element, in order.

        Args:
            array: a parameter; or a shared, local or constant array as the kernel
                spells it.
            index: a number, or a tuple with one for each axis.
            block: only this block's accesses: a linear number or (x, y, z). Each block
                has its own shared arrays.
            thread: only this thread's. Each thread has its own local arrays.

        Raises:
            TraceQueryError: there is no such array, element, block or thread; or
                nothing is found and the trace is not complete.

        Example:
            >>> [(r.kind, r.thread, r.value) for r in trace.touching("out", 5)]
            [('store', (5, 0, 0), np.float64(10.0))]
        """
        found = self.array(array)
        cell = queries.element_cell(self, found, index)
        in_block = None if block is None else self.block_number(block)
        by = None if thread is None else self.thread_number(thread)
        rows = tuple(queries.touches(self, found, cell, in_block, by))
        is_here = in_block is not None or self.blocks is None
        is_here &= by is not None or self.warps is None
        element = spelled(array, index if isinstance(index, tuple) else (index,))
        self.check_kept(rows, element, is_chosen=is_here)
        return LaneHistory(f"everything that touched {element}", rows, self.note)

    def thread(self, block: Place, thread: Place) -> ThreadHistory:
        """Tell the history of one thread.

        Args:
            block: a linear number or (x, y, z).
            thread: likewise, within the block.

        Raises:
            TraceQueryError: there is no such block or thread; or nothing was kept of
                it, and the budget is full.

        Example:
            >>> [(r.kind, r.element or r.detail) for r in trace.thread(0, 5)]
            [('branch', 'taken'), ('load', 'x[5]'), ('store', 'out[5]')]
        """
        numbers = self.block_number(block), self.thread_number(thread)
        block_at = coordinates(numbers[0], self.grid)
        thread_at = coordinates(numbers[1], self.block)
        title = f"block {block_at}, thread {thread_at}"
        rows = tuple(queries.lane_records(self, *numbers))
        self.check_kept(rows, title)
        return ThreadHistory(title, rows, self.note)

    def warp(self, block: Place, warp: int) -> WarpHistory:
        """Tell what one warp did, step by step, with its active lanes.

        Args:
            block: a linear number or (x, y, z).
            warp: number of the warp in the block.

        Raises:
            TraceQueryError: there is no such block or warp; or as for `thread`.

        Example:
            >>> branch, load, store = trace.warp(1, 0)
            >>> branch.detail, load.active
            ('8 of 32 take it', '########........................')
        """
        number = self.block_number(block)
        rows = tuple(queries.warp_records(self, number, self.warp_number(warp)))
        title = f"block {coordinates(number, self.grid)}, warp {warp}"
        self.check_kept(rows, title)
        return WarpHistory(title, rows, self.note)

    def matrix(
        self, line: int | SourceLine, block: Place = 0, *, array: str = ""
    ) -> AccessMatrix:
        """Tell which elements each thread of a block touches at a line.

        Args:
            line: a source line, or its number in the file.
            block: a linear number or (x, y, z).
            array: only accesses to the array of this name; "" for all of the line.

        Returns:
            A row for each thread, a column for each access of the line.

        Raises:
            TraceQueryError: there is no such block, or no access of the line was kept.

        Example:
            >>> line = trace.steps[2].line
            >>> trace.matrix(line, block=1).elements[6:9].tolist()    # x and out
            [[38, 38], [39, 39], [-1, -1]]
        """
        number = getattr(line, "line", line)
        if array:
            self.array(array)
        steps, elements = queries.line_elements(
            self, number, self.block_number(block), array
        )
        title = f"elements at line {number}: {steps[0].line.text}"
        threads = np.arange(len(elements), dtype=np.int64)
        return AccessMatrix(title, steps, threads, elements, self.note)

    def first_touch(self, array: str, *, block: Place | None = None) -> FirstTouch:
        """Tell who first touched each element of an array.

        Args:
            array: as for `touching`.
            block: only this block's accesses, for shared arrays.

        Raises:
            TraceQueryError: there is no such array or block; or as for `touching`.

        Example:
            >>> first = trace.first_touch("out")
            >>> int(first.block[38]), int(first.thread[38]), str(first.kinds[38])
            (1, 6, 'store')
        """
        number = None if block is None else self.block_number(block)
        found = queries.first_touches(self, self.array(array), number)
        is_here = self.warps is None and (number is not None or self.blocks is None)
        is_touched = (found["step"] >= 0).any()
        self.check_kept(is_touched, f"`{array}`", is_chosen=is_here)
        title = f"who first touched each element of {array}"
        return FirstTouch(title, array, **found, note=self.note)

    def lines(self) -> LineTable:
        """Tell the exact counts of each line, of the whole launch.

        `profiler.profile().lines()` prints more, beside the kernel's whole source.

        Raises:
            TraceQueryError: the launch was not counted.

        Example:
            >>> [row.divergent_branches for row in trace.lines()]
            [1, 0]
        """
        if self.counts is None:
            raise TraceQueryError(
                "the launch has no counts",
                where=str(self.kernel),
                why=self.error or "counters were off",
                fix="mend what stopped it; what it did until then is in the steps"
                if self.error
                else "trace without settings.override(counters=False)",
            )
        title = f"{self.kernel}: the whole launch, by line"
        return LineTable(title, self.counts.lines, counts=self.counts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a file; one that is there is replaced when all is written.

        Args:
            path: by custom it ends in `.simtrace`.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     trace.save(f"{folder}/double.simtrace")
            ...     again = simgpu.load_trace(f"{folder}/double.simtrace")
            >>> len(again.steps)
            3
        """
        write_trace(self, path)

    def __repr__(self) -> str:
        """Tell the kernel, how much was kept, and what was not."""
        kept = f"{len(self.steps):,} steps of {self.kernel}"
        return f"<LaunchTrace: {'; '.join(filter(None, [kept, self.note]))}>"
