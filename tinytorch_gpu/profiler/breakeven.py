"""`breakeven`: from which size on moving a computation to the GPU pays, or never.

Comes in: an op's name, a chain of names, or a kernel or function with a maker of its
arguments. Named ops are priced on paper (`op_work`); the others run on the simulated
device at each size, and their counts tell what the host would have to do.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import astuple
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.arch import GpuSpec, find_gpu
from tinytorch_gpu.cost.breakeven import Host, Work, find_host, host_ns, work_ns
from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.profiler.breakeven_checks import check_request
from tinytorch_gpu.profiler.breakeven_report import WAYS, BreakEven, Row, crossing
from tinytorch_gpu.profiler.host_finding import array_bytes, host_work
from tinytorch_gpu.profiler.host_probe import measured_host
from tinytorch_gpu.profiler.op_work import note_of, work_of
from tinytorch_gpu.profiler.profile import profile
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.trace import LaunchCounts, LaunchRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["breakeven"]


def breakeven(
    op_or_kernel: str | Sequence[str] | Callable[..., Any],
    sizes: Sequence[int],
    host: str | Host = "laptop",
    *,
    gpu: str | GpuSpec | None = None,
    arguments: Callable[[int], tuple[Any, ...]] | None = None,
) -> BreakEven:
    """Find the size from which on the GPU pays, copies included.

    Args:
        op_or_kernel: an op such as "matmul" (two N × N matrices) or "add" (N elements),
            priced as a well-written kernel; several, of which each takes the result of
            the one before it; a kernel, launched with N threads; or a function that
            launches kernels.
        sizes: values of N for the table, each 1 or more; a kernel runs at each.
        host: "laptop", "measure" (a second of NumPy on this machine), or a `Host`.
        gpu: the GPU for ops by name; None takes the current device's. A kernel runs on
            the current device.
        arguments: N → the arguments of a kernel or function; NumPy arrays are copied to
            the device first.

    Returns:
        Times by size and the crossings, for pageable, pinned and resident data.

    Raises:
        UnsupportedError: an op's work or the host is not known, a kernel has no
            `arguments` or fewer than 2 sizes, or a size is no number of elements.
        GPUNotFoundError: no preset has that name.
        GpuSpecError: a number of the spec is none that a model can compute with.

    Example:
        >>> found = breakeven("add", [1000], gpu="t4")
        >>> print(found.crossings["pageable"])     # 12 B at 6 GB/s against 12 GB/s
        never: one more of N costs the GPU 2.04 ns and the host 1.00 ns

    Limits: both sides are models; the host's arrays come from its DRAM.
    Source: Williams, Waterman, Patterson, "Roofline" (2009).
    """
    check_request(op_or_kernel, sizes, host, arguments)
    sizes = [int(n) for n in sizes]  # NumPy's would overflow in 64 bits
    spec, against = _spec(gpu), _host(host)
    if callable(op_or_kernel):
        make = _checked(sizes, arguments, gpu)
        return _found_by_running(op_or_kernel, sizes, make, spec, against)
    ops = _names(op_or_kernel)
    work = work_of(ops, spec)
    times = partial(_priced, work=work, spec=spec, host=against)
    rows = [times(n) for n in sizes]
    return _found(_name(ops), spec, against, rows, times, None, note_of(spec))


def _names(op_or_ops: str | Sequence[str]) -> list[str]:
    """Return the names of ops, without the namespace that they all have."""
    names = [op_or_ops] if isinstance(op_or_ops, str) else op_or_ops
    return [name.removeprefix("tinytorch::") for name in names]


def _found_by_running(
    run: Callable[..., Any],
    sizes: Sequence[int],
    make: Callable[[int], tuple[Any, ...]],
    spec: GpuSpec,
    host: Host,
) -> BreakEven:
    """Run a kernel or function at each size, and draw lines between them."""
    works = {n: _run(run, n, make(n)) for n in sorted({*sizes})}
    ran = [_row(n, work, spec, host) for n, work in works.items()]
    name = getattr(run, "__name__", "function")
    return _found(name, spec, host, ran, lambda n: _between(ran, n), max(works))


def _priced(size: int, work: Callable[[int], Work], spec: GpuSpec, host: Host) -> Row:
    return _row(size, work(size), spec, host)


def _row(size: int, work: Work, spec: GpuSpec, host: Host) -> Row:
    return Row(
        size,
        host_ns(work, host),
        work_ns(work, spec),
        work_ns(work, spec, is_pinned=True),
        work_ns(work, spec, is_resident=True),
    )


def _spec(gpu: str | GpuSpec | None) -> GpuSpec:
    if gpu is None:
        return current_device().timeline.spec
    return find_gpu(gpu)


def _host(host: str | Host) -> Host:
    if isinstance(host, Host):
        return host
    return measured_host() if host == "measure" else find_host(host)


def _name(ops: Sequence[str]) -> str:
    """Tell a chain; if it repeats one op, by how often."""
    return f"{ops[0]} x {len(ops)}" if len({*ops}) < len(ops) else ", ".join(ops)


def _found(
    what: str,
    spec: GpuSpec,
    host: Host,
    rows: Sequence[Row],
    times: Callable[[int], Row],
    last: int | None,
    note: str = "",
) -> BreakEven:
    """Find the crossing of each way in which the data gets to the GPU."""

    def column(name: str) -> Callable[[int], float]:
        return lambda size: float(getattr(times(size), name))

    host_side = column("host_ns")
    crossings = {way: crossing(column(f"{way}_ns"), host_side, last) for way in WAYS}
    return BreakEven(what, spec.name, host, tuple(rows), crossings, note)


def _between(rows: Sequence[Row], size: int) -> Row:
    """Draw a straight line through the two sizes that ran next to this one."""
    after = bisect_left(rows, size, key=lambda row: row.size)
    after = min(max(1, after), len(rows) - 1)
    a, b = astuple(rows[after - 1]), astuple(rows[after])
    part = (size - a[0]) / (b[0] - a[0])
    return Row(size, *(p + part * (q - p) for p, q in zip(a[1:], b[1:], strict=True)))


def _run(run: Callable[..., Any], size: int, given: Sequence[Any]) -> Work:
    """Run a kernel or function once and say what it did."""
    moved = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in given]
    launch = run.forall(size) if hasattr(run, "forall") else run
    with settings.override(counters=True), profile() as prof:
        results = launch(*moved)
    launches = [r for r in prof.events() if isinstance(r, LaunchRecord)]
    counts = [launch.counts for launch in launches if launch.counts]
    host = [host_work(one) for one in counts]
    return Work(
        flops=sum(work.flops for work in host),
        host_bytes=sum(work.host_bytes for work in host),
        host_calls=len(host),
        bytes_in=_bytes_in(given, counts),
        bytes_out=_bytes_out(results, counts),
        kernel_ns=tuple(launch.duration_ns for launch in launches),
    )


def _bytes_in(given: Sequence[Any], counts: Sequence[LaunchCounts]) -> tuple[int, ...]:
    """Bytes of the arrays that are copied in; a lone kernel names those it loads."""
    if len(counts) == 1:
        return tuple(array_bytes(counts[0], "load", "atomic").values())
    return tuple(a.nbytes for a in given if isinstance(a, np.ndarray))


def _bytes_out(results: Any, counts: Sequence[LaunchCounts]) -> tuple[int, ...]:
    """Bytes of the arrays that are copied back: the results, or what was stored."""
    if results is None:
        stored = [array_bytes(one, "store", "atomic") for one in counts[-1:]]
        return tuple(nbytes for arrays in stored for nbytes in arrays.values())
    every = results if isinstance(results, tuple) else (results,)
    return tuple(array.nbytes for array in every)


def _checked(
    sizes: Sequence[int],
    arguments: Callable[[int], tuple[Any, ...]] | None,
    gpu: str | GpuSpec | None,
) -> Callable[[int], tuple[Any, ...]]:
    """Refuse a kernel that cannot be run at several sizes; return its arguments."""
    if arguments is not None and gpu is None and len({*sizes}) > 1:
        return arguments
    named = "no" if arguments is None else "a maker of"
    raise UnsupportedError(
        "a kernel's break-even needs its arguments and 2 sizes, on the current device",
        where="simgpu.breakeven(kernel, sizes, arguments=...)",
        why=f"got {named} arguments, {len({*sizes})} sizes and gpu={gpu!r}",
        fix="simgpu.breakeven(kernel, [1000, 100_000],\n"
        "arguments=lambda n: (np.ones(n, np.float32), ...))",
    )
