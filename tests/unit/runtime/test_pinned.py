"""Pinned host memory: known by address, for as long as it lives or is pinned."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import KernelTypeError, OutOfMemoryError
from tinytorch_gpu.runtime import pinned


def test_memory_is_pinned_while_a_view_of_it_lives():
    memory = pinned.pinned_bytes(64)
    view = memory.view(np.float32)[::-2]
    del memory
    assert pinned.is_pinned(view)
    before = len(pinned._ranges)
    del view
    assert len(pinned._ranges) == before - 1


def test_a_part_is_pinned_and_what_reaches_beyond_is_not():
    host = np.zeros((4, 6))
    with pinned.pin(host[1:3]):
        assert pinned.is_pinned(host[2])
        assert pinned.is_pinned(host[1:3, ::-1].T)
        assert not pinned.is_pinned(host)
        assert not pinned.is_pinned(host[3])
        assert not pinned.is_pinned(np.zeros(4))
    assert not pinned.is_pinned(host[2])


def test_pinning_nests_and_ends_with_an_error():
    host = np.zeros(4)
    with pinned.pin(host):
        with pytest.raises(ZeroDivisionError), pinned.pin(host, host[:2]):
            _ = 1 / 0
        assert pinned.is_pinned(host)
    assert not pinned.is_pinned(host)


@pytest.mark.parametrize("value", [[1], 3, None, "a"])
def test_what_is_no_host_array_is_refused(value):
    host = np.ones(4)
    with pytest.raises(KernelTypeError, match="can be pinned"), pinned.pin(host, value):
        pass
    assert not pinned.is_pinned(host)


@pytest.mark.parametrize(
    "make",
    [cuda.pinned_array, cuda.mapped_array, cuda.managed_array, pinned.pinned_bytes],
)
@pytest.mark.parametrize("size", [2**60, 2**62, 2**63, 10**40])
def test_more_than_the_host_has_is_refused_in_four_parts(make, size):
    before = len(pinned._ranges)
    with pytest.raises(OutOfMemoryError, match="the host is out of memory") as caught:
        make(size)
    assert isinstance(caught.value, MemoryError)
    assert all((caught.value.where, caught.value.why, caught.value.fix))
    assert len(pinned._ranges) == before
