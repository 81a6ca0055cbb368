"""Constant arrays: frozen copies of host arrays, read-only."""

import numpy as np
import pytest

from tinytorch_gpu.errors import DtypeError, KernelTypeError, OutOfBoundsError
from tinytorch_gpu.executor import Batch
from tinytorch_gpu.executor.constant_memory import freeze
from tinytorch_gpu.executor.indexing import load, store
from tinytorch_gpu.trace import Site, SourceLine

SITE = Site(SourceLine("k", "lesson.py", 3, "y = WEIGHTS[i]"), "WEIGHTS")
T = np.arange(32)[None]


@pytest.fixture
def batch():
    return Batch((1, 1, 1), (32, 1, 1), first=0, count=1)


@pytest.mark.parametrize("order", ["C", "F"])
def test_elements_are_those_of_the_host_array(batch, order):
    host = np.asarray(np.arange(12, dtype=np.int16).reshape(3, 4), order=order)
    constant = freeze(host)
    index = (T % 3, T % 4)
    assert (load(batch, batch.entry, constant, index, SITE) == host[index]).all()
    assert load(batch, batch.entry, constant, (np.int64(2), np.int64(1)), SITE) == 9


def test_later_changes_of_the_host_array_do_not_show(batch):
    host = np.arange(4.0)
    constant = freeze(host)
    host[1] = 99
    assert load(batch, batch.entry, constant, np.int64(1), SITE) == 1.0


@pytest.mark.parametrize("index", [np.int64(0), slice(None)])
def test_a_store_is_refused_and_names_the_array(batch, index):
    with pytest.raises(KernelTypeError, match="WEIGHTS") as caught:
        store(batch, batch.entry, freeze(np.arange(4.0)), index, np.int64(1), SITE)
    assert "constant memory" in str(caught.value)


def test_a_view_is_read_only_too(batch):
    row = load(batch, batch.entry, freeze(np.eye(3)), np.int64(1), SITE)
    with pytest.raises(KernelTypeError):
        store(batch, batch.entry, row, np.int64(0), np.int64(1), SITE)


def test_an_index_outside_is_told(batch):
    with pytest.raises(OutOfBoundsError):
        load(batch, batch.entry, freeze(np.arange(4.0)), T, SITE)


def test_an_array_without_axes(batch):
    assert load(batch, batch.entry, freeze(np.array(2.5)), (), SITE) == 2.5


def test_complex_values_are_refused():
    with pytest.raises(DtypeError):
        freeze(np.zeros(2, np.complex64))
