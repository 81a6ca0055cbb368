"""A test for each row of a table of `simt-semantics.md`, named by the row."""

import inspect
import types

import numpy as np
import pytest

from tinytorch_gpu.runtime import current_device

ROWS_IN_ALL = {2: 18, 5: 11, 7: 9, 8: 8}  # rows of the tables of these sections


class Rows:
    """Collects the tests of one section.

    Example:
        rows = Rows()

        @rows("`range`")
        def _(): ...

        test_the_construct = rows.as_test()
    """

    def __init__(self):
        self._checks = []

    def __call__(self, name):
        """Take a function as the test of the row whose first cell is `name`."""

        def take(check):
            assert isinstance(check, types.FunctionType)
            assert not inspect.signature(check).parameters
            self._checks.append(pytest.param(check, id=name))
            return check

        return take

    @property
    def names(self):
        """First cells of all rows, each once."""
        return {check.id for check in self._checks}

    def as_test(self):
        """Make the test function that runs each."""

        @pytest.mark.parametrize("check", self._checks)
        def test_the_construct(check):
            check()

        return test_the_construct


def counts_of(launch):
    """Call a function that launches one kernel; return the launch's counts."""
    told = []
    listeners = current_device().timeline.listeners
    listeners.append(told.append)
    try:
        launch()
    finally:
        listeners.remove(told.append)
    return next(r.counts for r in told if hasattr(r, "counts"))


def line_of(counts, text):
    """Return the counts of the source line with this text."""
    return next(line for line in counts.lines if line.line.text == text)


def integers(*values):
    return np.array(values, np.int64)
