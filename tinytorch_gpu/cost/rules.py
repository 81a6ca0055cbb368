"""`GpuCountRules`: one GPU's counting rules, as the counting recorder takes them.

Comes in: addresses of a batch of requests. Goes out: one total. This is the seam
between floor 2, which records, and the rules of `coalescing`, `bank_conflicts` and
`contention`. Each space of memory has a class of requests here.

Source: as those three.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cost.bank_conflicts import passes_and_parts, warp_parts
from tinytorch_gpu.cost.coalescing import LINE_BYTES, moves_lines, traffic
from tinytorch_gpu.cost.contention import most_at_one_address
from tinytorch_gpu.cost.requests import check_requests, count_distinct
from tinytorch_gpu.cost.spans import Spans
from tinytorch_gpu.trace import AccessCost

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.cost.requests import BoolArray, IntArray
    from tinytorch_gpu.trace import CountedRequests
    from tinytorch_gpu.trace.recorder import RecordedArray

__all__ = ["GpuCountRules"]

_WORD_BYTES = 4  # what a pass over the constant cache gives to a warp


class GpuCountRules:
    """Turn the addresses of requests into totals, by the rules of one GPU.

    Args:
        spec: the GPU.

    Example:
        >>> from types import SimpleNamespace
        >>> from tinytorch_gpu.arch import find_gpu
        >>> rules = GpuCountRules(find_gpu("t4"))
        >>> x = SimpleNamespace(space="global", itemsize=4)
        >>> rows = 4 * np.arange(64).reshape(2, 32)     # two warps, float32 in a row
        >>> rules.requests(x, "load", rows, np.ones((2, 32), bool)).cost(0).sectors
        8

    Limits: no caches.
    Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and
    "Shared Memory and Memory Banks".
    """

    def __init__(self, spec: GpuSpec) -> None:
        self.spec = spec

    def requests(
        self, array: RecordedArray, kind: str, addresses: IntArray, active: BoolArray
    ) -> CountedRequests:
        """Look at requests, so that their cost can be told at several shifts.

        Args:
            array: supplies `space` and `itemsize`.
            kind: `load`, `store` or `atomic`.
            addresses: int64 (requests, 32), bytes.
            active: bool (requests, 32).

        Returns:
            The requests; `cost(shift)` moves all addresses by bytes first.

        Raises:
            ShapeError: a shape is not (requests, 32), or the two shapes differ.
        """
        check_requests(addresses, active, self.spec)
        kinds = _SPACES.get(array.space, _Requests)
        return kinds(self.spec, array.itemsize, kind, addresses, active)

    def parts(self, array: RecordedArray) -> int:
        """Tell in how many parts a warp's request to the array is served.

        Args:
            array: supplies `space` and `itemsize`.

        Returns:
            1 for a whole warp, 2 for half-warps, 4 for quarters.
        """
        if array.space == "shared":
            return warp_parts(array.itemsize, self.spec)
        is_halved = self.spec.compute_capability[0] == 1 and array.space == "global"
        return 2 if is_halved else 1

    def unit(self, kind: str) -> int:
        """Tell the bytes of global memory that a cache takes in together.

        Args:
            kind: `load`, `store` or `atomic`.

        Returns:
            A line for loads of compute capability 2.x, else a sector.
        """
        return LINE_BYTES if moves_lines(self.spec, kind) else self.spec.sector_bytes


class _Requests:
    """Requests that cost nothing: to local memory."""

    # Simplified: local arrays are taken to be in registers. One that is indexed at run
    # time moves 4 sectors for each request of 4 bytes on hardware.

    def __init__(
        self,
        spec: GpuSpec,
        itemsize: int,
        kind: str,
        addresses: IntArray,
        active: BoolArray,
    ) -> None:
        self.spec, self.itemsize, self.kind = spec, itemsize, kind
        self.addresses, self.active = addresses, active
        self.met = most_at_one_address(addresses, active) if kind == "atomic" else None
        self.serial_passes = 0 if self.met is None else int(self.met.sum())

    def cost(self, shift: int) -> AccessCost:
        """Sum what the requests cost, all addresses moved by so many bytes."""
        del shift
        return AccessCost()

    def shifts(self) -> tuple[int, list[int]]:
        """Tell a period, and in it the shifts that may start another cost; bytes."""
        return 1, [0]

    def distinct_bytes(self) -> int:
        """Bytes of the distinct elements of each request, summed."""
        return self.itemsize * int(count_distinct(self.addresses, self.active).sum())


class _Constant(_Requests):
    """Requests to constant memory: a pass for each distinct word."""

    def cost(self, shift: int) -> AccessCost:
        words = count_distinct((self.addresses + shift) // _WORD_BYTES, self.active)
        return AccessCost(wavefronts=int(words.sum()), bytes_used=self.distinct_bytes())

    def shifts(self) -> tuple[int, list[int]]:
        return _WORD_BYTES, list(range(_WORD_BYTES))


class _Shared(_Requests):
    """Requests to shared memory: passes over the banks."""

    def cost(self, shift: int) -> AccessCost:
        passes, ideal = passes_and_parts(
            self.addresses + shift, self.itemsize, self.active, self.spec
        )
        # Simplified: lanes of an atomic that meet at one address take a pass each; two
        # such crowds in one bank are taken to go side by side, up to 2 x too cheap.
        # Before compute capability 5.0 each turn locks and retries: several passes.
        passes = passes if self.met is None else np.maximum(passes, self.met)
        return AccessCost(
            wavefronts=int(passes.sum()),
            ideal_wavefronts=int(ideal.sum()),
            bytes_used=self.distinct_bytes(),
            serial_passes=self.serial_passes,
        )

    def shifts(self) -> tuple[int, list[int]]:
        # Moved by a word, all banks turn. On 3.x two words of 64 are one row of a bank.
        period = 256 if self.spec.compute_capability[0] == 3 else self.spec.bank_bytes
        return period, list(range(period))


class _Global(_Requests):
    """Requests to global memory: sectors, lines, and passes over the banks of L1."""

    def __init__(self, spec: GpuSpec, itemsize: int, *rest: Any) -> None:
        super().__init__(spec, itemsize, *rest)
        self.spans: Spans | None = None
        if spec.compute_capability[0] > 1 and not _may_straddle(
            self.addresses, itemsize
        ):
            self.spans = Spans.of(self.addresses, self.active)
        # Moved by whole words, all banks turn alike.
        self.passes = self._passes(0) if itemsize % _WORD_BYTES == 0 else None

    def _passes(self, shift: int) -> int:
        """Passes over the banks of L1; 0 where it has none."""
        if not self.spec.l1_and_shared_bytes_per_sm:
            return 0
        moved = self.addresses + shift
        passes, _ = passes_and_parts(moved, self.itemsize, self.active, self.spec)
        return int(passes.sum())

    def cost(self, shift: int) -> AccessCost:
        passes = self._passes(shift) if self.passes is None else self.passes
        if self.spans is None:
            return self._by_request(shift, passes)
        lines = self.spans.segments(LINE_BYTES, shift)
        if moves_lines(self.spec, self.kind):
            transactions, sectors = lines, lines * LINE_BYTES // self.spec.sector_bytes
        else:
            sectors = self.spans.segments(self.spec.sector_bytes, shift)
            transactions = sectors
        used = self.itemsize * self.spans.distinct
        serial = self.serial_passes
        return AccessCost(sectors, passes, 0, used, transactions, serial, lines)

    def _by_request(self, shift: int, passes: int) -> AccessCost:
        """Cost where half-warps count or elements lie across sectors."""
        moved = traffic(
            self.addresses + shift, self.itemsize, self.active, self.spec, self.kind
        )
        return AccessCost(
            sectors=int(moved.sectors.sum()),
            wavefronts=passes,
            bytes_used=self.itemsize * int(moved.distinct.sum()),
            transactions=int(moved.transactions.sum()),
            serial_passes=self.serial_passes,
            tags=int(moved.lines.sum()),
        )

    def shifts(self) -> tuple[int, list[int]]:
        if self.spans is None or self.passes is None:
            return LINE_BYTES, list(range(LINE_BYTES))
        return LINE_BYTES, self.spans.starts(LINE_BYTES, self.spec.sector_bytes)


_SPACES: dict[str, type[_Requests]] = {
    "constant": _Constant,
    "global": _Global,
    "shared": _Shared,
}


def _may_straddle(addresses: IntArray, itemsize: int) -> bool:
    """Tell whether an element may lie across two sectors: one is not aligned."""
    is_power_of_two = itemsize & (itemsize - 1) == 0
    all_bits = int(np.bitwise_or.reduce(addresses, axis=None))
    return not is_power_of_two or bool(all_bits & (itemsize - 1))
