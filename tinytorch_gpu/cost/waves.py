"""Waves: how a grid's blocks follow each other on the SMs, and what the last ones cost.

Source: NVIDIA, "Matrix Multiplication Background User's Guide", wave quantization.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec

__all__ = ["blocks_of_an_sm", "effective_sms", "rounds"]

# Rounds that are counted whole; beyond, the average. A choice of the model: of nine
# rounds the last, nearly empty one is an eighth of the time of the others, so the
# average is up to 12 % too fast there, 6 % where grids end anywhere, and less beyond.
WAVES_TOLD_APART = 8


def blocks_of_an_sm(blocks: int, spec: GpuSpec) -> float:
    """Tell how many blocks the SM runs that has most, one after another or together.

    Every SM gets ⌊blocks ÷ SMs⌋ blocks and some get one more; the kernel ends when
    those do. Of more than eight the ends blur, and the average counts.

    Args:
        blocks: blocks of the grid, 1 or more.
        spec: supplies `num_sms`.

    Returns:
        Blocks; never fewer for a larger grid, never more for more SMs.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> a100 = find_gpu("a100")           # 108 SMs
        >>> [blocks_of_an_sm(n, a100) for n in (4, 108, 109, 8 * 108 + 27)]
        [1, 1, 2, 8.25]

    Limits: all blocks take equally long.
    Source: as for the module.
    """
    # Simplified: blocks of one SM share its pipes, so one block more costs one block's
    # time. If they wait for latency instead, it costs a whole round: see `rounds`.
    share = blocks / spec.num_sms
    return math.ceil(share) if share <= WAVES_TOLD_APART else share


def effective_sms(blocks: int, spec: GpuSpec) -> float:
    """Tell how many SMs share the work evenly: fewer when the last round is not full.

    Args:
        blocks: blocks of the grid, 1 or more.
        spec: supplies `num_sms`.

    Returns:
        SMs, 1 to `num_sms`.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> a100 = find_gpu("a100")           # 108 SMs
        >>> effective_sms(4, a100), effective_sms(108, a100), effective_sms(109, a100)
        (4.0, 108.0, 54.5)

    Limits, Source: as for `blocks_of_an_sm`.
    """
    most = blocks_of_an_sm(blocks, spec)
    return min(float(spec.num_sms), blocks / most)


def rounds(waves: float) -> float:
    """Tell how often a block follows another in the same place of an SM.

    Args:
        waves: blocks ÷ blocks that the GPU holds at a time.

    Returns:
        Whole rounds up to eight, then the average.

    Example:
        >>> rounds(0.2), rounds(1.1), rounds(8.5)
        (1, 2, 8.5)

    Limits, Source: as for `blocks_of_an_sm`.
    """
    return math.ceil(waves) if waves <= WAVES_TOLD_APART else waves
