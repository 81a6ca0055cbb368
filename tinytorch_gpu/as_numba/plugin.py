"""A pytest plugin: `pytest -p tinytorch_gpu.as_numba.plugin [--simgpu NAME]`.

It makes `numba.cuda` ours before the first conftest or test is imported. Without the
`-p` nothing of it is loaded. Source of the hooks: pytest 8 and 9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tinytorch_gpu.as_numba.finder import activate
from tinytorch_gpu.errors import GPUNotFoundError
from tinytorch_gpu.runtime import current_device, use_gpu

if TYPE_CHECKING:
    import argparse
    from typing import Protocol

    class _Parser(Protocol):
        def addoption(self, *names: str, default: str, help: str) -> None: ...  # noqa: A002

    class _Config(Protocol):
        known_args_namespace: argparse.Namespace


__all__ = [
    "pytest_addoption",
    "pytest_load_initial_conftests",
    "pytest_report_header",
]


def pytest_addoption(parser: _Parser) -> None:
    """Add the option that chooses the GPU."""
    text = "the GPU that as_numba models (simgpu devices lists them)"
    parser.addoption("--simgpu", default="t4", help=text)


def pytest_load_initial_conftests(early_config: _Config) -> None:
    """Choose the GPU and become `numba.cuda`, before any test file is imported."""
    try:
        use_gpu(early_config.known_args_namespace.simgpu)
    except GPUNotFoundError as error:
        raise pytest.UsageError(str(error)) from None
    activate()


def pytest_report_header() -> str:
    """Tell in pytest's first lines what `numba.cuda` is in this run."""
    return f"numba.cuda: tinytorch_gpu, a simulated {current_device().spec.name}"
