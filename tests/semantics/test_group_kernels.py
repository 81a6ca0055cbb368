"""Kernels whose threads meet give what the reference gives, in every order of warps."""

import numpy as np
import pytest

from tests.semantics import group_kernels
from tests.semantics.agreement import WAYS, check
from tinytorch_gpu.settings import SCHEDULES

ORDERS = tuple({"counters": False, "schedule": name} for name in SCHEDULES)


@pytest.mark.parametrize(
    ("kernel", "grid", "block", "arguments", "shared_bytes"),
    group_kernels.CASES,
    ids=[case[0].__name__ for case in group_kernels.CASES],
)
def test_the_kernel_agrees_with_the_reference(
    kernel, grid, block, arguments, shared_bytes
):
    check(
        kernel, grid, block, *arguments, shared_bytes=shared_bytes, ways=WAYS + ORDERS
    )


def test_the_prefix_sums_are_right_without_the_reference():
    x, out = np.arange(96, dtype=np.int32), np.zeros(96, np.int64)
    group_kernels.prefix_of_warps[3, 32](x, out)
    assert out.tolist() == np.cumsum(x.reshape(3, 32), axis=1).ravel().tolist()
