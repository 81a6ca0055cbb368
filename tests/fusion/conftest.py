"""Device arrays of float32, and profiles of a function."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, fusion, profiler
from tinytorch_gpu.runtime.device import use_gpu


@pytest.fixture
def arrays():
    """Make positive device arrays of some shapes."""

    def make(*shapes, dtype=np.float32):
        rng = np.random.default_rng(3)
        return [
            cuda.to_device(rng.uniform(0.1, 2.0, shape).astype(dtype))
            for shape in shapes
        ]

    return make


@pytest.fixture
def found():
    """Run a function and return what could be fused in it; its results stay alive."""

    def run(function, *args):
        with profiler.profile(with_stack=True) as prof:
            kept = function(*args)
        told = fusion.opportunities(prof)
        del kept
        return told

    return run


@pytest.fixture
def on():
    """Model a GPU."""
    return use_gpu
