"""`check`: a kernel gives bit for bit what the reference gives, however it is run."""

import inspect

import numpy as np

from tests.reference import launch
from tinytorch_gpu import settings

WAYS = (
    {"counters": False},
    {"counters": False, "batch_lanes": 64},
    {"counters": True, "replay": False},
)


def check(kernel, grid, block, *arguments, shared_bytes=0, ways=WAYS):
    """Launch in every way of `ways` and compare each array with the reference's.

    Returns:
        The arrays after the launch.
    """
    expected = _copies(arguments)
    launch.run(kernel, grid, block, expected, shared_bytes)
    shape = (grid, block, 0, shared_bytes) if shared_bytes else (grid, block)
    for way in ways:
        found = _copies(arguments)
        with settings.override(**way):
            kernel[shape](*found)
        for name, want, have in zip(
            inspect.signature(kernel.py_func).parameters, expected, found, strict=True
        ):
            assert_same(want, have, f"`{name}` with {way}")
    return found


def assert_same(expected, found, what=""):
    """Compare two arrays bit for bit; any NaN equals any other."""
    if not isinstance(expected, np.ndarray):
        return
    assert expected.dtype == found.dtype
    same = _bits(expected) == _bits(found)
    where = np.argwhere(~same)[:5].tolist()
    assert same.all(), (
        f"{what}: {np.count_nonzero(~same)} elements differ, at {where}: "
        f"expected {expected[~same][:5]}, found {found[~same][:5]}"
    )


def _bits(values):
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), values.dtype.type("nan"), values)
    return values.view(np.dtype(f"u{values.itemsize}"))


def _copies(arguments):
    """Copy arrays; an array that is passed twice stays one array."""
    made = {}
    return [
        made.setdefault(id(a), a.copy()) if isinstance(a, np.ndarray) else a
        for a in arguments
    ]
