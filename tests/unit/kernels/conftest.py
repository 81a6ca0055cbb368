"""Arrays on both sides, and the comparison with NumPy in float64."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, profiler, sanitize, settings
from tinytorch_gpu.trace import LaunchRecord

TOLERANCE = {"float32": 1e-6, "float64": 1e-13}


@pytest.fixture(autouse=True, scope="module")
def _values_only():
    """Count nothing: the tests of counts turn it on again, in `launches`."""
    with settings.override(counters=False):
        yield


@pytest.fixture(scope="session")
def pair():
    """Make a host array, and a device array of the same elements and strides."""

    def make(shape, dtype="float32", order=None, seed=0, low=-3.0, high=3.0):
        """Give axes in another memory order by `order`, for example (1, 0)."""
        rng = np.random.default_rng([seed, *shape])
        axes = range(len(shape)) if order is None else order
        stored = rng.uniform(low, high, [shape[i] for i in axes]).astype(dtype)
        back = np.argsort(axes) if len(shape) else ()
        on_device = cuda.to_device(stored)
        return stored.transpose(back), on_device.transpose(tuple(map(int, back)))

    return make


@pytest.fixture(scope="session")
def close():
    """Compare a device array with what NumPy computes in float64."""

    def check(result, expected, dtype=None, tolerance=None):
        host = result.copy_to_host()
        expected = np.asarray(expected)
        assert host.shape == expected.shape
        if dtype is not None:
            assert host.dtype == dtype
        most = TOLERANCE.get(host.dtype.name, 0) if tolerance is None else tolerance
        np.testing.assert_allclose(host, expected, rtol=most, atol=most)

    return check


@pytest.fixture(scope="session")
def launches():
    """Run a function and return the records of its launches, counted."""

    def run(function):
        with settings.override(counters=True), profiler.profile() as prof:
            function()
        return [r for r in prof.events() if isinstance(r, LaunchRecord)]

    return run


@pytest.fixture(scope="session")
def slope():
    """Differentiate the sum of weight × function(x) by x, by central differences."""

    def differences(function, x, weight, step=1e-6):
        out = np.zeros_like(x)
        for place in np.ndindex(x.shape):
            ends = [x.copy(), x.copy()]
            ends[0][place] -= step
            ends[1][place] += step
            low, high = (np.sum(weight * function(end)) for end in ends)
            out[place] = (high - low) / (2 * step)
        return out

    return differences


@pytest.fixture(scope="session")
def clean():
    """Run a function under the sanitizer: at most notes are allowed."""

    def run(function):
        with settings.override(counters=True), sanitize(show=False) as report:
            function()
        assert [str(f) for f in report.findings if f.level != "note"] == []

    return run
