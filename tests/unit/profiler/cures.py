"""What the tests share that run a program, apply the cure shown, and compare."""

from __future__ import annotations

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import profiler

__all__ = ["HALF", "ONE", "finding", "judged", "others", "t4"]

ONE, HALF = np.float32(1), np.float32(0.5)


@pytest.fixture(autouse=True)
def t4():
    """Model a T4, here and nowhere else."""
    simgpu.install(gpu="t4")
    yield
    simgpu.uninstall()


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
