"""Every test here runs with the device added to the embedded core."""

import pytest

from tinytorch_gpu import installed, tinytorch


@pytest.fixture(autouse=True)
def device():
    with installed("t4", package=tinytorch.__name__) as installation:
        yield installation
