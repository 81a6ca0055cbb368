"""Arguments of calls in kernels: keywords and defaults find their parameters."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import KernelTypeError


@cuda.jit(device=True)
def digits(a, b=2, c=3):
    return a * 100 + b * 10 + c


CALLS = {
    "all by position": (lambda: digits(1, 5, 6), 156),
    "defaults": (lambda: digits(1), 123),
    "one default": (lambda: digits(1, 5), 153),
    "a keyword": (lambda: digits(1, c=9), 129),
    "keywords in another order": (lambda: digits(c=9, a=4), 429),
}


@pytest.mark.parametrize("name", CALLS)
def test_arguments_find_their_parameters(name):
    function, expected = CALLS[name]
    called = cuda.jit(device=True)(function)

    @cuda.jit
    def kernel(out):
        out[0] = called()

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == expected


@cuda.jit
def too_few(out):
    out[0] = digits()


@cuda.jit
def too_many(out):
    out[0] = digits(1, 2, 3, 4)


@cuda.jit
def unknown(out):
    out[0] = digits(1, d=4)


@cuda.jit
def twice(out):
    out[0] = digits(1, a=4)


@cuda.jit
def of_an_intrinsic(out):
    out[0] = cuda.popc(1, 2)


@pytest.mark.parametrize(
    ("kernel", "told"),
    [
        (too_few, "`a` is missing"),
        (too_many, "too many"),
        (unknown, "`d` has no place"),
        (twice, "`a` has no place"),
        (of_an_intrinsic, "too many"),
    ],
)
def test_a_misfit_is_told_with_the_parameters(kernel, told):
    with pytest.raises(KernelTypeError) as caught:
        kernel[1, 1](np.zeros(1))
    assert told in caught.value.what
    assert "arguments: " in caught.value.why
