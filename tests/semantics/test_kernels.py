"""Every construct of the kernel language does what Python does, thread by thread."""

import numpy as np
import pytest

from tests.semantics import kernels
from tests.semantics.agreement import check


@pytest.mark.filterwarnings(  # some return before a barrier, as published code does
    r"ignore:\d+ of the block's:tinytorch_gpu.errors.KernelWarning",
    "ignore:.*index is negative:tinytorch_gpu.errors.KernelWarning",
)
@pytest.mark.parametrize(
    ("kernel", "grid", "block", "arguments"),
    kernels.CASES,
    ids=[f"{case[0].__name__}-{n}" for n, case in enumerate(kernels.CASES)],
)
def test_the_kernel_agrees_with_the_reference(kernel, grid, block, arguments):
    check(kernel, grid, block, *arguments)


def test_the_sum_is_right_without_the_reference():
    x = np.arange(290, dtype=np.int32)
    out = np.zeros(5, np.int64)
    kernels.tree_sum[5, 64](x, out)
    assert out.sum() == x.sum()


def test_the_product_is_right_without_the_reference():
    rng = np.random.default_rng(0)
    a, b = rng.random((19, 13), np.float32), rng.random((13, 11), np.float32)
    out = np.zeros((19, 11), np.float32)
    kernels.tiled_matmul[(2, 3), (8, 8)](a, b, out)
    np.testing.assert_allclose(out, a @ b, rtol=1e-6)
