"""The warning of an index that came out negative, and so counts from the end.

Almost always it is a mistake such as `a[i - 1]` in thread 0: compiled numba wraps it to
the last element, CUDA C++ touches memory before the array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import settings
from tinytorch_gpu.errors import KernelWarning
from tinytorch_gpu.executor.faults import of_first_lane, place_facts, place_of
from tinytorch_gpu.executor.notices import warn_at

if TYPE_CHECKING:
    from tinytorch_gpu.executor.kernel_array import KernelArray
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["warn_of_negative"]


def warn_of_negative(
    batch: Batch,
    mask: Mask,
    array: KernelArray,
    axis: int,
    index: Any,
    site: Site,
    action: str,
) -> None:
    """Warn once for each line and launch of active lanes with a negative index.

    Constants that the source writes, as in `a[-1]`, are left alone.

    Args:
        batch: the lanes.
        mask: the active ones.
        array: what is indexed.
        axis: which axis the index is for.
        index: of a signed type, a scalar or lanes; inside once it is wrapped.
        site: where it stands.
        action: "load from" or "store to".

    Warns:
        KernelWarning: names array, line, block and threads; they are attributes.
    """
    if not settings.current().warn_negative_index:
        return
    negative = np.broadcast_to(index < 0, batch.shape) & mask.full()
    if np.ndim(index) == 0 and int(index) in site.from_end:
        return
    told = batch.journal.told if batch.journal is not None else set()
    key = ("negative_index", site.line, site.expression)
    if key in told or not negative.any():
        return
    told.add(key)
    warn_at(site.line, _warning(batch, array, axis, index, negative, site, action))


def _warning(
    batch: Batch,
    array: KernelArray,
    axis: int,
    index: Any,
    negative: Any,
    site: Site,
    action: str,
) -> KernelWarning:
    row, threads, text = place_of(batch, negative)
    name, line = site.expression, site.line
    first = int(np.broadcast_to(index, batch.shape)[row, threads[0]])
    shape = of_first_lane(batch, array, negative).lengths
    place = f" of axis {axis}" if len(shape) > 1 else ""
    kind = f"{array.element_dtype.name} of shape {shape}"
    return KernelWarning(
        f"{action} the end of `{name}`, {kind}: a computed index is negative",
        where=f"{line}\n{text}: {len(threads)} lane{'s'[: len(threads) > 1]}",
        why=f"index {first} counts from the end, to element {first + shape[axis]}"
        f"{place};\nin CUDA C++ it is memory before the array",
        fix="guard the first elements, for example `if i > 0:`; if it is meant,\n"
        "settings.override(warn_negative_index=False)",
        kind="negative_index",
        argument=name,
        space=array.space,
        index=first,
        axis=axis,
        shape=shape,
        lanes_at_fault=int(negative.sum()),  # of the first batch that has some
        **place_facts(batch, line, row, threads),
    )
