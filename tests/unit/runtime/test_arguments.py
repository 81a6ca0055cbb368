"""Arguments of a launch: numbers typed as numba types them, tuples, None, arrays."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import DtypeError, KernelTypeError
from tinytorch_gpu.runtime import current_device
from tinytorch_gpu.runtime.arguments import check_arguments, types_of
from tinytorch_gpu.runtime.directions import In, InOut
from tinytorch_gpu.trace import KernelSource

KERNEL = KernelSource("k", "file.py", 3)


class Pair(NamedTuple):
    first: Any
    second: Any


def check(*values):
    names = tuple("abcdef"[: len(values)])
    return check_arguments(KERNEL, names, values)


class Weight(float):
    pass


NUMBERS = [
    (True, np.bool_(True)),
    (3, np.int64(3)),
    (-(2**63), np.int64(-(2**63))),
    (2**63, np.uint64(2**63)),
    (2**64 - 1, np.uint64(2**64 - 1)),
    (0.5, np.float64(0.5)),
    (Weight(0.5), np.float64(0.5)),
    (np.float16(2), np.float16(2)),
    (np.float64(2), np.float64(2)),
    (np.uint8(7), np.uint8(7)),
]


@pytest.mark.parametrize(("given", "typed"), NUMBERS)
def test_a_number_gets_numbas_type(given, typed):
    (made,) = check(given)
    assert (type(made), made) == (type(typed), typed)


def test_none_tuples_and_named_tuples_pass():
    host = np.zeros(2)
    made = check(None, (1, (2.5, True)), Pair(np.int8(1), host))
    assert made[:2] == (None, (np.int64(1), (np.float64(2.5), np.bool_(True))))
    assert isinstance(made[2], Pair)
    assert type(made[2].second) is InOut
    assert made[2].second.value is host


REFUSED = [
    "text",
    2**64,
    -(2**63) - 1,
    1j,
    np.complex64(1),
    [1, 2],
    {},
    object(),
    (1, "x"),
]


@pytest.mark.parametrize("value", REFUSED)
def test_a_kernel_cannot_take_it(value):
    with pytest.raises(KernelTypeError) as caught:
        check(value)
    assert "`a` of k" in caught.value.what


@pytest.mark.parametrize("wrap", [lambda a: a, In, lambda a: (a, 1)])
def test_a_host_dtype_that_devices_do_not_hold_is_refused(wrap):
    with pytest.raises(DtypeError, match="`a`"):
        check(wrap(np.zeros(2, np.complex64)))


def test_the_count_is_checked():
    with pytest.raises(KernelTypeError, match="takes 2 arguments, 1 were"):
        check_arguments(KERNEL, ("a", "b"), (1,))


def test_types_are_shown_without_copies():
    told = []
    current_device().timeline.listeners.append(told.append)
    try:
        seen = types_of(check(np.zeros((2, 3), np.int8), (np.zeros(3), 1)))
    finally:
        current_device().timeline.listeners.clear()
    assert not told
    assert (seen[0].element_dtype, seen[0].lengths) == (np.int8, (2, 3))
    assert (seen[1][0].element_dtype, seen[1][0].lengths) == (np.float64, (3,))


class Tensor:
    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


@cuda.jit
def spread(pair, numbers, flag, out):
    i = cuda.grid(1)
    a, b = numbers
    out[i] = pair[0][i] + pair[1] + a * b
    if flag is None:
        pair[0][i] = -1


def test_a_kernel_uses_tuples_and_none():
    host, out = np.arange(4), np.zeros(4)
    spread[1, 4](Pair(host, 10), (2, 0.5), None, out)
    assert out.tolist() == [11, 12, 13, 14]
    assert host.tolist() == [-1] * 4  # copied back from within the tuple


def test_other_objects_with_the_interface_share_their_memory():
    array = cuda.to_device(np.arange(4.0))

    @cuda.jit
    def double(x):
        x[cuda.grid(1)] *= 2

    double[1, 4](Tensor(array))
    assert array.copy_to_host().tolist() == [0, 2, 4, 6]


def test_counts_follow_the_numbers_in_a_tuple():
    @cuda.jit
    def first(limits, out):
        i = cuda.grid(1)
        if i < limits[0]:
            out[i] = 1

    told, out = [], cuda.to_device(np.zeros(64, np.float32))
    current_device().timeline.listeners.append(told.append)
    try:
        for limit in (32, 64, 64):
            first[2, 32]((limit, 0), out)
    finally:
        current_device().timeline.listeners.clear()
    assert [r.counts.requests for r in told] == [1, 2, 2]


@cuda.jit
def reads_and_writes(x, out):
    out[0] = x[0] + 1


def test_a_read_only_host_array_may_be_read_but_not_written():
    x, out = np.ones(1), np.zeros(1)
    x.flags.writeable = False
    reads_and_writes[1, 1](x, out)
    assert out[0] == 2
    with pytest.raises(KernelTypeError) as caught:
        reads_and_writes[1, 1](out, x)
    assert "`out` is read-only" in caught.value.what
    assert "x.copy()" in caught.value.fix
    assert x[0] == 1
