"""`In`, `Out`, `InOut`: which copies a launch makes, and what both sides see."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.runtime import current_device


@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    out[i] = x[i] + x[i]


@cuda.jit
def leave_alone(x):
    pass


@pytest.fixture
def copies():
    told = []
    current_device().timeline.listeners.append(told.append)
    yield lambda: [r.direction for r in told if hasattr(r, "direction")]
    current_device().timeline.listeners.clear()


def test_in_and_out_copy_once_each(copies):
    x, out = np.arange(4.0), np.full(4, 9.0)
    double[1, 4](cuda.In(x), cuda.Out(out))
    assert out.tolist() == [0, 2, 4, 6]
    assert copies() == ["h2d", "d2h"]


def test_in_is_not_copied_back(copies):
    x = np.arange(4.0)
    double[1, 4](x, cuda.In(x))
    assert x.tolist() == [0, 1, 2, 3]
    assert copies() == ["h2d", "h2d", "d2h"]


def test_out_is_not_copied_in():
    out = np.full(4, 9.0)
    leave_alone[1, 4](cuda.Out(out))
    assert np.isnan(out).all()  # undefined memory: poison


def test_inout_is_as_a_plain_array(copies):
    x = np.arange(4.0)
    double[1, 4](cuda.InOut(x), cuda.InOut(x))
    assert x.tolist() == [0, 2, 4, 6]
    assert copies() == ["h2d", "d2h"]


@pytest.mark.parametrize("kind", [cuda.In, cuda.Out, cuda.InOut])
def test_a_device_array_is_used_as_it_is(kind, copies):
    x = cuda.to_device(np.arange(4.0))
    double[1, 4](kind(x), kind(x))
    assert copies() == ["h2d"]
    assert x.copy_to_host().tolist() == [0, 2, 4, 6]


def test_order_of_axes_is_kept():
    out = np.zeros((2, 3), order="F")

    @cuda.jit
    def mark(out):
        out[cuda.threadIdx.y, cuda.threadIdx.x] = (
            cuda.threadIdx.y * 10 + cuda.threadIdx.x
        )

    mark[1, (3, 2)](cuda.Out(out))
    assert out.tolist() == [[0, 1, 2], [10, 11, 12]]


@pytest.mark.parametrize("kind", [cuda.In, cuda.Out])
def test_what_is_no_array_is_refused(kind):
    with pytest.raises(TypeError, match="argument `x`"):
        leave_alone[1, 4](kind("text"))
