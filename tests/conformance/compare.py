"""Run the same program on the CPU and on simgpu, and compare values and gradients."""

import numpy as np
import pytest

from tests.conformance.package import host, same
from tinytorch_gpu.errors import MissingKernelError, UnsupportedError


def outcome(package, program, arrays, device):
    """Return a program's output and the gradients by its leaves, on the host."""
    leaves = [package.leaf(array, device) for array in arrays]
    out = program(*leaves)
    where = out.device
    weights = package.plain(np.linspace(-1.0, 2.0, max(out.size, 1)), device)
    weights = weights.reshape(out.shape) if out.shape else weights.sum()
    (out * weights).sum().backward()
    grads = [None if leaf.grad is None else host(leaf.grad) for leaf in leaves]
    return host(out), grads, where


def compare(package, program, *arrays):
    """Check that simgpu gives the CPU's output and gradients, and stays on simgpu.

    What the learner's package cannot do on the CPU is no business of the device.
    """
    try:
        expected, grads, _ = outcome(package, program, arrays, "cpu")
    except Exception as error:
        if package.is_complete:
            raise
        pytest.skip(f"the package itself raises on the CPU: {error!r:.200}")
    try:
        got, got_grads, where = outcome(package, program, arrays, "simgpu")
    except (MissingKernelError, UnsupportedError) as error:
        pytest.xfail(f"no kernel yet: {error!s:.300}")
    assert where == "simgpu:0"
    same(got, expected)
    for mine, theirs in zip(got_grads, grads, strict=True):
        assert (mine is None) == (theirs is None)
        if theirs is not None:
            assert mine.shape == theirs.shape
            same(mine, theirs)
