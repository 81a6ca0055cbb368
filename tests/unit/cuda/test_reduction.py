"""`cuda.reduce`: launches that combine all elements, in numba's order."""

import functools

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda.reduction_kernels import BLOCK, WARP
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.runtime import current_device


@cuda.reduce
def add(a, b):
    return a + b


@cuda.Reduce
@cuda.jit(device=True)
def larger(a, b):
    return max(a, b)


SIZES = [1, 2, 5, 31, 32, 33, 64, 65, 96, 127, 128, 129, 256, 1000]
SIZES += [64 * BLOCK, 64 * BLOCK + 7, 130 * BLOCK, 200 * BLOCK + 77]


@pytest.mark.parametrize("size", SIZES)
def test_integers_of_every_size(size):
    x = np.random.default_rng(size).integers(-1000, 1000, size).astype(np.int32)
    assert add(x) == x.sum()
    assert add(cuda.to_device(x), init=5) == x.sum() + 5
    assert larger(x, init=-2000) == x.max()
    assert type(add(x)) is np.int32


# The order of combination, one value at a time: an oracle for the last bit of floats.


def halves(values):
    values = list(values)
    while len(values) > 1:
        half = len(values) // 2
        values = [values[i] + values[i + half] for i in range(half)]
    return values[0]


def whole_blocks(x, blocks):
    rows = x.reshape(-1, BLOCK)
    partials = []
    for block in range(blocks):
        lanes = functools.reduce(np.add, rows[block::blocks])
        w0, w1, w2, w3 = (halves(lanes[i : i + WARP]) for i in range(0, BLOCK, WARP))
        partials.append((w0 + w2) + (w1 + w3))
    return partials


def rest(x):
    warps = [x[i : i + WARP] for i in range(0, len(x), WARP)]
    last = functools.reduce(np.add, warps[-1])
    return functools.reduce(np.add, [*map(halves, warps[:-1]), last])


def expected(x, init):
    split = len(x) - len(x) % BLOCK
    partials = whole_blocks(x[:split], min(split // BLOCK, 64)) if split else []
    partials += [rest(x[split:])] if split < len(x) else []
    partials[0] += init
    return rest(np.array(partials)) if len(partials) > 1 else partials[0]


@pytest.mark.parametrize("size", SIZES)
def test_floats_to_the_last_bit(size):
    x = np.random.default_rng(size).normal(size=size).astype(np.float32)
    init = np.float32(0.3)
    found = add(x, init=0.3)
    assert (type(found), found) == (np.float32, expected(x, init))


def test_a_part_of_an_array():
    x = np.arange(10)
    assert add(x, size=4) == 6
    assert add(cuda.to_device(x)[::2]) == 20


def test_an_empty_array_gives_the_start():
    found = add(np.zeros(0, np.int16), init=3)
    assert (type(found), found) == (np.int16, 3)


def test_the_result_can_stay_on_the_device():
    told = []
    res = cuda.to_device(np.zeros(2, np.int64))
    x = cuda.to_device(np.arange(100))
    current_device().timeline.listeners.append(told.append)
    try:
        assert add(x, res=res, stream=cuda.stream()) is None
    finally:
        current_device().timeline.listeners.clear()
    assert all(getattr(record, "direction", "") in ("", "d2d") for record in told)
    assert res.copy_to_host().tolist() == [4950, 0]


def test_two_axes_are_refused():
    with pytest.raises(ShapeError, match=r"\(2, 3\)"):
        add(np.zeros((2, 3)))
