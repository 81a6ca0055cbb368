"""Real launches on a preset, and their counts."""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.runtime import current_device, launch, use_gpu


def run(gpu, kernel, grid, block, *arguments):
    """Launch a kernel on a GPU, host arrays copied there; return the counts."""
    use_gpu(gpu)
    on_device = [
        cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments
    ]
    return launch(kernel, grid, block, tuple(on_device)).counts


@pytest.fixture
def counted():
    """Give `run`, and put the GPU of before back."""
    before = current_device().spec
    yield run
    use_gpu(before)
