"""Views and grids: what merges, what is looped over, which axis becomes the columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels.copying import copy
from tinytorch_gpu.kernels.layout import (
    block_of_row,
    configuration,
    launch_elementwise,
    split_axis,
)
from tinytorch_gpu.kernels.threads import add


def device(*shape):
    return cuda.device_array(shape, np.float32)


@pytest.mark.parametrize(
    ("lengths", "grid", "block"),
    [
        ((1,), (1,), (1,)),
        ((1000,), (4,), (256,)),
        ((1000, 1), (4, 1), (256, 1)),
        ((10, 64), (1, 4), (16, 16)),
        ((1, 300), (1, 2), (1, 256)),
        ((33, 33), (1, 9), (64, 4)),
        ((1, 1, 300), (1, 1, 5), (1, 1, 64)),
    ],
)
def test_configuration(lengths, grid, block):
    assert configuration(*lengths) == (grid, block)


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=3))
def test_a_grid_covers_every_element_and_a_block_is_legal(lengths):
    grid, block = configuration(*lengths)
    assert np.prod(block) <= 256
    for n, blocks, threads in zip(lengths, grid, block, strict=True):
        assert (blocks - 1) * threads < n <= blocks * threads


@given(st.integers(1, 100_000))
def test_a_row_gets_whole_warps(length):
    threads = block_of_row(length)
    assert threads in (32, 64, 128, 256)
    assert threads == 32 or threads <= length


@pytest.mark.parametrize(
    ("view", "blocks", "count"),
    [
        (lambda x: x, [(120 // 128 + 1, 1, 1)], 1),  # contiguous: one row of 120
        (lambda x: x.T, [(1, 1, 1)], 1),  # the same elements: still one row
        (lambda x: x[:, :, :5], None, 1),  # 20 rows of 5
        (lambda x: x[:, :3], None, 1),  # 4 rows of 18
        (lambda x: x[:, ::2, ::2], None, 3),  # 4 rows of 3, for each of 3
    ],
)
def test_launches_of_a_view(launches, view, blocks, count):
    x = view(cuda.to_device(np.zeros((4, 5, 6), np.float32)))
    records = launches(lambda: add(x, 1.0, out=x))
    assert len(records) == count
    if blocks:
        assert [r.grid for r in records] == blocks


def test_columns_follow_the_stores(launches):
    x = cuda.to_device(np.zeros((64, 96), np.float32))
    (record,) = launches(lambda: copy(x.T))
    accesses = {a.kind: a.sectors_per_request for a in record.counts.accesses}
    assert accesses == {"store": 4.0, "load": 32.0}


def test_nothing_is_launched_for_no_elements(launches):
    assert not launches(lambda: launch_elementwise(None, (), device(0, 3)))


def copy_kernel_of_rows():
    @cuda.jit
    def kernel(x, out):
        col, row = cuda.grid(2)
        if row < out.shape[0] and col < out.shape[1]:
            out[row, col] = x[row, col]

    return kernel


def test_rows_beyond_the_limit_are_cut(monkeypatch, launches, close):
    monkeypatch.setattr("tinytorch_gpu.kernels.layout.MAX_GRID_YZ", 2)
    host = np.random.default_rng(0).random((40, 300)).astype(np.float32)
    x = cuda.to_device(host)[:, :257]
    out = device(40, 257)
    records = launches(lambda: launch_elementwise(copy_kernel_of_rows(), (x,), out))
    assert len(records) == 20
    close(out, host[:, :257])


@pytest.mark.parametrize(
    ("axes", "shape"),
    [
        ((0,), (1, 4, 30)),
        ((1,), (4, 5, 6)),
        ((2,), (1, 6, 20)),
        ((0, 1), (1, 20, 6)),
        ((1, 2), (1, 30, 4)),
        ((0, 1, 2), (1, 120, 1)),
        ((), (1, 1, 120)),
        ((0, 2), None),
    ],
)
def test_split_axis_of_contiguous_arrays(axes, shape):
    views = split_axis([device(4, 5, 6)], axes)
    assert views is None if shape is None else views[0].shape == shape


@settings(max_examples=100, deadline=None)
@given(st.permutations(range(3)), st.sets(st.integers(0, 2)))
def test_split_axis_keeps_elements(order, axes):
    host = np.arange(24.0).reshape(2, 3, 4).transpose(order)
    x = cuda.to_device(np.arange(24.0).reshape(2, 3, 4)).transpose(tuple(order))
    views = split_axis([x], tuple(sorted(axes)))
    if views is None:
        return
    sums = views[0].copy_to_host().sum(axis=1).ravel()
    expected = host.sum(axis=tuple(axes)) if axes else host
    np.testing.assert_array_equal(sums, expected.ravel())
