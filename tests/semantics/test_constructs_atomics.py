"""Section 7 of simt-semantics, atomics: a test for each row."""

import itertools

import numpy as np
import pytest

from tests.semantics.rows import ROWS_IN_ALL, Rows, counts_of, integers
from tinytorch_gpu import cuda, settings
from tinytorch_gpu.errors import OutOfBoundsError

row = Rows()


def ints(n):
    return np.zeros(n, np.int64)


@row("duplicates inside a warp")
def _all_are_applied_and_each_lane_gets_a_right_old_value():
    @cuda.jit
    def kernel(bins, values, old):
        i = cuda.grid(1)
        old[i] = cuda.atomic.add(bins, i % 3, values[i])

    values = np.random.default_rng(0).integers(1, 100, 96)
    bins, old = ints(3), ints(96)
    kernel[2, 48](bins, values, old)
    for k in range(3):
        mine, given = old[k::3], values[k::3]
        assert bins[k] == given.sum()
        # In one serial order: what each saw is what those before it added.
        order = np.argsort(mine)
        assert mine[order].tolist() == [0, *np.cumsum(given[order])[:-1].tolist()]


@row("float add order")
def _it_is_the_order_of_lanes():
    @cuda.jit
    def kernel(total, values):
        cuda.atomic.add(total, 0, values[cuda.grid(1)])

    values = np.random.default_rng(4).normal(0, 1e3, 96).astype(np.float32)
    total = np.zeros(1, np.float32)
    kernel[3, 32](total, values)
    expected = np.float32(0)
    for value in values:
        expected = np.float32(expected + value)
    backwards = np.float32(0)
    for value in values[::-1]:
        backwards = np.float32(backwards + value)
    assert total[0] == expected != backwards


@row("float add order")
def _a_shuffled_schedule_draws_it():
    @cuda.jit
    def kernel(total, values, old):
        t = cuda.threadIdx.x
        old[t] = cuda.atomic.add(total, 0, values[t])

    values = np.random.default_rng(4).normal(0, 1e3, 32).astype(np.float32)

    def run(seed):
        total, old = np.zeros(1, np.float32), np.zeros(32, np.float32)
        with settings.override(schedule="shuffled", schedule_seed=seed):
            kernel[1, 32](total, values, old)
        return total[0], old

    totals = {run(seed)[0].item() for seed in range(8)}
    assert len(totals) > 1
    assert max(totals) - min(totals) < 0.05  # 32 roundings of sums below 2**14
    total, old = run(1)
    assert run(1)[0] == total
    # Each lane's old value plus its own is what exactly one other lane found.
    left = sorted([*(old + values).tolist(), 0.0])
    assert left == sorted([*old.tolist(), total.item()])


@row("`add` result")
def _it_is_the_old_value():
    @cuda.jit
    def kernel(out, cell):
        t = cuda.threadIdx.x
        out[t] = cuda.atomic.add(cell, 0, 2)

    out, cell = ints(40), integers(7)
    kernel[1, 40](out, cell)
    assert sorted(out.tolist()) == [7 + 2 * t for t in range(40)]
    assert cell[0] == 87


@row("integer wrap")
def _it_is_modulo_two_to_the_n():
    @cuda.jit
    def kernel(signed, unsigned):
        cuda.atomic.add(signed, 0, 1)
        cuda.atomic.sub(unsigned, 0, 1)

    signed = np.array([2**31 - 2], np.int32)
    unsigned = np.array([1], np.uint32)
    kernel[1, 3](signed, unsigned)
    assert signed[0] == -(2**31) + 1
    assert unsigned[0] == 2**32 - 2


@row("inc/dec")
def _they_wrap_at_their_limit():
    @cuda.jit
    def kernel(cells, up, down):
        t = cuda.threadIdx.x
        up[t] = cuda.atomic.inc(cells, 0, 3)
        down[t] = cuda.atomic.dec(cells, 1, 3)

    cells = np.array([2, 1], np.uint32)
    up, down = ints(7), ints(7)
    kernel[1, 7](cells, up, down)
    assert up.tolist() == [2, 3, 0, 1, 2, 3, 0]
    assert down.tolist() == [1, 0, 3, 2, 1, 0, 3]
    assert cells.tolist() == [1, 2]
    outside = np.array([9, 9], np.uint32)
    kernel[1, 1](outside, up, down)
    assert outside.tolist() == [0, 3]


