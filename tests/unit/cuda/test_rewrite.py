"""A kernel becomes a lane program, plain and counted, that can be read."""

import gc
import linecache

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.cuda.dummies import array_dummy
from tinytorch_gpu.cuda.jit import function_behind
from tinytorch_gpu.cuda.rewrite import KernelFunction
from tinytorch_gpu.executor import Batch
from tinytorch_gpu.executor.engine import LINES

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


def rewritten(function, *dummies):
    return KernelFunction(function, function_behind).kernel_program(dummies)


def scaled():
    line = array_dummy("float32", 1)
    return rewritten(scale, line, line, np.float64(1))


def test_the_program_says_what_the_kernel_is():
    program = scaled()
    assert program.source.name == "scale"
    assert program.source.file == __file__
    assert program.parameters == ("x", "out", "factor")
    assert program.is_resumable
    assert program.shared == (((8, 16), np.dtype("float32")),)


def test_a_kernel_without_a_barrier_is_not_resumable():
    assert not rewritten(plain, array_dummy("int32", 1)).is_resumable
    assert rewritten(plain, array_dummy("int32", 1)).shared == ()


def test_the_text_is_python_and_speaks_of_the_kernels_variables():
    text = scaled().text
    assert "v_tile" in text
    assert "v_factor" in text


def test_every_line_of_the_programs_leads_to_a_line_of_the_kernel():
    program = scaled()
    lines = {place.text for place in program.plain.__globals__[LINES]}
    assert {"cuda.syncthreads()", "tile[i % SIZE, 0] = x[i]"} <= lines


def test_a_device_function_computes_on_lanes():
    program = KernelFunction(twice, function_behind).device_program([np.int64(1)])
    assert not program.arrays
    batch = Batch((1, 1, 1), (32, 1, 1), first=0, count=1)
    found = program.plain(batch, batch.entry, np.arange(32)[None])
    assert found[0].tolist() == list(range(0, 64, 2))
    assert program.returned.dtype == np.int64


def device_with_barrier(a):
    cuda.syncthreads()
    return a


def test_a_barrier_in_a_device_function_makes_it_resumable():
    function = KernelFunction(device_with_barrier, function_behind)
    assert function.device_program([np.int64(1)]).is_resumable


def test_a_collected_program_leaves_linecache_with_the_next_one():
    def texts():
        return {file for file in linecache.cache if file.endswith(" of plain>")}

    before = texts()
    program = rewritten(plain, array_dummy("float32", 1))
    made = texts() - before
    del program
    gc.collect()
    assert made
    assert made <= texts()  # somebody may be walking over linecache just now
    kept = rewritten(plain, array_dummy("float32", 1))
    assert kept
    assert not made & texts()
