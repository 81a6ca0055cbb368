"""Copies are the only doors between host and device; each leaves one record."""

import numpy as np
import pytest

from tinytorch_gpu.arch import DEVICE_DTYPES
from tinytorch_gpu.cost import copy_ns
from tinytorch_gpu.errors import DtypeError, ShapeError, SimGPUError
from tinytorch_gpu.memory import elements_of
from tinytorch_gpu.runtime import current_device, to_device, to_host
from tinytorch_gpu.runtime.copy import empty_like
from tinytorch_gpu.trace import CopyRecord, LaunchRecord


@pytest.fixture
def records():
    told = []
    current_device().timeline.listeners.append(told.append)
    yield told
    current_device().timeline.listeners.clear()


@pytest.mark.parametrize("dtype", DEVICE_DTYPES)
def test_there_and_back(dtype):
    host = np.arange(6).reshape(2, 3).astype(dtype)
    back = to_host(to_device(host))
    assert back.dtype == dtype
    assert (back == host).all()


LAYOUTS = {
    "C": np.arange(12.0).reshape(3, 4),
    "F": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "strided": np.arange(24.0).reshape(3, 8)[:, ::2],
    "reversed": np.arange(12.0).reshape(3, 4)[::-1],
    "broadcast": np.broadcast_to(np.arange(4.0), (3, 4)),
    "no axes": np.array(3.5),
    "empty": np.zeros((0, 3)),
}


@pytest.mark.parametrize("host", LAYOUTS.values(), ids=LAYOUTS)
def test_an_undefined_copy_has_shape_dtype_and_order(host):
    array, copied = empty_like(host), to_device(host)
    assert (array.shape, array.dtype) == (host.shape, host.dtype)
    assert array.strides == copied.strides


@pytest.mark.parametrize("host", LAYOUTS.values(), ids=LAYOUTS)
def test_any_layout(host):
    array = to_device(host)
    assert (to_host(array) == host).all()
    if not host.flags.f_contiguous:
        assert array.is_c_contiguous()


def test_fortran_order_is_kept():
    assert to_device(LAYOUTS["F"]).strides == LAYOUTS["F"].strides


def test_a_record_has_direction_bytes_reason_and_modelled_time(records):
    to_host(to_device(np.zeros(1000, np.float32), "lesson 1"), "lesson 2")
    there, back = records
    assert (there.direction, there.bytes, there.reason) == ("h2d", 4000, "lesson 1")
    assert (back.direction, back.bytes, back.reason) == ("d2h", 4000, "lesson 2")
    spec = current_device().spec
    assert there.duration_ns == pytest.approx(copy_ns(4000, False, spec), abs=1)
    assert not there.is_pinned
    assert there.op == ""
    assert back.start_ns >= there.start_ns + there.duration_ns


def test_a_view_costs_its_own_elements(records):
    array = to_device(np.zeros((100, 10), np.float32))
    to_host(array[:, :3])
    assert records[-1].bytes == 1200


GAPS = {
    "every other column": lambda x: x[:, ::2],
    "some columns": lambda x: x[:, 1:4],
    "backwards": lambda x: x[::-1],
    "one row for all": lambda x: x[:1].broadcast_to((8, 8)),
}
WHOLE = {
    "all": lambda x: x,
    "transposed": lambda x: x.T,
    "rows": lambda x: x[2:5],
    "one row": lambda x: x[3:4],
    "one element": lambda x: x[3:4, ::9],
    "axes moved": lambda x: x.reshape(2, 4, 8).transpose(1, 0, 2),
    "nothing": lambda x: x[:, :0],
}


@pytest.mark.parametrize("name", {**GAPS, **WHOLE})
def test_gaps_are_packed_by_a_launch_as_in_pytorch(name, records):
    host = np.arange(64, dtype=np.float32).reshape(8, 8)
    there = to_device(host)
    view = {**GAPS, **WHOLE}[name](there)
    records.clear()
    found = to_host(view)
    ops = [r.op for r in records if isinstance(r, LaunchRecord)]
    assert ops == (["tinytorch::copy"] if name in GAPS else [])
    assert [r.bytes for r in records if isinstance(r, CopyRecord)] == [view.nbytes]
    np.testing.assert_array_equal(found, elements_of(view))
    assert to_host(view, out=np.zeros(view.shape, np.float32)).tolist() == (
        found.tolist()
    )


@pytest.mark.parametrize(
    ("name", "nbytes"),
    [("every other column", 252), ("some columns", 236), ("transposed", 256)],
)
def test_copy_to_host_takes_what_lies_between_too_as_in_numba(name, nbytes, records):
    there = to_device(np.arange(64, dtype=np.float32).reshape(8, 8))
    view = {**GAPS, **WHOLE}[name](there)
    records.clear()
    np.testing.assert_array_equal(view.copy_to_host(), elements_of(view))
    assert [(type(r), r.bytes) for r in records] == [(CopyRecord, nbytes)]


def test_into_an_array_that_is_there():
    out = to_device(np.zeros((2, 2), np.float32))
    assert to_device(np.ones((2, 2), np.int64), "again", out=out) is out
    assert elements_of(out).tolist() == [[1, 1], [1, 1]]


def test_another_shape_is_refused_before_anything_is_copied(records):
    out = to_device(np.zeros(4, np.float32))
    records.clear()
    for shape in ((2, 2), (5,), ()):
        with pytest.raises(ShapeError) as caught:
            to_device(np.ones(shape, np.float32), out=out)
        assert "(4,)" in caught.value.what
    assert not records
    assert elements_of(out).tolist() == [0] * 4


@pytest.mark.parametrize("host", [[1 + 2j], ["text"], [None], np.zeros(2, ">f4")])
def test_a_dtype_that_devices_do_not_hold_is_refused(records, host):
    with pytest.raises(DtypeError):
        to_device(host)
    assert not records


def test_a_conversion_into_integers_is_refused_or_saturates_as_on_the_device():
    out = to_device(np.zeros(3, np.int32))
    try:
        to_device(np.array([1e10, np.nan, -2.9]), out=out)
    except SimGPUError:
        assert elements_of(out).tolist() == [0, 0, 0]
    else:
        assert elements_of(out).tolist() == [2**31 - 1, 0, -2]
