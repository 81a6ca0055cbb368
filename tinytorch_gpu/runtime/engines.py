"""`Engines`: the parts of a device that work at the same time, each a queue in order.

Comes in: work with the time from which it may run. Goes out: the time at which it does.

Source: CUDA C++ Programming Guide, "Asynchronous Concurrent Execution" (overlap needs
an engine for each side); `asyncEngineCount` of the device properties.
"""

from __future__ import annotations

__all__ = ["Engines"]

_QUEUES = {  # by number of copy engines: who serves kernels, copies in, copies out
    0: {"compute": "compute", "h2d": "compute", "d2h": "compute"},
    1: {"compute": "compute", "h2d": "copy", "d2h": "copy"},
    2: {"compute": "compute", "h2d": "h2d", "d2h": "d2h"},
}


class Engines:
    """One engine that computes, and up to two that copy between host and device.

    Args:
        copy_engines: 0 (a copy stops all kernels), 1 (one direction at a time), or
            2 and more (both directions at a time).

    Example:
        >>> engines = Engines(copy_engines=2)
        >>> engines.run("h2d", 0.0, 10.0), engines.run("h2d", 0.0, 10.0)
        (0.0, 10.0)
        >>> engines.run("compute", 5.0, 10.0), engines.idle_ns     # beside the copies
        (5.0, 20.0)
    """

    # Simplified: an engine takes work in the order of issue, so that a kernel whose
    # stream waits for a copy holds up the kernels behind it. GPUs of compute capability
    # 3.5 and later look at up to 32 streams and run another one first: faster by as
    # long as the wait. Kernels never share the GPU: two that fill less than half of it
    # each would take half the time side by side.

    def __init__(self, copy_engines: int) -> None:
        self._queue_of = _QUEUES[min(copy_engines, 2)]
        self._free_ns = dict.fromkeys(self._queue_of.values(), 0.0)

    @property
    def idle_ns(self) -> float:
        """Modelled time at which all engines have done all their work."""
        return max(self._free_ns.values())

    def name_of(self, direction: str) -> str:
        """Name the engine that copies in a direction.

        Args:
            direction: `h2d`, `d2h` or `d2d`.

        Returns:
            `h2d` or `d2h`, each an engine of its own; `copy` where one engine serves
            both; `compute` for the engine of the kernels.

        Example:
            >>> [Engines(copy_engines).name_of("h2d") for copy_engines in (0, 1, 2)]
            ['compute', 'copy', 'h2d']
        """
        return self._queue_of.get(direction, "compute")

    def run(self, engine: str, ready_ns: float, duration_ns: float) -> float:
        """Put work into an engine's queue.

        Args:
            engine: `compute`, `copy`, `h2d` or `d2h`.
            ready_ns: when the work may begin.
            duration_ns: how long it takes.

        Returns:
            When it begins: when it may, and the work before it is done.
        """
        queue = self._queue_of.get(engine, engine)
        start = max(ready_ns, self._free_ns[queue])
        self._free_ns[queue] = start + duration_ns
        return start
