"""`cuda.random`: random numbers from xoroshiro128+, one generator for each thread.

Names, parameters and bits are numba.cuda.random's. numba keeps a state as a record of
two words, s0 and s1; device memory here holds no records, so an array of n states is a
uint64 array of shape (n, 2). Kernels that only pass it to these functions see no
difference.

Source: facts read from numba-cuda 0.30.4. A uniform number is the upper 53 bits of a
word × 2**-53, rounded to float32 where asked; a normal one is Box and Muller's cosine
branch of two uniform float32 numbers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.intrinsics import Intrinsic
from tinytorch_gpu.cuda.xoroshiro import first_states, jump, step
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.indexing import KernelArray, load, store
from tinytorch_gpu.runtime import copy

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.memory import DeviceArray
    from tinytorch_gpu.trace import Site

__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_states",
    "xoroshiro128p_jump",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]

WORDS = (np.int64(0), np.int64(1))


def create_xoroshiro128p_states(
    n: int, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> DeviceArray:
    """Return the states of n generators on the device, each 2**64 numbers apart.

    Args:
        n: number of generators, usually one for each thread.
        seed: seed of all of them; a 64-bit number.
        subsequence_start: generators to skip before the first.
        stream: accepted for numba's sake.

    Returns:
        Device array, uint64 (n, 2).

    Raises:
        OutOfMemoryError: it does not fit.

    Example:
        >>> create_xoroshiro128p_states(64, seed=1).shape
        (64, 2)
    """
    del stream
    states = first_states(int(n), int(seed), int(subsequence_start))
    return copy.to_device(states, "create_xoroshiro128p_states")


def init_xoroshiro128p_states(
    states: DeviceArray, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> None:
    """Set the states of generators that were created before.

    Args:
        states: device array, uint64 (n, 2).
        seed: seed of all of them.
        subsequence_start: generators to skip before the first.
        stream: accepted for numba's sake.

    Raises:
        ShapeError: the array has another shape.
        DtypeError: it has another dtype.
    """
    del stream
    fresh = first_states(len(states), int(seed), int(subsequence_start))
    states.copy_to_device(fresh)


class _Generator:
    """The generators that some lanes draw from.

    Args:
        batch: the lanes.
        mask: the active ones.
        site: where the call stands.
        states: uint64 (n, 2), as a kernel sees it.
        index: which generator each lane uses.
    """

    def __init__(
        self, batch: Batch, mask: Mask, site: Site, states: Any, index: Any
    ) -> None:
        _check_states(states)
        self._batch, self._mask, self._site = batch, mask, site
        self._states, self._index = states, index

    def _load(self) -> tuple[Any, Any]:
        first, second = (
            load(self._batch, self._mask, self._states, (self._index, w), self._site)
            for w in WORDS
        )
        return first, second

    def _store(self, state: tuple[Any, Any]) -> None:
        for word, value in zip(WORDS, state, strict=True):
            place = (self._index, word)
            store(self._batch, self._mask, self._states, place, value, self._site)

    def next(self) -> Any:
        """Return the next word, uint64, and advance by one step."""
        s0, s1 = self._load()
        self._store(step(s0, s1))
        return s0 + s1

    def jump(self) -> None:
        """Advance by 2**64 steps."""
        self._store(jump(*self._load()))

    def uniform(self, dtype: Any) -> Any:
        """Return a number from 0 on and below 1 (float32 may round up to 1)."""
        upper = (self.next() >> np.uint64(11)).astype(np.float64)
        return (upper * np.float64(2.0**-53)).astype(dtype)

    def normal(self, dtype: Any) -> Any:
        """Return a number of mean 0 and deviation 1; takes two steps."""
        first, second = self.uniform(np.float32), self.uniform(np.float32)
        radius = np.sqrt(dtype(-2) * np.log(first).astype(dtype))
        return radius * np.cos(dtype(2 * math.pi) * second.astype(dtype))


def _check_states(states: Any) -> None:
    is_array = isinstance(states, KernelArray) and len(states.lengths) == 2
    if is_array and states.element_dtype == np.uint64:
        return
    raise KernelTypeError(
        "this array holds no states of random number generators",
        why="the states of n generators are a uint64 array of shape (n, 2)",
        fix="make them with create_xoroshiro128p_states(n, seed) and pass that array",
    )


def _drawing(
    name: str,
    draw: Callable[[_Generator], Any],
    result: Any,
    doc: str,
    kind: str | None = "arithmetic",
) -> Intrinsic:
    """Make a function of states and index that draws from the lanes' generators."""

    def lower(batch: Batch, mask: Mask, site: Site, states: Any, index: Any) -> Any:
        return draw(_Generator(batch, mask, site, states, index))

    def infer(states: Any, _index: Any) -> Any:
        _check_states(states)
        return result

    return Intrinsic(
        f"random.xoroshiro128p_{name}",
        lower,
        f"xoroshiro128p_{name}(states, index): {doc}",
        signature="states, index",
        needs="mask",
        infer=infer,
        kind=kind,  # Simplified: about ten integer operations count as one
        touches_memory=True,
    )


xoroshiro128p_next = _drawing(
    "next", _Generator.next, np.uint64(1), "the next 64 random bits, uint64."
)
xoroshiro128p_jump = _drawing(
    "jump", _Generator.jump, None, "advance by 2**64 steps.", kind=None
)
xoroshiro128p_uniform_float32 = _drawing(
    "uniform_float32",
    lambda generator: generator.uniform(np.float32),
    np.float32(1),
    "a float32 from 0 to 1.",
)
xoroshiro128p_uniform_float64 = _drawing(
    "uniform_float64",
    lambda generator: generator.uniform(np.float64),
    np.float64(1),
    "a float64 from 0 on, below 1.",
)
xoroshiro128p_normal_float32 = _drawing(
    "normal_float32",
    lambda generator: generator.normal(np.float32),
    np.float32(1),
    "a float32 of the normal distribution with mean 0 and deviation 1.",
    "special",
)
xoroshiro128p_normal_float64 = _drawing(
    "normal_float64",
    lambda generator: generator.normal(np.float64),
    np.float64(1),
    "a float64 of the normal distribution with mean 0 and deviation 1.",
    "special",
)
