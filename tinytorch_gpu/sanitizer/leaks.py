"""Leaks: device memory that was allocated in a stretch and is held at its end.

Source: compute-sanitizer's memcheck, `--leak-check full`. There a leak is what the
program still holds when it ends; here the reader chooses the stretch.
"""

from __future__ import annotations

import linecache
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from tinytorch_gpu.sanitizer.finding import Finding
from tinytorch_gpu.trace import SourceLine
from tinytorch_gpu.units import format_bytes

if TYPE_CHECKING:
    from tinytorch_gpu.memory import Allocator, DeviceBuffer

__all__ = ["live_allocations"]


def live_allocations(allocator: Allocator, since: int) -> list[Finding]:
    """Return one note for each line whose allocations are still alive.

    Args:
        allocator: the device's; `is_traced` in the stretch, or no lines are known.
        since: its `next_serial` when the stretch began.

    Example:
        >>> from tinytorch_gpu.memory import Allocator
        >>> allocator = Allocator(4096)
        >>> buffer = allocator.allocate(400)
        >>> print(live_allocations(allocator, since=0)[0])
        note: 1 array, 400 B, is still held on simgpu:0 [memcheck]
          where  allocated at an unknown place
          why    device memory is freed when the last name of its array is gone
          fix    let go of it: del x, or array.gpu_data.free()
    """
    by_line: dict[tuple[str, int] | None, list[DeviceBuffer]] = defaultdict(list)
    for buffer in allocator.live_since(since):
        by_line[buffer.origin].append(buffer)
    return [_finding(*item, allocator.device) for item in by_line.items()]


def _finding(
    origin: tuple[str, int] | None, buffers: list[DeviceBuffer], device: str
) -> Finding:
    nbytes = sum(buffer.nbytes for buffer in buffers)
    are = "arrays" if len(buffers) > 1 else "array"
    verb = "are" if len(buffers) > 1 else "is"
    line = None if origin is None else _source_line(*origin)
    contents = f"\n{buffers[0].contents}" if buffers[0].contents else ""
    return Finding(
        tool="memcheck",
        kind="leak",
        level="note",
        what=f"{len(buffers)} {are}, {format_bytes(nbytes)}, {verb} still held on "
        f"{device}",
        where=f"{line or 'allocated at an unknown place'}{contents}",
        why="device memory is freed when the last name of its array is gone",
        fix="let go of it: del x, or array.gpu_data.free()",
        line=line,
        space="global",
        count=nbytes,
    )


def _source_line(file: str, line: int) -> SourceLine:
    text = linecache.getline(file, line).strip()
    return SourceLine(Path(file).name, file, line, text)
