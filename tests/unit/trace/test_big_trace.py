"""A trace of 2**20 threads: recorded, saved, loaded and asked."""

import time

import numpy as np

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda

SIZE = 1 << 20


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def test_a_million_threads(tmp_path):
    started = time.perf_counter()
    x = np.arange(SIZE, dtype=np.float32)
    with simgpu.tracing() as traces:
        add[SIZE // 256, 256](x, 2 * x, np.zeros_like(x))
    (trace,) = traces
    file = tmp_path / "add.simtrace"
    trace.save(file)
    again = simgpu.load_trace(file)
    assert trace.is_complete
    assert again.is_complete
    assert len(again.steps) == len(trace.steps) == 4 * 16  # 16 batches of 65,536
    place = {"block": (3001, 0, 0), "thread": (77, 0, 0)}
    element = 3001 * 256 + 77
    (row,) = again.touching("out", element)
    assert (row.block, row.thread) == tuple(place.values())
    assert row.value == np.float32(3 * element)
    rows = again.thread(3001, 77).rows
    assert [r.kind for r in rows] == ["branch", "load", "load", "store"]
    first = again.first_touch("out")
    assert (first.block == np.arange(SIZE) // 256).all()
    assert (first.thread == np.arange(SIZE) % 256).all()
    asked = time.perf_counter()
    assert asked - started < 10
