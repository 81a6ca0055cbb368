"""`Spans`: requests as stretches of memory, to count segments of any size fast.

The lanes of a request in ascending order make stretches without a gap, and jumps
between them. Of a stretch the ends tell how many segments it touches; a jump touches
one more if its ends lie in different segments. Moving all lanes alike changes neither.

Source: definition of a set's size; same counts as `requests.count_distinct`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tinytorch_gpu.cost.requests import BoolArray, IntArray, row_sums, steps

__all__ = ["Spans"]

GAP = 32  # a longer step is a jump; segments must not be smaller


class Spans(NamedTuple):
    """Stretches and jumps of some requests, all in one list.

    Args:
        first, last: lowest and highest address of each stretch; bytes.
        before, after: the addresses on both sides of each jump.
        requests: requests with active lanes.
        distinct: distinct addresses of each request, summed.
    """

    first: IntArray
    last: IntArray
    before: IntArray
    after: IntArray
    requests: int
    distinct: int

    @classmethod
    def of(cls, addresses: IntArray, active: BoolArray) -> Spans:
        """Find the stretches and jumps of requests.

        Args:
            addresses: int64 (requests, lanes), 0 or more where the lane is active.
            active: bool (requests, lanes).

        Example:
            >>> row = 4 * np.array([[0, 1, 2, 3, 100, 101, 102, 103]])
            >>> spans = Spans.of(row, np.ones((1, 8), bool))
            >>> spans.first, spans.last, spans.before, spans.after
            (array([  0, 400]), array([ 12, 412]), array([12]), array([400]))
            >>> spans.segments(32), spans.segments(32, shift=20)
            (2, 3)
        """
        if active.all():
            step = steps(addresses)
            if step.min(initial=0) >= 0 and step.max(initial=0) <= GAP:
                return cls._gapless(addresses, step)
        follows = _follow(active)
        if _is_ascending(addresses, active, follows):
            return cls._ascending(addresses, active, follows)
        ordered = np.sort(np.where(active, addresses, -1), axis=1)
        active = ordered >= 0
        return cls._ascending(ordered, active, _follow(active))

    @classmethod
    def _gapless(cls, addresses: IntArray, step: IntArray) -> Spans:
        """Every request is one stretch; most kernels access memory so."""
        none = np.zeros(0, np.int64)
        count = len(addresses)
        distinct = count + int(np.count_nonzero(step))
        return cls(addresses[:, 0], addresses[:, -1], none, none, count, distinct)

    @classmethod
    def _ascending(
        cls, ordered: IntArray, active: BoolArray, follows: BoolArray
    ) -> Spans:
        """Active lanes lie side by side and go up in memory, or stay."""
        step = steps(ordered)
        jumps = follows & (step > GAP)
        starts = active & (~follows | jumps)
        goes_on = np.zeros(ordered.size, np.bool_)
        goes_on[:-1] = (follows & ~jumps).ravel()[1:]
        ends = active & ~goes_on.reshape(ordered.shape)
        at = np.flatnonzero(jumps)
        flat = ordered.ravel()
        count = int(np.count_nonzero(active & ~follows))
        distinct = count + int(np.count_nonzero(follows & (step != 0)))
        return cls(
            ordered[starts], ordered[ends], flat[at - 1], flat[at], count, distinct
        )

    def segments(self, nbytes: int, shift: int = 0) -> int:
        """Count the aligned segments that each request touches, summed.

        Args:
            nbytes: size of a segment, a power of two, 32 or more.
            shift: moves all addresses first, bytes.
        """
        by = nbytes.bit_length() - 1
        in_stretches = ((self.last + shift) >> by) - ((self.first + shift) >> by)
        entered = ((self.after + shift) >> by) != ((self.before + shift) >> by)
        return self.requests + int(in_stretches.sum()) + int(np.count_nonzero(entered))

    def starts(self, line: int, sector: int) -> list[int]:
        """Tell at which shifts the number of sectors or lines may change.

        It changes only once some addresses have come into their next sector. Where all
        lie alike in their lines, it never does.

        Args:
            line: bytes of a line, a power of two; the shifts repeat with it.
            sector: bytes of a sector, a power of two.

        Returns:
            Ascending shifts, 0 to `line` - 1.

        Example:
            >>> rows = 400 * np.arange(32)[None]        # every other one 16 bytes in
            >>> Spans.of(rows, np.ones((1, 32), bool)).starts(128, 32)
            [0, 16, 32, 48, 64, 80, 96, 112]
        """
        ends = np.concatenate([self.first, self.last, self.before, self.after])
        if len(_residues(ends, line)) <= 1:
            return [0]
        inside = np.sort(-_residues(ends, sector) % sector)
        return (np.arange(0, line, sector)[:, None] + inside).ravel().tolist()


def _follow(active: BoolArray) -> BoolArray:
    """Mark active lanes whose lane before is active too."""
    flat = active.ravel()
    follows = np.zeros_like(active)
    np.logical_and(flat[1:], flat[:-1], out=follows.ravel()[1:])
    follows[:, 0] = False
    return follows


def _is_ascending(addresses: IntArray, active: BoolArray, follows: BoolArray) -> bool:
    """Tell whether each row's active lanes lie side by side and never step down."""
    is_parted = row_sums(active & ~follows).max(initial=0) > 1
    return not is_parted and steps(addresses)[follows].min(initial=0) >= 0


def _residues(addresses: IntArray, period: int) -> IntArray:
    """All values of `address % period`, ascending."""
    found = np.bincount(addresses & (period - 1), minlength=period)
    return np.flatnonzero(found)
