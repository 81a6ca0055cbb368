"""Barriers: `syncthreads` opens when every live thread of the block has come.

Threads that have returned are not waited for, as hardware does; threads that are
elsewhere in the kernel are missed, and the launch stops.

Source: CUDA C++ Programming Guide, "Synchronization Functions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import BarrierDivergenceError
from tinytorch_gpu.executor.faults import block_name, coordinates, thread_range

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["barrier"]


def barrier(batch: Batch, mask: Mask, site: Site) -> None:
    """Check that each block has come whole, or not at all.

    Raises:
        BarrierDivergenceError: live threads of a block did not come.
    """
    if batch.recorder is not None:
        batch.recorder.barrier(site, mask)
    if mask.count == batch.live.count:
        return
    came, live = mask.full(), batch.live.full()
    missing = live & ~came & came.any(axis=1, keepdims=True)
    if missing.any():
        raise _divergence(batch, came, live, missing, site)


def _divergence(
    batch: Batch, came: Any, live: Any, missing: Any, site: Site
) -> BarrierDivergenceError:
    row = int(np.argmax(missing.any(axis=1)))
    arrived, expected = int(came[row].sum()), int(live[row].sum())
    absent = np.flatnonzero(missing[row])
    line = site.line
    return BarrierDivergenceError(
        f"syncthreads() reached by {arrived} of the block's {expected} live threads",
        where=f"{line}\n{block_name(batch, row)}; not there: "
        f"{thread_range(batch, absent)}",
        why="a barrier opens when every live thread of the block has come; "
        "hardware may hang here",
        fix="move cuda.syncthreads() out of the `if` or loop that some threads skip",
        kernel=line.kernel,
        line=line.line,
        block=coordinates(batch.first + row, batch.grid),
        arrived=arrived,
        expected=expected,
        threads=tuple(coordinates(int(t), batch.block) for t in absent),
    )
