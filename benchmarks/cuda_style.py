"""Seven kernels in numba.cuda's words, timed on one implementation of `cuda`.

    python benchmarks/cuda_style.py                                        # ours
    NUMBA_ENABLE_CUDASIM=1 BENCH_CUDA=numba.cuda python benchmarks/cuda_style.py

Prints a JSON line for each case and way of running. Needs NumPy and that one module, so
that it runs in an environment that has numba and not this package.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import math
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from timing import time_launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OURS = "tinytorch_gpu.cuda"
MODULE = os.environ.get("BENCH_CUDA", OURS)
cuda: Any = importlib.import_module(MODULE)
TILE = 16
THREADS = 256


@cuda.jit
def vector_add(x, y, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Add one element a thread."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def matmul_naive(a, b, c):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Multiply matrices, one dot product a thread, all reads from global memory."""
    row, col = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = np.float32(0.0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total


@cuda.jit
def matmul_tiled(a, b, c):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Multiply matrices by tiles in shared memory, two barriers a tile."""
    tile_a = cuda.shared.array((TILE, TILE), np.float32)
    tile_b = cuda.shared.array((TILE, TILE), np.float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0.0)
    for t in range(a.shape[1] // TILE):
        tile_a[ty, tx] = a[row, t * TILE + tx]
        tile_b[ty, tx] = b[t * TILE + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    c[row, col] = total


@cuda.jit
def block_sum(x, partial):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Sum each block's elements by halving, one barrier a step."""
    cache = cuda.shared.array(THREADS, np.float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    cache[tid] = x[i] if i < x.size else np.float32(0.0)
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if tid < half:
            cache[tid] += cache[tid + half]
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        partial[cuda.blockIdx.x] = cache[0]


@cuda.jit
def row_softmax(x, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Take the softmax of rows of 256: a block a row, a thread a column."""
    cache = cuda.shared.array(THREADS, np.float32)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    cache[tid] = x[row, tid]
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if tid < half:
            cache[tid] = max(cache[tid], cache[tid + half])
        cuda.syncthreads()
        half //= 2
    largest = cache[0]
    cuda.syncthreads()
    power = math.exp(x[row, tid] - largest)
    cache[tid] = power
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if tid < half:
            cache[tid] += cache[tid + half]
        cuda.syncthreads()
        half //= 2
    out[row, tid] = power / cache[0]


class Case(NamedTuple):
    """A launch on arrays that are on the device, and a check of its answer."""

    name: str
    launch: Callable[[], Any]
    check: Callable[[], None]


def drawn(*shape: int) -> Any:
    """Return float32 numbers in [0, 1), the same each time."""
    return np.random.default_rng(0).random(shape, dtype=np.float32)


def add_case(n: int) -> Case:
    """Add two vectors of n elements."""
    x, y = drawn(2, n)
    dx, dy, out = cuda.to_device(x), cuda.to_device(y), cuda.to_device(np.zeros_like(x))
    blocks = -(-n // THREADS)
    return Case(
        f"vector add {n:,}",
        lambda: vector_add[blocks, THREADS](dx, dy, out),
        lambda: np.testing.assert_array_equal(out.copy_to_host(), x + y),
    )


def matmul_case(kernel: Any, name: str, n: int) -> Case:
    """Multiply two square matrices of n rows."""
    a, b = drawn(2, n, n)
    da, db, dc = cuda.to_device(a), cuda.to_device(b), cuda.to_device(np.zeros_like(a))
    grid = (n // TILE, n // TILE)
    return Case(
        f"{name} {n}³",
        lambda: kernel[grid, (TILE, TILE)](da, db, dc),
        lambda: np.testing.assert_allclose(dc.copy_to_host(), a @ b, rtol=1e-4),
    )


def sum_case(n: int) -> Case:
    """Sum n elements, a number for each block."""
    x = drawn(n)
    dx, partial = cuda.to_device(x), cuda.to_device(x[: n // THREADS] * 0)
    sums = x.reshape(-1, THREADS).sum(axis=1)
    return Case(
        f"block sum {n:,}",
        lambda: block_sum[n // THREADS, THREADS](dx, partial),
        lambda: np.testing.assert_allclose(partial.copy_to_host(), sums, rtol=1e-5),
    )


def softmax_case(rows: int) -> Case:
    """Take the softmax of rows of 256."""
    x = drawn(rows, THREADS)
    dx, out = cuda.to_device(x), cuda.to_device(np.zeros_like(x))
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    expected = powers / powers.sum(axis=1, keepdims=True)
    return Case(
        f"row softmax {rows}×{THREADS}",
        lambda: row_softmax[rows, THREADS](dx, out),
        lambda: np.testing.assert_allclose(out.copy_to_host(), expected, rtol=1e-4),
    )


def cases(*, is_tiny: bool) -> list[Case]:
    """Return the seven cases; the tiny ones only show that everything runs."""
    small, large, low, high, rows = 4096, 65536, 64, 128, 128
    if is_tiny:
        small, large, low, high, rows = 256, 512, 16, 32, 2
    return [
        add_case(small),
        add_case(large),
        matmul_case(matmul_naive, "matmul naive", low),
        matmul_case(matmul_naive, "matmul naive", high),
        matmul_case(matmul_tiled, "matmul tiled", low),
        sum_case(large),
        softmax_case(rows),
    ]


def ways() -> Iterator[tuple[str, contextlib.AbstractContextManager[Any]]]:
    """Yield each way of running with its name; numba's simulator has one."""
    if MODULE != OURS:
        yield "simulator", contextlib.nullcontext()
        return
    settings: Any = importlib.import_module("tinytorch_gpu.settings")
    yield "counted", settings.override(replay=False)
    yield "replayed", settings.override()
    yield "off", settings.override(counters=False)


def main() -> None:
    """Time every case in every way."""
    parser = argparse.ArgumentParser(description="Time seven kernels; see the top.")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each timing")
    parser.add_argument("--tiny", action="store_true", help="sizes for a quick look")
    options = parser.parse_args()
    for case in cases(is_tiny=options.tiny):
        for way, switched in ways():
            with switched:
                row = time_launch(case.launch, case.check, options.seconds)
            print(json.dumps({"case": case.name, "way": way, **row}), flush=True)


if __name__ == "__main__":
    main()
