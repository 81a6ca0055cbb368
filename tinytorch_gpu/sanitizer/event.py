"""`Event`: one access that a checker looks at, and what it says of single lanes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.trace.arguments import named_arrays
from tinytorch_gpu.trace.places import coordinates, padded_threads
from tinytorch_gpu.trace.steps import TracedArray

if TYPE_CHECKING:
    from tinytorch_gpu.trace import LaunchStart, Site
    from tinytorch_gpu.trace.recorder import ActiveMask, Lanes

__all__ = ["Event", "place"]


@dataclass(frozen=True, slots=True)
class Event:
    """One access, as recorders hear of it.

    Args:
        site: where it stands.
        kind: `load`, `store` or `atomic`.
        array: what is accessed.
        batch: the lanes.
        mask: those that take part.
        value: what each lane loads or stores; of an atomic what it found.
        granule: bytes of the shadow's elements.
    """

    site: Site
    kind: str
    array: Any
    batch: Lanes
    mask: ActiveMask
    value: Any
    granule: int

    def values(self, threads: Any) -> Any:
        """Return what threads load or store, (n,).

        Args:
            threads: int (n,), their numbers in the launch.
        """
        blocks, padded = self.batch.shape
        rows, lanes = np.divmod(threads - self.batch.first * padded, padded)
        return np.broadcast_to(self.value, (blocks, padded))[rows, lanes]

    def elements(self, cells: Any) -> Any:
        """Return positions in the array's storage of elements of the shadow.

        Args:
            cells: int (n,).
        """
        return cells * self.granule // self.array.itemsize

    def stored(self, elements: Any) -> Any:
        """Return what the storage holds now, (n,).

        Args:
            elements: int (n,), positions in the storage.
        """
        return self.array.storage.reshape(-1)[elements]

    def changes(self, threads: Any, cells: Any) -> Any:
        """Tell which elements of the shadow get other bits by a store, bool (n,).

        Args:
            threads: int (n,), threads that store.
            cells: int (n,), which element of the shadow.
        """
        ratio = self.array.itemsize // self.granule
        values = self.values(threads), self.stored(self.elements(cells))
        parts = [v.view(np.uint8).reshape(-1, ratio, self.granule) for v in values]
        which = np.arange(len(cells)), cells % ratio
        return (parts[0][which] != parts[1][which]).any(axis=1)

    def index(self, element: int, launch: LaunchStart) -> tuple[int, ...]:
        """Return the index of an element as the learner writes it.

        Args:
            element: its position in the storage.
            launch: for the array as its parameter has it.

        Returns:
            One number for each axis; of a view that differs by lane, in the array that
            it is cut from.
        """
        array = self.array
        if array.space == "shared":
            element %= len(array.storage) // array.blocks
        elif np.ndim(array.offset):
            given = (a for _, a in named_arrays(launch.arguments))
            array = next((a for a in given if a.storage is array.storage), array)
        if np.ndim(array.offset) or any(map(np.ndim, array.lengths)):
            return (element,)
        whole = TracedArray(
            name=self.site.expression,
            space=array.space,
            dtype=array.element_dtype.name,
            shape=tuple(map(int, array.lengths)),
            steps=array.steps,
            offset=int(array.offset),
            address=0,
            length=len(array.storage),
        )
        return whole.index(element) or (element,)


def place(
    thread: int, launch: LaunchStart
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Return a thread's block and place in the block.

    Args:
        thread: its number in the launch: block × padded threads + thread.
        launch: its launch.
    """
    block, lane = divmod(thread, padded_threads(launch.block))
    return coordinates(block, launch.grid), coordinates(lane, launch.block)
