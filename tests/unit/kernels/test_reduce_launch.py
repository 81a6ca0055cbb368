"""How a reduction is launched: rows or columns, parts, groups of axes."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels import reduce_kernels as kernels
from tinytorch_gpu.kernels import reduce_launch as ops

PAIR = (kernels.prod_columns_kernel, kernels.prod_rows_kernel)


def test_is_row_wise():
    x = cuda.device_array((1, 64, 4), np.float32)
    assert not ops.is_row_wise(x)
    rows = cuda.device_array((1, 4, 64), np.float32)
    assert ops.is_row_wise(rows.swapaxes(1, 2))
    assert not ops.is_row_wise(cuda.device_array((1, 64, 1), np.float64))


@pytest.mark.parametrize(
    ("shape", "axes", "names"),
    [
        ((4, 64), (1,), ["prod_rows_kernel"]),
        ((64, 4), (0,), ["prod_columns_kernel"]),
        ((65_536,), (0,), ["prod_rows_kernel"] * 2),
        ((3_000, 3), (0,), ["prod_columns_kernel"] * 2),
        ((3, 2, 3), (0, 2), ["prod_columns_kernel"] * 2),
    ],
    ids=str,
)
def test_kernels_and_launches(shape, axes, names, launches):
    x = cuda.to_device(np.ones(shape, np.float32))
    out = cuda.device_array(
        tuple(1 if i in axes else n for i, n in enumerate(shape)), np.float32
    )
    records = launches(lambda: ops.reduce_into(x, axes, out, PAIR, None))
    assert [r.kernel.name for r in records] == names
    assert (out.copy_to_host() == 1).all()
