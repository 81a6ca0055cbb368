"""The softmax kernels by themselves: both versions agree, loads coalesce where told."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels import softmax_kernels as kernels


@pytest.mark.parametrize("threads", [32, 256])
@pytest.mark.parametrize("length", [1, 33, 300])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_versions_agree(name, length, threads, pair, close):
    _, x = pair((5, length))
    by_rows = cuda.device_array((5, length), np.float32)
    by_columns = cuda.device_array((1, length, 5), np.float32)
    getattr(kernels, f"{name}_rows_kernel")[5, threads](x, by_rows)
    view = x.T.reshape(1, length, 5)
    getattr(kernels, f"{name}_columns_kernel")[1, (8, 1)](view, by_columns)
    close(by_rows, by_columns.copy_to_host()[0].T, tolerance=2e-6)


def test_loads_of_long_rows_coalesce(launches):
    x, out = (cuda.to_device(np.ones((4, 128), np.float32)) for _ in range(2))
    (record,) = launches(lambda: kernels.softmax_rows_kernel[4, 128](x, out))
    assert {a.sectors_per_request for a in record.counts.global_accesses} == {4.0}
