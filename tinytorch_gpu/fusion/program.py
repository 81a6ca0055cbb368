"""`Program`: what a function does, as one kernel; `making.py` makes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tinytorch_gpu.library import call

if TYPE_CHECKING:
    from tinytorch_gpu.fusion.kernel import FusedKernel
    from tinytorch_gpu.fusion.recipe import Recipe
    from tinytorch_gpu.fusion.seen import Seen
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["Program"]


@dataclass(frozen=True, eq=False)
class Program:
    """A function as one kernel.

    Args:
        recipe: what the kernel does.
        kernel: the kernel.
        reads: numbers of the arrays that it loads, among all that the ops name.
        writes: numbers of the arrays that it stores.
    """

    recipe: Recipe
    kernel: FusedKernel
    reads: tuple[int, ...]
    writes: tuple[int, ...]

    def run(self, seen: Seen) -> None:
        """Do by one launch what waits.

        Args:
            seen: a call of the same form, with the same numbers.
        """
        reads = [seen.array(index) for index in self.reads]
        writes = [seen.array(index) for index in self.writes]
        numbers = [np.float32(value) for value in self.recipe.numbers.values()]

        def launch() -> tuple[DeviceArray, ...]:
            self.recipe.launch(self.kernel, reads, numbers, writes)
            return tuple(writes)

        call(f"fused::{self.kernel.name}", *reads, decomposition=launch)