@row("`cas` contention")
def _one_lane_wins_for_each_old_value():
    @cuda.jit
    def kernel(cell, old):
        i = cuda.grid(1)
        old[i] = cuda.atomic.cas(cell, 0, 0, i + 1)

    cell, old = ints(1), ints(80)
    kernel[2, 40](cell, old)
    winners = np.flatnonzero(old == 0)
    assert len(winners) == 1
    assert cell[0] == winners[0] + 1
    assert set(old.tolist()) == {0, cell[0]}


@row("max/min on float")
def _ordinary_numbers_compare_in_the_ordinary_way():
    @cuda.jit
    def kernel(cells, values):
        i = cuda.grid(1)
        cuda.atomic.max(cells, 0, values[i])
        cuda.atomic.min(cells, 1, values[i])
        cuda.atomic.nanmax(cells, 2, values[i])
        cuda.atomic.nanmin(cells, 3, values[i])

    values = np.array([1.5, -7, 2.25, 0.5], np.float32)
    cells = np.zeros(4, np.float32)
    kernel[1, 4](cells, values)
    assert cells.tolist() == [2.25, -7, 2.25, -7]
    values[1] = np.nan  # the NaN-ignoring forms pass over it
    cells = np.zeros(4, np.float32)
    kernel[1, 4](cells, values)
    assert cells.tolist()[2:] == [2.25, 0]


@row("cost")
def _an_atomic_is_counted():
    @cuda.jit
    def kernel(cells):
        cuda.atomic.add(cells, cuda.grid(1) % 2, 1)

    cells = ints(2)
    counts = counts_of(lambda: kernel[2, 64](cells))
    (access,) = counts.accesses
    assert (access.array, access.space, access.kind) == ("cells", "global", "atomic")
    assert (access.requests, access.active_lanes) == (4, 128)
    assert cells.tolist() == [64, 64]


@row("out-of-bounds atomic")
def _it_is_told_as_a_store_is():
    @cuda.jit
    def kernel(cells, shift):
        cuda.atomic.add(cells, cuda.threadIdx.x + shift, 1)

    cells = ints(8)
    with pytest.raises(OutOfBoundsError, match="cells") as caught:
        kernel[1, 8](cells, 3)
    assert caught.value.threads == tuple((t, 0, 0) for t in (5, 6, 7))
    assert not cells.any()
    with settings.override(warn_negative_index=False):
        kernel[1, 8](cells, -8)  # negative indices wrap once
    assert cells.tolist() == [1] * 8


OPERATIONS = {
    "add": lambda old, value: old + value,
    "sub": lambda old, value: old - value,
    "max": max,
    "min": min,
    "and_": lambda old, value: old & value,
    "or_": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "exch": lambda _old, value: value,
}


@pytest.mark.parametrize(
    ("name", "dtype"),
    list(itertools.product(OPERATIONS, (np.int32, np.int64, np.uint32, np.uint64))),
    ids=str,
)
def test_every_operation_in_lane_order_with_old_values(name, dtype):
    operation = getattr(cuda.atomic, name)

    @cuda.jit
    def kernel(cell, values, old):
        i = cuda.grid(1)
        old[i] = operation(cell, 0, values[i])

    values = np.random.default_rng(2).integers(1, 2**31, 40).astype(dtype)
    cell, old = np.full(1, 1000, dtype), np.zeros(40, dtype)
    kernel[1, 40](cell, values, old)
    bits = 8 * cell.itemsize
    now = 1000
    for i in range(40):
        assert int(old[i]) % 2**bits == now % 2**bits
        now = OPERATIONS[name](now, int(values[i]))
    assert int(cell[0]) % 2**bits == now % 2**bits


test_the_construct = row.as_test()


def test_every_row_has_its_test():
    assert len(row.names) == ROWS_IN_ALL[7]
