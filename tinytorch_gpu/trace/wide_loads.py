"""`WideLoads`: loads of shared memory that a compiler joins into one of 128 bits.

A thread that reads `tile[row, 0]`, `tile[row, 1]`, `tile[row, 2]`, `tile[row, 3]` does
so in one instruction where the compiler knows that all four lie in one aligned piece of
16 bytes. Of a shared array it does know, since it lays the array out; of an array in
global memory it knows only a pointer.

Source: PTX ISA, "Vector Data Types" and `ld` (vectors of up to 128 bits, aligned to
their size); LLVM's load-store vectorizer and nvcc's own, which join neighbouring loads
of a loop that is written out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tinytorch_gpu.trace.recorder import RecordedArray

__all__ = ["WideLoads"]

WIDEST_BYTES = 16


class WideLoads:
    """Tells which loads ride along in a wider one, in the order of a launch.

    Example:
        >>> from types import SimpleNamespace
        >>> tile = SimpleNamespace(address=0, itemsize=4)
        >>> loads, row = WideLoads(), 32 * np.arange(8)[None]     # tile[row, k]
        >>> [loads.rides("here", 0, tile, row, k) for k in range(6)]
        [False, True, True, True, False, True]
        >>> padded = 33 * np.arange(8)[None]        # rows are no multiple of 16 bytes
        >>> [loads.rides("there", 0, tile, padded, k) for k in range(6)]
        [False, False, False, False, False, False]
    """

    # Simplified: neighbours are joined however many other loads stand between them, if
    # no barrier and no store to the array does. A compiler does so within loops that it
    # writes out; a long loop around another is up to 4 x too cheap here. Indices that
    # are aligned by chance, not by how they are computed, are joined too. Neighbours at
    # two places of the source, as in `tile[i, 0] + tile[i, 1]`, are not: up to 4 x too
    # dear. Compute capability 1.x has no wide loads: up to 1.3 x too cheap there.

    def __init__(self) -> None:
        self._runs: dict[tuple[Any, int], _Run] = {}

    def rides(
        self, site: Any, batch: int, array: RecordedArray, flat: Any, shift: int
    ) -> bool:
        """Hear of a load; tell whether the one of the neighbour below brings it too.

        Args:
            site: where it stands.
            batch: first block of those that run.
            array: a shared array.
            flat: the elements at shift 0, as in `Recorder.access`.
            shift: added to each.

        Returns:
            Whether the site has loaded the element before it in the same 16 bytes, in
            every lane.
        """
        key = site, array.address
        run = self._runs.get(key)
        moved = None if run is None or run.batch != batch else run.moved_to(flat)
        if run is None or moved is None:
            run, moved = _Run(batch, flat, WIDEST_BYTES // array.itemsize), 0
            self._runs[key] = run
        return run.is_next(shift + moved)

    def part(self, address: int | None = None) -> None:
        """Hear of a barrier, or of a store to the array at an address.

        No load moves across it.
        """
        for (_, of_array), run in self._runs.items():
            if address is None or address == of_array:
                run.loaded.clear()


class _Run:
    """Lanes that load at several shifts, all lanes moved alike.

    Args:
        batch: first block of those that run.
        flat: element index of each lane at shift 0.
        together: elements in 16 bytes.
    """

    def __init__(self, batch: int, flat: Any, together: int) -> None:
        self.batch, self.loaded = batch, set[int]()  # shifts since the last barrier
        self._flat, self._together = flat, together
        places = np.asarray(flat) % max(1, together)
        self._place = int(places.item(0))
        self._is_aligned = together > 1 and bool(np.all(places == self._place))

    def moved_to(self, flat: Any) -> int | None:
        """Return by how many elements other lanes lie further on, if all do alike."""
        if flat is self._flat:
            return 0
        if np.shape(flat) != np.shape(self._flat):
            return None
        further = np.asarray(flat) - self._flat
        first = int(further.item(0))
        return first if np.all(further == first) else None

    def is_next(self, shift: int) -> bool:
        """Add a load; tell whether that of the element before it brings it too."""
        if not self._is_aligned:
            return False
        is_inside = (self._place + shift) % self._together != 0
        self.loaded.add(shift)
        return is_inside and shift - 1 in self.loaded
