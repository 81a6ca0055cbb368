"""O3: loads with a stride that hit L1, as counted and timed on hardware and by rule.

One block of 1,024 threads loads eight elements of float32 in each turn, 64 lanes side
by side with a stride between them. Published are, for each request of a warp, the
clocks, and what the counters of the GPU say: wavefronts of the data stage
(`l1tex__data_pipe_lsu_wavefronts`) and of the tag stage
(`l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld`).

Source: te42kyfo/gpu-benches, `gpu-strides`, results of A40 and A100, revision 1c36d50.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN201
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

from typing import NamedTuple

from tinytorch_gpu import arch, cuda, profiler
from tinytorch_gpu.cost.memory_pipes import l1_clocks, lsu_clocks
from tinytorch_gpu.cuda import float32

# Stride: clocks of an A40 and of an A100, wavefronts of data and of tags on both.
PUBLISHED = {
    0: (2.00, 1.02, 1, 1.00),
    1: (2.00, 1.02, 1, 1.00),
    2: (2.00, 2.00, 2, 1.24),
    3: (2.00, 1.63, 1, 1.62),
    4: (4.00, 4.00, 4, 1.89),
    5: (2.20, 2.20, 1, 2.19),
    6: (2.36, 2.36, 2, 2.36),
    7: (2.67, 2.67, 1, 2.67),
    8: (8.0, 8.0, 8, 2.83),
    9: (3.03, 3.03, 1, 3.03),
    10: (3.31, 3.31, 2, 3.31),
    12: (4.00, 4.00, 4, 3.57),
    13: (4.02, 4.02, 1, 4.01),
    15: (4.45, 4.45, 1, 4.44),
    16: (16.0, 16.0, 16, 4.67),
    17: (5.1, 5.1, 1, 5.1),
    20: (5.3, 5.3, 4, 5.3),
    24: (8.0, 8.0, 8, 6.2),
    28: (7.3, 7.3, 4, 7.3),
    31: (8.5, 8.5, 1, 8.5),
    32: (32.0, 32.0, 32, 8.3),
    33: (8.8, 8.8, 1, 8.8),
    36: (8.9, 8.9, 4, 8.9),
    40: (9.8, 9.8, 8, 9.8),
}
GPUS = ("rtxa6000", "a100")  # an RTX A6000 has the chip of an A40


@cuda.jit
def strided_loads(a, out, stride):
    """Load eight elements, 64 threads side by side with a stride between them."""
    at = cuda.threadIdx.x % 64 * stride
    total = float32(0.0)
    total += a[at] * a[at + 4]
    total += a[at + 8] * a[at + 12]
    total += a[at + 20] * a[at + 16]
    total += a[at + 24] * a[at + 28]
    if total == float32(123123.23):
        out[cuda.threadIdx.x] = total


class Row(NamedTuple):
    """Loads at one stride on one GPU, for each request of a warp."""

    gpu: str
    stride: int
    published: float  # clocks
    modelled: float
    published_passes: int
    passes: float
    published_tags: float  # wavefronts, of up to four tags
    tags: float


def rows() -> list[Row]:
    """Model all strides."""
    return [_row(gpu, stride) for gpu in GPUS for stride in PUBLISHED]


def _row(gpu: str, stride: int) -> Row:
    spec = arch.find_gpu(gpu)
    args = (profiler.like(64 * stride + 32), profiler.like(1024), stride)
    found = profiler.estimate(strided_loads, 1, 1024, args, blocks=1, gpu=gpu)
    loads = found.counts.global_accesses
    requests = sum(access.requests for access in loads)
    clocks = max(pipe(found.counts, spec) for pipe in (l1_clocks, lsu_clocks))
    *both, passes, tags = PUBLISHED[stride]
    return Row(
        gpu,
        stride,
        both[GPUS.index(gpu)],
        clocks / requests,
        passes,
        sum(access.wavefronts for access in loads) / requests,
        tags,
        sum(access.tags for access in loads) / requests / spec.l1_tags_per_clock,
    )
