"""O2: copies at an offset and with a stride, by the rule of each GPU and as modelled.

Published are shares at an offset. At a stride it is a rule: what part of the bytes that
a warp moves it uses; there the model's own counts are held against the rule worked out
by hand, so these rows check counting, not time. The model's share is its bandwidth at
that offset or stride, the kernel's floor left out, divided by its bandwidth of the
aligned copy.

Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" (offset and
stride copies of V100; editions for 8800 GTX and GTX 280); M. Harris, "How to Access
Global Memory Efficiently in CUDA C/C++ Kernels" (C870, C1060, C2050).
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN201
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

from typing import Any, NamedTuple

from tinytorch_gpu import cuda, profiler

N, BLOCK = 2**24, 512  # 64 MB an array: in no L2 but that of the largest GPUs


@cuda.jit
def offset_copy(target, source, offset):
    """Copy, all threads moved on by so many elements."""
    i = cuda.grid(1) + offset
    target[i] = source[i]


@cuda.jit
def stride_copy(target, source, stride):
    """Copy elements so far apart."""
    i = cuda.grid(1) * stride
    target[i] = source[i]


class Row(NamedTuple):
    """One copy on one GPU: the share of its bandwidth that is left."""

    gpu: str
    pattern: str
    rule: float
    modelled: float
    source: str


# Bytes moved for the 64 that a half-warp wants, by stride: the segment rule of 1.3.
HALF_WARP = {2: 128, 3: 192, 4: 256, 6: 384, 8: 512, 16: 1024, 32: 512}
STRIDES = tuple(HALF_WARP)


def of_sectors(stride: int) -> float:
    """Share from 6.0 on: a warp's 128 bytes of min(32, 4 × stride) sectors."""
    return 4 / min(32, 4 * stride)


def of_lines(stride: int) -> float:
    """Share on 2.x: loads move lines of 128 bytes, stores sectors."""
    return 2 * 128 / (128 * min(32, stride) + 32 * min(32, 4 * stride))


RULES = {
    "v100": of_sectors,
    "t4": of_sectors,
    "a100": of_sectors,
    "rtxa6000": of_sectors,
    "c2050": of_lines,
    "c1060": lambda stride: 64 / HALF_WARP[stride],
    "c870": lambda _stride: 1 / 8,
}
# A misaligned copy, as published. V100: about 9/10 (the model keeps 1.0: every sector
# that two warps share is still in the cache for the second one). C2050: "negligible".
# GTX 280: about 120 and 70 GB/s; C1060, of the same compute capability, "far less" of a
# loss than C870's 1/8. 8800 GTX: about 74 and 7 GB/s, where the rule of 1.0 gives 1/8.
OFFSETS = {
    "v100": 0.9,
    "c2050": 1.0,
    "c1060": 70 / 120,
    "gtx280": 70 / 120,
    "c870": 1 / 8,
    "8800gtx": 7 / 74,
}


def rows() -> list[Row]:
    """Model all copies."""
    found = [_offset_row(gpu, share) for gpu, share in OFFSETS.items()]
    for gpu, rule in RULES.items():
        whole = _bandwidth(gpu, stride_copy, 1, 1)
        for stride in STRIDES:
            share = _bandwidth(gpu, stride_copy, stride, stride) / whole
            found.append(Row(gpu, f"stride {stride}", rule(stride), share, "rule"))
    return found


def _offset_row(gpu: str, rule: float) -> Row:
    whole = _bandwidth(gpu, offset_copy, 0, 1)
    share = _bandwidth(gpu, offset_copy, 1, 1) / whole
    return Row(gpu, "offset 1", rule, share, "published")


def _bandwidth(gpu: str, kernel: Any, number: int, reach: int) -> float:
    """Bytes used for each nanosecond, the floor left out."""
    array = profiler.like(N * reach + BLOCK)
    found = profiler.estimate(
        kernel,
        N // BLOCK,
        BLOCK,
        (array, profiler.like(array.shape), number),
        blocks=64,
        gpu=gpu,
    )
    return 2 * 4 * N / (found.duration_ns - found.time.terms["floor"])
