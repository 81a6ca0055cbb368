"""The reduction kernels by themselves, with every number of parts and threads."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels import reduce_kernels as kernels


@pytest.mark.parametrize("threads", [32, 64, 256])
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("length", [1, 31, 33, 700])
def test_rows(threads, parts, length, pair, close):
    a, x = pair((4, length))
    sums, largest, smallest = (
        cuda.device_array((4, parts), np.float32) for _ in range(3)
    )
    grid = (4, parts)
    kernels.sum_rows_kernel[grid, threads](x, np.float32(1), sums)
    kernels.max_rows_kernel[grid, threads](x, largest)
    kernels.min_rows_kernel[grid, threads](x, smallest)
    wide = a.astype("f8")
    assert np.allclose(sums.copy_to_host().sum(1), wide.sum(1), atol=1e-5)
    np.testing.assert_array_equal(largest.copy_to_host().max(1), a.max(1))
    np.testing.assert_array_equal(smallest.copy_to_host().min(1), a.min(1))


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("length", [3, 31, 64])
def test_columns(parts, length, pair, close):
    a, x = pair((2, length, 5))
    sums, largest, smallest = (
        cuda.device_array((2, parts, 5), np.float32) for _ in range(3)
    )
    block = (8, 4, 2)
    kernels.sum_columns_kernel[1, block](x, np.float32(0.5), sums)
    kernels.max_columns_kernel[1, block](x, largest)
    kernels.min_columns_kernel[1, block](x, smallest)
    halves = a.astype("f8").sum(1) / 2
    assert np.allclose(sums.copy_to_host().sum(1), halves, atol=1e-5)
    np.testing.assert_array_equal(largest.copy_to_host().max(1), a.max(1))
    np.testing.assert_array_equal(smallest.copy_to_host().min(1), a.min(1))


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("length", [3, 33, 300])
def test_products(parts, length, pair):
    a, x = pair((4, length), low=0.9, high=1.1)
    wide = a.astype("f8").prod(1)
    rows = cuda.device_array((4, parts), np.float32)
    kernels.prod_rows_kernel[(4, parts), 64](x, rows)
    assert np.allclose(rows.copy_to_host().astype("f8").prod(1), wide, rtol=1e-5)
    columns = cuda.device_array((1, parts, 4), np.float32)
    kernels.prod_columns_kernel[1, (4, 4, 1)](x.T.reshape(1, length, 4), columns)
    found = columns.copy_to_host().astype("f8")[0].prod(0)
    assert np.allclose(found, wide, rtol=1e-5)


def test_halving_takes_a_barrier_for_each_step(launches):
    x = cuda.to_device(np.ones((1, 256), np.float32))
    out = cuda.device_array((1, 1), np.float32)
    run = kernels.sum_rows_kernel[1, 256]
    (record,) = launches(lambda: run(x, np.float32(1), out))
    assert record.counts.barriers == 8 * (1 + 8)  # 8 warps; 256 → 1 in 8 halvings
    assert record.shared_bytes == 1024
