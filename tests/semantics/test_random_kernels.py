"""Random kernels give bit for bit what the reference gives."""

import importlib.util
import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.semantics.agreement import check
from tests.semantics.random_kernels import kernel_sources

N = 45  # elements; two blocks of 40 threads
numbers = itertools.count()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("random_kernels")


def load(source, folder):
    """Write the source to a file, where inspect finds it, and import that."""
    name = f"random_kernel_{next(numbers)}"
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def arguments():
    rng = np.random.default_rng(0)
    x = rng.integers(-6, 9, N).astype(np.int32)
    y = rng.normal(0, 4, N).astype(np.float32)
    z = rng.normal(0, 1e3, N)
    outputs = np.zeros(N, np.int64), np.zeros(N, np.float32), np.zeros(N, np.float64)
    return x, y, z, *outputs, 3


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # add Phase.shrink for a small example, in minutes
    suppress_health_check=list(HealthCheck),
)
@given(source=kernel_sources())
def test_a_random_kernel_agrees_with_the_reference(folder, source):
    check(load(source, folder), 2, 40, *arguments())
