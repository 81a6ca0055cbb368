"""NumPy as TinyTorch's modules see it."""

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.integration.numpy_proxy import numpy_proxy


def test_device_arrays_stay_on_the_device():
    proxy = numpy_proxy()
    x = cuda.to_device(np.ones((2, 3), np.float32))
    assert proxy.array(x) is x
    assert proxy.asarray(x, dtype=np.float32) is x
    assert proxy.array(x, dtype=np.float64).dtype == np.float64
    assert proxy.ascontiguousarray(x.T).is_c_contiguous()


def test_host_arrays_are_numpys_business():
    proxy = numpy_proxy()
    host = np.arange(3)
    assert proxy.asarray(host) is host
    assert proxy.array(host) is not host
    assert proxy.array([1, 2], dtype=np.float32).dtype == np.float32
    assert proxy.exp is np.exp
    assert proxy.random is np.random
