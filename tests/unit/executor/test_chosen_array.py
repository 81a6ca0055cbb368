"""A variable that holds one array in some lanes and another in the rest."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.errors import OutOfBoundsError

N = 70
X, Y = np.arange(N, dtype=np.float32), 100 + np.arange(N, dtype=np.float32)
I = np.arange(N)


@cuda.jit
def swapped_under_a_guard(x, y, out):
    i = cuda.grid(1)
    if i % 3 == 0:
        x, y = y, x
    if i < out.size:
        out[i] = x[i] - 2 * y[i]


@cuda.jit
def by_a_ternary(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        a = x if i % 3 else y
        out[i] = a[i] - 2 * (y if i % 3 else x)[i]


@cuda.jit
def by_branches(x, y, out):
    i = cuda.grid(1)
    if i % 3 == 0:
        a = y
        b = x
    else:
        a = x
        b = y
    if i < len(a):
        out[i] = a[i] - 2 * b[i]


@cuda.jit
def in_tuples(x, y, out):
    i = cuda.grid(1)
    pair = (x, y) if i % 3 else (y, x)
    if i < out.size:
        out[i] = pair[0][i] - 2 * pair[1][i]


@pytest.mark.parametrize(
    "kernel",
    [swapped_under_a_guard, by_a_ternary, by_branches, in_tuples],
    ids=lambda k: k.__name__,
)
@pytest.mark.parametrize("counters", [True, False])
def test_each_lane_reads_its_own(kernel, counters):
    out = np.zeros(N, np.float32)
    with settings.override(counters=counters):
        kernel[3, 32](X, Y, out)
    chosen = np.where(I % 3, X - 2 * Y, Y - 2 * X)
    assert (out == chosen).all()


@cuda.jit
def stores(x, y, z):
    i = cuda.grid(1)
    a = x if i % 2 else y
    if i % 5 == 0:
        a = z
    if i < a.shape[0]:
        a[i] = a[i] + 1000


def test_each_lane_writes_its_own():
    arrays = [np.zeros(N), np.zeros(N), np.zeros(N)]
    stores[3, 32](*arrays)
    x, y, z = (a == 1000 for a in arrays)
    assert (z == (I % 5 == 0)).all()
    assert (x == (I % 5 != 0) & (I % 2 == 1)).all()
    assert (y == (I % 5 != 0) & (I % 2 == 0)).all()


@cuda.jit
def shared_or_global(x, out):
    s = cuda.shared.array(32, "float32")
    t = cuda.threadIdx.x
    s[t] = t * 10
    cuda.syncthreads()
    a = s if t < 16 else x
    out[t] = a[31 - t]


def test_the_arrays_may_lie_in_different_memory():
    out = np.zeros(32, np.float32)
    shared_or_global[1, 32](X, out)
    t = np.arange(32)
    assert (out == np.where(t < 16, 10 * (31 - t), X[31 - t])).all()


@cuda.jit
def rows_and_atomics(x, y, out):
    i = cuda.grid(1)
    row = x[i % 2] if i % 3 else y[i % 2]
    if i < 64:
        cuda.atomic.add(row, i % 4, 1)
        out[i] = row[1:][0] + row.size


def test_views_and_atomics_of_a_choice():
    x, y, out = np.zeros((2, 4)), np.zeros((2, 4)), np.zeros(64)
    rows_and_atomics[2, 32](x, y, out)
    i = np.arange(64)
    counts = [np.zeros((2, 4)), np.zeros((2, 4))]
    for k in i:
        counts[0 if k % 3 else 1][k % 2, k % 4] += 1
    assert (x == counts[0]).all()
    assert (y == counts[1]).all()
    assert (out == 4 + np.where(i % 3, x[i % 2, 1], y[i % 2, 1])).all()


@cuda.jit
def outside_in_one(x, y, out):
    i = cuda.grid(1)
    a = x if i % 2 else y
    out[i] = a[i]


def test_a_lane_outside_its_own_array_is_told():
    out = np.zeros(64)
    with pytest.raises(OutOfBoundsError) as caught:
        outside_in_one[2, 32](np.zeros(64), np.zeros(40), out)
    assert caught.value.lanes_at_fault == 12
    assert not out.any()


@cuda.jit
def swapped_many_times(x, y, out, n):
    i = cuda.grid(1)
    for _ in range(i % (n + 1)):
        x, y = y, x
    total = 0
    for v in x:
        total += v
    out[i] = 1000 * total + x[-1] + x.size


def test_a_choice_of_two_stays_one_of_two():
    x, y = np.arange(4), np.arange(5) + 10
    out = np.zeros(64, np.int64)
    swapped_many_times[1, 64](x, y, out, 50)
    of = [1000 * a.sum() + a[-1] + a.size for a in (x, y)]
    assert out.tolist() == [of[i % 51 % 2] for i in range(64)]


@cuda.jit
def a_choice_stored_whole(x, y, out):
    i = cuda.grid(1)
    out[i, :] = x if i % 3 else y


def test_a_choice_is_stored_whole():
    out = np.zeros((40, 4))
    a_choice_stored_whole[2, 20](np.full(4, 1.0), np.full(4, 2.0), out)
    assert (out == np.where(np.arange(40) % 3, 1, 2)[:, None]).all()
