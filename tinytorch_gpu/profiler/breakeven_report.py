"""`BreakEven`: times on both sides by size, and from which size on the GPU pays.

Comes in: modelled times as functions of the size. Goes out: rows, crossings, a table.
Read `crossing`: it first asks the slopes whether the GPU can ever win.
"""

from __future__ import annotations

import html
import textwrap
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.units import format_count, format_ns

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.cost.breakeven import Host

    Curve = Callable[[int], float]

__all__ = ["BreakEven", "Crossing", "Row", "crossing"]

FAR = 2**40  # sizes beyond any memory: what does not cross until there never does
DIGITS = range(3, 7)  # of a slope: so many that GPU and host differ
WIDTH = 100  # columns of the note
WAYS = ("pageable", "pinned", "resident")


@dataclass(frozen=True, slots=True)
class Row:
    """Modelled times at one size.

    Args:
        size: N.
        host_ns: NumPy on the host.
        pageable_ns: the GPU, copies from and to ordinary host memory.
        pinned_ns: the GPU, copies from and to page-locked host memory.
        resident_ns: the GPU, the data is there and stays there.
    """

    size: int
    host_ns: float
    pageable_ns: float
    pinned_ns: float
    resident_ns: float


@dataclass(frozen=True, slots=True)
class Crossing:
    """From which size on the GPU pays.

    Args:
        size: the smallest N at which the GPU is faster; None if it never is.
        gpu_slope_ns: what one more of N costs the GPU, for large N.
        host_slope_ns: the same for the host.
        is_extrapolated: it lies outside the sizes that ran.
    """

    size: int | None
    gpu_slope_ns: float
    host_slope_ns: float
    is_extrapolated: bool = False

    def __str__(self) -> str:
        """Tell the size, or why there is none."""
        if self.size is None:
            return f"never: {_never(self.gpu_slope_ns, self.host_slope_ns)}"
        about = " (extrapolated)" if self.is_extrapolated else ""
        return f"pays off from N = {format_count(self.size)} on{about}"


def crossing(gpu: Curve, host: Curve, last: int | None = None) -> Crossing:
    """Find the smallest size at which the GPU is faster.

    The slope test comes first, at a size beyond any memory: if one more element costs
    the GPU, with its copies, more than the host, no size makes the offload pay.

    Args:
        gpu: size → nanoseconds on the GPU.
        host: size → nanoseconds on the host.
        last: the largest size that is not extrapolated; None if none is.

    Returns:
        The crossing, or none with both slopes.

    Example:
        >>> print(crossing(lambda n: 1000 + n, lambda n: 2 * n))
        pays off from N = 1,001 on
        >>> print(crossing(lambda n: 1000 + 2 * n, lambda n: 2 * n))
        never: one more of N costs the GPU 2.00 ns, as much as the host
    """
    far = FAR if last is None else max(FAR, 2 * last)
    slopes = (_slope_at(gpu, far), _slope_at(host, far))
    if gpu(far) >= host(far):
        return Crossing(None, *slopes)
    high = 1
    while gpu(high) >= host(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if gpu(middle) < host(middle) else (middle, high)
    return Crossing(high, *slopes, is_extrapolated=last is not None and high > last)


def _slope_at(curve: Curve, size: int) -> float:
    """Nanoseconds for one more of N at a large size."""
    return (curve(size) - curve(size // 2)) / (size - size // 2)


def _never(gpu_ns: float, host_ns: float) -> str:
    """Compare both slopes, with as many digits as tell them apart."""
    if gpu_ns < host_ns:  # what stays the same for all N is not made up for
        return f"N would have to be larger than {format_count(FAR)}"
    digits = next((n for n in DIGITS if _slope(gpu_ns, n) != _slope(host_ns, n)), 0)
    if not digits:
        return f"one more of N costs the GPU {_slope(gpu_ns, 3)}, as much as the host"
    gpu, host = _slope(gpu_ns, digits), _slope(host_ns, digits)
    return f"one more of N costs the GPU {gpu} and the host {host}"


def _slope(slope_ns: float, digits: int) -> str:
    """Write nanoseconds of one more element."""
    if slope_ns >= 100 and digits == DIGITS[0]:
        return format_ns(slope_ns)
    return f"{slope_ns:#,.{digits}g} ns".replace(". ", " ")


@dataclass(frozen=True)
class BreakEven:
    """Modelled times on both sides by size, and the crossings.

    Args:
        what: what was computed.
        device: name of the GPU.
        host: the host.
        rows: times by size.
        crossings: by how the data gets to the GPU: pageable, pinned or resident.
        note: what kernel the times stand for, or "" for one that ran.
    """

    what: str
    device: str
    host: Host
    rows: tuple[Row, ...]
    crossings: dict[str, Crossing]
    note: str = ""

    def __str__(self) -> str:
        """Return the table and the crossings."""
        host = self.host
        head = (
            f"{self.what}: {self.device} (modelled, copies included) against "
            f"{host.name} ({host.gflop_per_s:.3g} GFLOP/s, {host.gb_per_s:.3g} GB/s)"
        )
        names = ("N", "host", *WAYS)
        lines = [head, "", "".join(f"{name:>12}" for name in names)]
        for row in self.rows:
            times = (row.host_ns, row.pageable_ns, row.pinned_ns, row.resident_ns)
            cells = "".join(f"{format_ns(ns):>12}" for ns in times)
            lines.append(f"{format_count(row.size):>12}{cells}")
        lines.append("")
        lines += [f"{way:<9} {self.crossings[way]}" for way in WAYS]
        if self.note:
            lines += ["", *textwrap.wrap(self.note, WIDTH)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return f"<pre>{html.escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name, in plain types."""
        return asdict(self)
