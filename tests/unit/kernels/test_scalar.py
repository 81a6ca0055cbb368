"""Kernels with a scalar: the scalar is an argument, so its value costs no new count."""

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels import elementwise, scalar


def test_a_kernel_by_itself(close):
    x = cuda.to_device(np.float32([[1, 2, 3]]))
    out = cuda.device_array((1, 3), np.float32)
    scalar.rdiv_scalar_kernel[1, 32](x, np.float32(6), out)
    close(out, [[6.0, 3.0, 2.0]])


def test_another_value_is_a_replay(launches):
    x = cuda.to_device(np.ones((5, 7), np.float32))
    launches(lambda: elementwise.mul(x, 2.0))
    (record,) = launches(lambda: elementwise.mul(x, 3.0))
    assert record.is_replayed
    assert record.counts.total("fp64") == 0
