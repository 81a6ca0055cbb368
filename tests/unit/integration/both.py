"""A program on the CPU and on simgpu: what it gives, and what served its ops."""

import numpy as np

import tinytorch_gpu as simgpu
from tests.conformance.package import host
from tinytorch_gpu import profiler
from tinytorch_gpu.integration import move_model


def outcome(package, program, arrays, device):
    """Return a result, the gradients, and what served each op."""
    leaves = [package.leaf(array, device) for array in arrays]
    with profiler.profile() as prof:
        out = program(*leaves)
        weights = np.linspace(0.5, 2.0, max(1, out.size)).reshape(out.shape)
        if getattr(out, "_grad_fn", None) is not None:
            (out * package.plain(weights, device)).sum().backward()
    grads = [None if leaf.grad is None else host(leaf.grad) for leaf in leaves]
    served = {r.op: r.key for r in prof.events() if hasattr(r, "implementation")}
    return host(out), grads, served


def equal_on_both(package, program, *arrays):
    """Check that simgpu gives what the CPU gives; return what served the ops."""
    simgpu.install("t4", package.name)
    expected, grads, _ = outcome(package, program, arrays, "cpu")
    got, got_grads, served = outcome(package, program, arrays, "simgpu")
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    for mine, theirs in zip(got_grads, grads, strict=True):
        assert (mine is None) == (theirs is None)
        if theirs is not None:
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
    return served


def moved(layer, x):
    """Move a new layer to where its input is."""
    return move_model(layer, x.device)
