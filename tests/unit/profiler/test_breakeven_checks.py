"""Requests that `breakeven` refuses before it runs or prices anything."""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import GPUNotFoundError, UnsupportedError
from tinytorch_gpu.profiler.breakeven import breakeven


@cuda.jit
def double(x):
    x[cuda.grid(1)] *= 2


@pytest.mark.parametrize(
    "sizes",
    [
        *([], [0], [-5], [1.5], [True], 64, ["a"], None, "64", [64, None]),
        *([10**200], [2**63], [64, 10**400], range(2**63, 2**63 + 2)),
        np.array([2**63], np.uint64),
    ],
)
def test_sizes(sizes):
    for what, more in (("add", {}), (double, {"arguments": np.ones})):
        with pytest.raises(UnsupportedError, match="sizes=") as caught:
            breakeven(what, sizes, **more)
        assert all((caught.value.where, caught.value.why, caught.value.fix))


@pytest.mark.parametrize("what", [None, 3, [], ["add", None], {}])
def test_neither_op_nor_kernel(what):
    with pytest.raises(UnsupportedError, match="neither an op nor a kernel"):
        breakeven(what, [64])


@pytest.mark.parametrize(
    ("what", "more", "told"),
    [
        (double, {"arguments": 3}, "arguments=3 is no function"),
        ("add", {"arguments": 3}, "arguments=3 for an op by name"),
        ("add", {"host": 3}, "host=3 of type int"),
        ("add", {"host": []}, "of type list"),
        ("add", {"host": "pc"}, "no host is called"),
    ],
)
def test_the_other_arguments(what, more, told):
    with pytest.raises(UnsupportedError, match=told) as caught:
        breakeven(what, [64, 128], **more)
    assert all((caught.value.where, caught.value.why, caught.value.fix))


def test_a_gpu_that_is_none():
    with pytest.raises(GPUNotFoundError):
        breakeven("add", [64], gpu=3)


@pytest.mark.parametrize("sizes", [(64,), range(1, 4), np.array([64, 128])])
def test_sizes_of_any_kind_of_list(sizes):
    assert len(breakeven("add", sizes).rows) == len(sizes)


@pytest.mark.parametrize("op", ["matmul", "add", "relu"])
@pytest.mark.parametrize("size", [1, 1000, 2**31, 2**40, 2**63 - 1])
def test_any_size_that_is_taken_is_priced_and_numpys_as_pythons(op, size):
    (row,) = breakeven(op, [size]).rows
    assert row == breakeven(op, np.array([size])).rows[0]
    assert type(row.size) is int
    assert 0 < row.resident_ns <= row.pinned_ns <= row.pageable_ns < float("inf")
