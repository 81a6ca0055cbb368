"""`check`: a kernel gives bit for bit what the reference gives, however it is run."""

import numpy as np

from tests.semantics import reference
from tinytorch_gpu import settings
from tinytorch_gpu.runtime.launch import launch

WAYS = (
    {"counters": True, "replay": False},
    {"counters": False},
    {"counters": True, "replay": False, "batch_lanes": 64},
    {"counters": False, "batch_lanes": 64},
)


def check(kernel, grid, block, *arguments):
    """Launch in every way of `WAYS` and compare each array with the reference's.

    Returns:
        The arrays after the launch.
    """
    expected = _copies(arguments)
    reference.run(kernel, grid, block, expected)
    counts = []
    for way in WAYS:
        found = _copies(arguments)
        with settings.override(**way):
            record = launch(kernel.program, grid, block, tuple(found))
        counts += [record.counts] if way["counters"] else []
        for name, want, have in zip(kernel.program.parameters, expected, found, strict=True):
            assert_same(want, have, f"`{name}` with {way}")
    assert counts[0] == counts[1], "counts depend on the batch size"
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
