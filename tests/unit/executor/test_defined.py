"""Lanes that never assigned a variable, and when that is told."""

import re
import warnings

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import KernelWarning
from tinytorch_gpu.executor import Batch
from tinytorch_gpu.executor.defined import now_defined

N = 40


def lanes(batch, *threads):
    return batch.entry.split(np.isin(np.arange(64), threads)[None])[0]


def test_what_is_defined_after_an_assignment():
    batch = Batch((1, 1, 1), (64, 1, 1), first=0, count=1)
    old, mask = lanes(batch, 0, 1, 2), lanes(batch, 2, 3, 4)
    found = now_defined(old, mask, lanes(batch, 3, 9), lanes(batch, 3, 4))
    assert np.flatnonzero(found.full()[0]).tolist() == [0, 1, 3]


@cuda.jit
def stored(x, out):
    i = cuda.grid(1)
    if i < 10:
        v = x[i]
    out[i] = v


@cuda.jit
def computed_with_and_stored(x, out):
    i = cuda.grid(1)
    if i < 10:
        v = x[i]
    w = v * 2
    u, t = w + 1, 5
    out[i] = u


@cuda.jit
def as_an_index(x, out):
    i = cuda.grid(1)
    for k in range(i - 5):
        v = 0
    out[v - v] = 1


@cuda.jit
def as_a_condition(x, out):
    i = cuda.grid(1)
    if i < 10:
        v = x[i]
    if v > 0:
        out[i] = 1


@cuda.jit
def as_a_bound(x, out):
    i = cuda.grid(1)
    if i < 10:
        v = 3
    else:
        out[i] = 1
    for k in range(min(v, 2)):
        out[i] = k


SHOWN = {
    stored: (30, (10, 39)),
    computed_with_and_stored: (30, (10, 39)),
    as_an_index: (6, (0, 5)),
    as_a_condition: (30, (10, 39)),
    as_a_bound: (30, (10, 39)),
}


@pytest.mark.parametrize("kernel", SHOWN, ids=lambda k: k.__name__)
def test_an_undefined_value_that_shows_is_told_with_its_lanes(kernel):
    count, (first, last) = SHOWN[kernel]
    with pytest.warns(KernelWarning) as caught:
        kernel[1, N](np.ones(N), np.zeros(N))
    text = str(caught[0].message)
    assert f"used by {count} lanes that never assigned it" in text
    assert f"threads ({first}, 0, 0) to ({last}, 0, 0)" in text
    assert re.search(r"line \d+:    ", text)
    told = caught[0].message
    assert told.kernel == kernel.py_func.__name__
    assert (caught[0].filename, caught[0].lineno) == (__file__, told.line)
    assert f"line {told.line}:" in text


def test_the_result_is_returned_and_poisoned():
    out = np.zeros(N)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)
        stored[1, N](np.ones(N), out)
    assert (out[:10] == 1).all()
    assert np.isnan(out[10:]).all()


@cuda.jit
def thrown_away(x, out):
    i = cuda.grid(1)
    if i < 10:
        v = x[i]
    v = v + 1
    if i < 10:
        out[i] = v


@cuda.jit
def assigned_later(x, out):
    i = cuda.grid(1)
    if i < 10:
        v = x[i]
    w = v
    v = 1.0
    w = v
    out[i] = w


@cuda.jit
def chosen_only_where_defined(x, out):
    i = cuda.grid(1)
    if i < 10:
        v = x[i]
    out[i] = v if i < 10 else 0.0


@cuda.jit
def assigned_on_every_path(x, out):
    i = cuda.grid(1)
    if i < 10:
        v = x[i]
    elif i < 20:
        return
    else:
        v = 0.0
    out[i] = v


@pytest.mark.parametrize(
    "kernel",
    [thrown_away, assigned_later, chosen_only_where_defined, assigned_on_every_path],
    ids=lambda k: k.__name__,
)
def test_an_undefined_value_that_does_not_show_is_not_told(kernel):
    kernel[1, N](np.ones(N), np.zeros(N))  # a warning is an error here
