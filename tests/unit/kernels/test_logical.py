"""logical_and and logical_or against NumPy."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels.logical import logical_and, logical_or

HOSTS = [np.float32([0, 1, np.nan, 0]), np.array([True, False, True, False])]


@pytest.mark.parametrize("a", HOSTS, ids=["float32", "bool"])
@pytest.mark.parametrize("b", [*HOSTS, 0, 2.0], ids=["float32", "bool", "0", "2.0"])
def test_truth(a, b, close):
    x = cuda.to_device(a)
    y = cuda.to_device(b) if isinstance(b, np.ndarray) else b
    close(logical_and(x, y), np.logical_and(a, b), "bool")
    close(logical_or(x, y), np.logical_or(a, b), "bool")
    close(logical_or(y, x), np.logical_or(a, b), "bool")
