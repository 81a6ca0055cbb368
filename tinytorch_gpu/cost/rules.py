"""`GpuCountRules`: one GPU's counting rules, as the counting recorder takes them.

Comes in: addresses of a batch of requests. Goes out: one total. This is the seam
between floor 2, which records, and the rules of `coalescing` and `bank_conflicts`.

Source: as those two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.cost.bank_conflicts import bank_passes
from tinytorch_gpu.cost.coalescing import sectors_touched

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.cost.requests import BoolArray, IntArray

__all__ = ["GpuCountRules"]


class GpuCountRules:
    """Turn the addresses of requests into totals, by the rules of one GPU.

    Args:
        spec: the GPU.

    Example:
        >>> import numpy as np
        >>> from tinytorch_gpu.arch import find_gpu
        >>> rules = GpuCountRules(find_gpu("t4"))
        >>> rows = 4 * np.arange(64).reshape(2, 32)     # two warps, float32 in a row
        >>> rules.sectors(rows, 4, np.ones((2, 32), bool))
        8

    Limits: compute capability 6.0 and later; no caches.
    Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and
    "Shared Memory and Memory Banks".
    """

    def __init__(self, spec: GpuSpec) -> None:
        self.spec = spec

    @property
    def sector_bytes(self) -> int:
        """Addresses that all move by a multiple of this cost the same, banks too."""
        return self.spec.sector_bytes

    def sectors(self, addresses: IntArray, itemsize: int, active: BoolArray) -> int:
        """Sum the sectors of all requests.

        Args:
            addresses: int64 (requests, 32), bytes.
            itemsize: bytes of one element.
            active: bool (requests, 32).

        Returns:
            Sectors.

        Raises:
            ShapeError: a shape is not (requests, 32), or the two shapes differ.
            UnsupportedError: the GPU is older than compute capability 6.0.
        """
        return int(sectors_touched(addresses, itemsize, active, self.spec).sum())

    def passes(self, addresses: IntArray, itemsize: int, active: BoolArray) -> int:
        """Sum the passes over the banks of all requests.

        Args:
            addresses: int64 (requests, 32), bytes.
            itemsize: bytes of one element.
            active: bool (requests, 32).

        Returns:
            Passes.

        Raises:
            ShapeError: a shape is not (requests, 32), or the two shapes differ.
            UnsupportedError: the GPU is older than compute capability 6.0.
        """
        return int(bank_passes(addresses, itemsize, active, self.spec).sum())
