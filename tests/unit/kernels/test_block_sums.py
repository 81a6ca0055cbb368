"""Device functions: every thread of a block gets its sum and its largest value."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.kernels.block_sums import block_max, block_sum


@cuda.jit
def both(x, sums, tops):
    cache = cuda.shared.array(128, float32)
    place = cuda.grid(1)
    sums[place] = block_sum(cache, x[place])
    tops[place] = block_max(cache, x[place])


@pytest.mark.parametrize("threads", [1, 2, 32, 128])
def test_every_thread_gets_the_result(threads):
    host = np.random.default_rng(0).integers(-9, 9, (3, threads)).astype("f4")
    x, sums, tops = (cuda.to_device(host.reshape(-1)) for _ in range(3))
    both[3, threads](x, sums, tops)
    expected = np.repeat(host.sum(1), threads), np.repeat(host.max(1), threads)
    np.testing.assert_array_equal(sums.copy_to_host(), expected[0])
    np.testing.assert_array_equal(tops.copy_to_host(), expected[1])


def test_nothing_for_the_sanitizer_to_name(clean):
    arrays = [cuda.to_device(np.ones(256, np.float32)) for _ in range(3)]
    clean(lambda: both[2, 128](*arrays))
