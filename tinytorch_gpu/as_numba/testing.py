"""`numba.cuda.testing`: the base class and the skip marks of numba-cuda's own tests.

A mark about a gap of numba's simulator skips nothing here: what it excuses is to run.
"""

from __future__ import annotations

import io
import sys
import unittest
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from tinytorch_gpu.runtime import current_device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "CUDATestCase",
    "captured_stdout",
    "skip_if_cudadevrt_missing",
    "skip_if_external_memmgr",
    "skip_on_cudasim",
    "skip_on_standalone_numba_cuda",
    "skip_unless_cc_50",
    "skip_unless_cc_53",
    "skip_unless_cc_60",
    "skip_unless_cc_75",
    "skip_unless_cc_90",
    "skip_unless_cudasim",
    "unittest",
]

Test = TypeVar("Test")
Mark: TypeAlias = "Callable[[Any], Any]"  # a decorator of a test or a class of tests


class CUDATestCase(unittest.TestCase):
    """A test that uses the device; nothing has to be set up for the simulated one."""


def skip_on_cudasim(_reason: str) -> Mark:
    """Run the test: the reason is a gap of numba's simulator."""
    return _run


def skip_unless_cudasim(reason: str) -> Mark:
    """Skip the test: it is about numba's simulator itself."""
    return unittest.skip(reason)


def skip_if_external_memmgr(_reason: str) -> Mark:
    """Run the test: the simulated device has its own memory manager only."""
    return _run


def skip_if_cudadevrt_missing(test: Test) -> Test:
    """Run the test: grid barriers need no library here."""
    return test


def skip_on_standalone_numba_cuda(test: Test) -> Test:
    """Run the test: without numba, its CPU functions are Python functions."""
    return test


def skip_unless_cc_50(test: Test) -> Test:
    """Run the test on a GPU of compute capability 5.0 or later."""
    return _on_capability(5, 0, test)


def skip_unless_cc_53(test: Test) -> Test:
    """Run the test on a GPU of compute capability 5.3 or later."""
    return _on_capability(5, 3, test)


def skip_unless_cc_60(test: Test) -> Test:
    """Run the test on a GPU of compute capability 6.0 or later."""
    return _on_capability(6, 0, test)


def skip_unless_cc_75(test: Test) -> Test:
    """Run the test on a GPU of compute capability 7.5 or later."""
    return _on_capability(7, 5, test)


def skip_unless_cc_90(test: Test) -> Test:
    """Run the test on a GPU of compute capability 9.0 or later."""
    return _on_capability(9, 0, test)


@contextmanager
def captured_stdout() -> Iterator[io.StringIO]:
    """Catch what is printed; the text is the value's `getvalue()`."""
    before, sys.stdout = sys.stdout, io.StringIO()
    try:
        yield sys.stdout
    finally:
        sys.stdout = before


def _on_capability(major: int, minor: int, test: Test) -> Test:
    modelled = current_device().spec.compute_capability
    if modelled >= (major, minor):
        return test
    reason = f"needs compute capability {major}.{minor}, the GPU has {modelled}"
    mark: Mark = unittest.skip(reason)
    return cast("Test", mark(test))


def _run(test: Any) -> Any:
    return test
