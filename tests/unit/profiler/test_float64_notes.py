"""Float64 arithmetic in a float32 kernel is told line by line, with the fix."""

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.profiler import profile
from tinytorch_gpu.profiler.float64_notes import float64_notes


@cuda.jit
def careless(x, out):
    i = cuda.grid(1)
    total = 0.0
    total += x[i]
    out[i] = total * float32(2.0)


@cuda.jit
def careful(x, out):
    i = cuda.grid(1)
    total = float32(0.0)
    total += x[i]
    out[i] = total * float32(2.0)


def notes_of(kernel, dtype, launches=1):
    x = cuda.to_device(np.ones(64, dtype))
    out = cuda.device_array(64, dtype)
    with profile() as prof:
        for _ in range(launches):
            kernel[1, 64](x, out)
    return prof.notes()


def test_each_line_is_named_with_its_count_and_the_fix():
    first, second = notes_of(careless, np.float32)
    assert "total += x[i]" in first
    assert "out[i] = total * float32(2.0)" in second
    for note in (first, second):
        assert "careless, line " in note
        assert "64 float64 operations" in note
        assert "float32(0.0)" in note


def test_launches_of_one_kernel_add_up():
    first, _ = notes_of(careless, np.float32, launches=3)
    assert "192 float64 operations" in first


@cuda.jit
def counts_carelessly(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * 2.0


def test_other_arrays_may_be_integers_and_the_note_does_not_say_float32():
    x = cuda.to_device(np.ones(64, np.float32))
    out = cuda.device_array(64, np.int32)
    with profile() as prof:
        counts_carelessly[1, 64](x, out)
    (note,) = prof.notes()
    assert "64 float64 operations in a kernel that touches no float64 array:" in note


def test_no_note_where_all_is_float32():
    assert notes_of(careful, np.float32) == []


def test_no_note_where_the_arrays_are_float64_or_integers():
    assert notes_of(careless, np.float64) == []
    assert notes_of(careless, np.int32) == []


def test_launches_without_counts_have_no_notes(launch):
    assert float64_notes([launch(counts=None)]) == []
