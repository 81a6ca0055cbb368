"""Under as_numba the host reads device arrays as it reads numba's: by a copy."""

PROGRAM = """
import numpy as np
from numba import cuda
from numba.cuda.testing import CUDATestCase, unittest

device = cuda.to_device(np.arange(3.0))
host = np.zeros(3)
host[:] = device
np.testing.assert_allclose(device, [0, 1, 2])
print(np.asarray(device), np.array(device, np.float32).dtype, host)
print(np.ones(3) + device, device + 1, np.sum(np.asarray(device)))
"""


def test_numpy_takes_device_arrays(python, write):
    write({"reads.py": PROGRAM})
    done = python("-m", "tinytorch_gpu.as_numba", "reads.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[0. 1. 2.] float32 [0. 1. 2.]",
        "[1. 2. 3.] [1. 2. 3.] 3.0",
    ]


def test_a_gpu_that_does_not_exist_is_told_in_one_message(python, write):
    write({"test_nothing.py": "def test_nothing():\n    pass\n"})
    plugin = "tinytorch_gpu.as_numba.plugin"
    done = python("-m", "pytest", "-p", plugin, "--simgpu", "nope", "test_nothing.py")
    assert done.returncode == 4  # pytest's code for wrong usage
    assert "nope" in done.stderr
    assert "Traceback" not in done.stderr
