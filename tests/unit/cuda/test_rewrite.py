"""A kernel becomes a lane program, plain and counted, that can be read."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.cuda.rewrite import rewrite_device_function, rewrite_kernel
from tinytorch_gpu.executor import Batch

SIZE = 8


def scale(x, out, factor):
    tile = cuda.shared.array((SIZE, 2 * SIZE), float32)
    i = cuda.grid(1)
    tile[i % SIZE, 0] = x[i]
    cuda.syncthreads()
    out[i] = tile[i % SIZE, 0] * factor


def plain(x):
    x[0] = 1


def twice(a):
    return a + a


def test_the_program_says_what_the_kernel_is():
    program = rewrite_kernel(scale)
    assert program.source.name == "scale"
    assert program.source.file == __file__
    assert program.parameters == ("x", "out", "factor")
    assert program.is_resumable
    assert program.shared == (((8, 16), np.dtype("float32")),)


def test_a_kernel_without_a_barrier_is_not_resumable():
    assert not rewrite_kernel(plain).is_resumable
    assert rewrite_kernel(plain).shared == ()


def test_the_text_is_python_and_speaks_of_the_kernels_variables():
    text = rewrite_kernel(scale).text
    assert "v_tile" in text
    assert "v_factor" in text


def test_every_line_of_the_programs_leads_to_a_line_of_the_kernel():
    program = rewrite_kernel(scale)
    lines = {place.text for place in program.lines.values() if place.kernel == "scale"}
    assert {"cuda.syncthreads()", "tile[i % SIZE, 0] = x[i]"} <= lines


def test_a_device_function_computes_on_lanes():
    program, shared = rewrite_device_function(twice, is_counted=False)
    assert not shared
    batch = Batch((1, 1, 1), (32, 1, 1), first=0, count=1)
    assert program(batch, batch.entry, np.arange(32)[None])[0].tolist() == list(
        range(0, 64, 2)
    )


def device_with_barrier(a):
    cuda.syncthreads()
    return a


def test_a_barrier_in_a_device_function_is_refused():
    with pytest.raises(SyntaxError) as caught:
        rewrite_device_function(device_with_barrier, is_counted=False)
    assert "cuda.syncthreads()" in caught.value.where
