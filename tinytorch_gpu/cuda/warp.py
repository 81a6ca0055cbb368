"""Warp intrinsics under numba's names: shuffles, votes, matches, masks and fences.

Source: parameter names and types were read from the numba-cuda 0.30.4 compiler.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.intrinsics import Intrinsic, with_name
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor import warp

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = [
    "activemask",
    "all_sync",
    "any_sync",
    "ballot_sync",
    "eq_sync",
    "lanemask_lt",
    "match_all_sync",
    "match_any_sync",
    "nanosleep",
    "shfl_down_sync",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_xor_sync",
    "syncwarp",
    "threadfence",
    "threadfence_block",
    "threadfence_system",
]

SHUFFLED = ("int32", "int64", "float32", "float64")


def _require(name: str, parameter: str, value: Any, kinds: str, needed: str) -> None:
    """Refuse an argument of a type that the compiler does not take.

    Raises:
        KernelTypeError: it is one.
    """
    if isinstance(value, np.generic) and value.dtype.kind in kinds:
        return
    given = value.dtype if isinstance(value, np.generic) else type(value).__name__
    raise KernelTypeError(
        f"cuda.{name} given {given} for `{parameter}`",
        why=f"`{parameter}` is {needed}",
        fix=f"convert it, or pass {needed}",
    )


def _shuffle_type(name: str, which: str, mask: Any, value: Any, source: Any) -> Any:
    """Return the type of a shuffle: that of the value."""
    _require(name, "mask", mask, "iu", "an integer")
    _require(name, which, source, "iu", "an integer")
    if isinstance(value, np.generic) and value.dtype.name in SHUFFLED:
        return value
    given = value.dtype if isinstance(value, np.generic) else type(value).__name__
    raise KernelTypeError(
        f"cuda.{name} given {given} for `value`",
        why="lanes exchange " + ", ".join(SHUFFLED),
        fix="convert it first, for example int32(value)",
    )


def _vote_type(name: str, result: Any, mask: Any, predicate: Any) -> Any:
    """Return the type of a vote; the predicate is an integer or bool."""
    _require(name, "mask", mask, "iu", "an integer")
    _require(name, "predicate", predicate, "biu", "a bool or an integer")
    return result


def _match_type(name: str, result: Any, mask: Any, value: Any) -> Any:
    """Return the type of a match; the value is any number."""
    _require(name, "mask", mask, "iu", "an integer")
    _require(name, "value", value, "biuf", "a number")
    return result


def _shuffle(name: str, which: str, source: str) -> Intrinsic:
    return Intrinsic(
        name,
        with_name(warp.shuffle, name),
        f"{name}(mask, value, {which}): the value of {source}.",
        signature=f"mask, value, {which}",
        needs="mask",
        infer=partial(_shuffle_type, name, which),
    )


shfl_sync = _shuffle("shfl_sync", "src_lane", "lane src_lane of the warp")
shfl_up_sync = _shuffle("shfl_up_sync", "delta", "the lane delta below; else its own")
shfl_down_sync = _shuffle(
    "shfl_down_sync", "delta", "the lane delta above; else its own"
)
shfl_xor_sync = _shuffle("shfl_xor_sync", "lane_mask", "lane laneid ^ lane_mask")


def _vote(name: str, result: Any, told: str) -> Intrinsic:
    return Intrinsic(
        name,
        with_name(warp.vote, name),
        f"{name}(mask_type, predicate_type): {told}.",
        signature="mask_type, predicate_type",
        needs="mask",
        infer=partial(_vote_type, name, result),
    )


TRUE = np.bool_(1)
ballot_sync = _vote(
    "ballot_sync", np.int32(1), "lanes of the mask where it is true, as bits, int32"
)
all_sync = _vote("all_sync", TRUE, "whether it is true in all lanes of the mask")
any_sync = _vote("any_sync", TRUE, "whether it is true in some lane of the mask")
eq_sync = _vote("eq_sync", TRUE, "whether it is the same in all lanes of the mask")


match_any_sync = Intrinsic(
    "match_any_sync",
    warp.match_any,
    "match_any_sync(mask, value): lanes of the mask with the same value, int32 bits.",
    signature="mask, value",
    needs="mask",
    infer=partial(_match_type, "match_any_sync", np.int32(1)),
)
match_all_sync = Intrinsic(
    "match_all_sync",
    warp.match_all,
    "match_all_sync(mask, value): (lanes of the mask, True) if all have the same "
    "value, else (0, False).",
    signature="mask, value",
    needs="mask",
    infer=partial(_match_type, "match_all_sync", (np.int32(1), TRUE)),
)


def _sync_type(mask: Any) -> None:
    _require("syncwarp", "mask", mask, "iu", "an integer")


syncwarp = Intrinsic(
    "syncwarp",
    warp.synchronize,
    "syncwarp(mask=0xffffffff): wait for the lanes of the mask.",
    signature="mask=0xffffffff",
    needs="mask",
    infer=_sync_type,
)


def _active_lanes(batch: Batch, mask: Mask, _site: Site) -> Any:
    return warp.active_lanes(batch, mask)


activemask = Intrinsic(
    "activemask",
    _active_lanes,
    "activemask(): the lanes of the warp that run this together, uint32 bits.",
    needs="mask",
    infer=lambda: np.uint32(1),
)
lanemask_lt = Intrinsic(
    "lanemask_lt",
    warp.lower_lanes,
    "lanemask_lt(): the lanes below this one, uint32 bits.",
    infer=lambda: np.uint32(1),
)


def _fence(name: str, whom: str) -> Intrinsic:
    """Make a fence, which has nothing to do: stores are seen by all at once."""

    def lower(batch: Batch, mask: Mask, site: Site) -> None:
        if batch.recorder is not None:
            batch.recorder.fence(batch, site, mask, name)

    return Intrinsic(
        name,
        lower,
        f"{name}(): what this thread stored before is seen by {whom} before what it "
        "stores after.",
        needs="mask",
        infer=lambda: None,
    )


threadfence = _fence("threadfence", "all threads of the device")
threadfence_block = _fence("threadfence_block", "the threads of its block")
threadfence_system = _fence("threadfence_system", "all devices and the host")
nanosleep = Intrinsic(
    "nanosleep",
    lambda _ns: None,
    "nanosleep(ns): let the thread sleep; here it takes no time.",
    signature="ns",
    needs="",
)
