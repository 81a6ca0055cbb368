"""`print`, `assert` and `raise` in kernels: lane by lane, in the order of threads."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import KernelRaisedError


@cuda.jit
def prints(x):
    i = cuda.grid(1)
    if i % 3 == 0:
        print("lane", i, x[i], (i, 2 * i), x[i] > 1)
    if i == 1:
        print()


def test_each_lane_prints_a_line(capsys):
    prints[2, 4](np.arange(8, dtype=np.float32) / 2)
    assert capsys.readouterr().out.splitlines() == [
        "lane 0 0.0 (0, 0) False",
        "lane 3 1.5 (3, 6) True",
        "lane 6 3.0 (6, 12) True",
        "",
    ]


def checked(x, out):
    i = cuda.grid(1)
    out[i] = 1
    assert x[i] < 5, "too large"
    out[i] = 2


def raises(x, out):
    i = cuda.grid(1)
    out[i] = 1
    if x[i] >= 5:
        raise ValueError("too large")
    out[i] = 2


@pytest.mark.parametrize(
    ("function", "kind"), [(checked, AssertionError), (raises, ValueError)]
)
def test_with_debug_the_launch_stops_and_nothing_has_changed(function, kind):
    out = np.zeros(40)
    kernel = cuda.jit(debug=True, opt=False)(function)
    with pytest.raises(KernelRaisedError) as caught:
        kernel[1, 40](np.arange(40), out)
    assert isinstance(caught.value, kind)
    assert "35 lanes" in caught.value.what
    assert "too large" in caught.value.what
    assert "threads (5, 0, 0) to (39, 0, 0)" in caught.value.where
    assert not out.any()
    kernel[1, 5](np.arange(40), out)
    assert out.tolist() == [2] * 5 + [0] * 35


def test_without_debug_an_assertion_is_not_checked():
    out = np.zeros(40)
    cuda.jit(checked)[1, 40](np.arange(40), out)
    assert (out == 2).all()


def test_without_debug_a_thread_that_raises_is_over():
    out = np.zeros(40)
    cuda.jit(raises)[1, 40](np.arange(40), out)
    assert out.tolist() == [2] * 5 + [1] * 35


@pytest.mark.parametrize("operator", ["//", "%", "/"])
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_with_debug_division_by_zero_is_told(operator, dtype, tmp_path):
    path = tmp_path / "divides.py"
    path.write_text(
        "from tinytorch_gpu import cuda\n"
        "def divides(x, y, out):\n"
        "    i = cuda.grid(1)\n"
        "    if i < 30:\n"
        f"        out[i] = x[i] {operator} y[i]\n"
    )
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    x, y, out = np.ones(40, dtype), np.arange(40).astype(dtype), np.zeros(40)
    cuda.jit(names["divides"])[1, 40](x, y, out)  # no exception without debug
    kernel = cuda.jit(debug=True, opt=False)(names["divides"])
    with pytest.raises(ZeroDivisionError) as caught:
        kernel[1, 40](x, y, out)
    assert "thread (0, 0, 0)" in caught.value.where
    y[0] = 1
    kernel[1, 40](x, y, out)
