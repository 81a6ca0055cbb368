"""The engine runs all blocks in batches, and leaves nothing behind when a kernel faults."""

import warnings

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.errors import KernelTypeError, OutOfBoundsError
from tinytorch_gpu.executor import engine
from tinytorch_gpu.memory import elements_of


@cuda.jit
def order(out, x):
    out[0] = cuda.blockIdx.x + x[cuda.grid(1)] * 0


def test_blocks_run_in_index_order():
    out, x = np.zeros(1, np.int32), np.zeros(320, np.int32)
    for lanes in (32, 96, 16_384):
        with settings.override(batch_lanes=lanes):
            order[10, 32](out, x)
        assert out[0] == 9


@pytest.mark.parametrize(
    ("lanes", "block", "sizes"),
    [
        (32, 32, [1] * 10),
        (96, 32, [3, 3, 3, 1]),
        (95, 32, [2] * 5),
        (1, 32, [1] * 10),
        (128, 40, [2] * 5),
        (16_384, 40, [10]),
    ],
)
def test_a_batch_has_as_many_blocks_as_fit_but_one_at_least(
    monkeypatch, lanes, block, sizes
):
    seen = []

    class Spy(engine.Batch):
        def __init__(self, *given, **options):
            seen.append(options["count"])
            super().__init__(*given, **options)

    monkeypatch.setattr(engine, "Batch", Spy)
    with settings.override(batch_lanes=lanes):
        order[10, block](np.zeros(1, np.int32), np.zeros(400, np.int32))
    assert seen == sizes


@cuda.jit
def fault_at_the_end(x, y, last):
    i = cuda.grid(1)
    x[i] = -1
    y[0] = i
    x[i + 2 * (i == last) * x.size] = -2


@pytest.mark.parametrize("lanes", [32, 16_384])
def test_a_fault_puts_all_arrays_back(lanes):
    x = cuda.to_device(np.arange(320, dtype=np.float32))
    y = cuda.to_device(np.arange(4, dtype=np.int32))
    before = elements_of(x).tobytes(), elements_of(y).tobytes()
    with settings.override(batch_lanes=lanes), pytest.raises(OutOfBoundsError):
        fault_at_the_end[10, 32](x, y, 319)
    assert (elements_of(x).tobytes(), elements_of(y).tobytes()) == before


def test_a_fault_puts_back_what_a_view_shares():
    base = cuda.to_device(np.arange(640, dtype=np.float32))
    with pytest.raises(OutOfBoundsError):
        fault_at_the_end[10, 32](base[::2], base[1::2], 319)
    assert (base.copy_to_host() == np.arange(640)).all()


@cuda.jit
def type_error_after_a_store(x):
    x[cuda.grid(1)] = 1
    x[0] = 1 / x


@cuda.jit(device=True)
def inner(x, i):
    return x[i + 1000]


@cuda.jit
def fault_in_a_device_function(x):
    x[0] = inner(x, cuda.grid(1))


def test_an_error_without_a_place_is_given_the_kernels_line():
    with pytest.raises(KernelTypeError) as caught:
        type_error_after_a_store[1, 32](np.zeros(32))
    assert "type_error_after_a_store, line" in caught.value.where
    assert caught.value.where.endswith("x[0] = 1 / x")


def test_a_fault_in_a_device_function_names_that_function():
    with pytest.raises(OutOfBoundsError) as caught:
        fault_in_a_device_function[1, 32](np.zeros(32))
    assert caught.value.where.startswith("inner, line")
    assert "return x[i + 1000]" in caught.value.where


@cuda.jit
def everything_overflows(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * 1e300 * 1e300 / 0 - 2**63 * i + (i // 0) + x[i] / x[i]


def test_nothing_warns_and_the_callers_error_state_stays():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        everything_overflows[1, 32](np.zeros(32, np.float32), np.zeros(32, np.float32))
        assert set(np.geterr().values()) == {"raise"}
