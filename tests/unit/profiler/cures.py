"""What the tests share that run a program, apply the cure shown, and compare."""

from __future__ import annotations

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda, profiler

__all__ = ["HALF", "ONE", "divided", "finding", "judged", "others", "products", "t4"]

ONE, HALF = np.float32(1), np.float32(0.5)


@pytest.fixture(autouse=True)
def t4():
    """Model a T4, here and nowhere else."""
    simgpu.install(gpu="t4")
    yield
    simgpu.uninstall()


@cuda.jit
def products(out, turns):
    """Multiply and add, `turns` times."""
    value = ONE
    for _ in range(turns):
        value = value * HALF + ONE
    out[cuda.grid(1)] = value


@cuda.jit
def divided(x, out, by):
    """Divide a hundred times by one number."""
    value = x[cuda.grid(1)]
    for _ in range(100):
        value = value / by + HALF
    out[cuda.grid(1)] = value


def judged(program):
    """Run a program; give its verdict."""
    simgpu.synchronize()
    with profiler.profile() as prof:
        program()
    return prof.verdict()


def finding(verdict, kind):
    """Return the finding of a kind, or None."""
    return {f.kind: f for f in verdict.findings}.get(kind)


def others(verdict):
    """Return the findings but for that which replaces all others."""
    return [f for f in verdict.findings if f.kind != "do not move this"]
