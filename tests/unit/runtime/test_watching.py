"""Who watches hears launches from begin to end, in order, also those that stop."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.errors import OutOfBoundsError
from tinytorch_gpu.runtime.watching import watchers, watching
from tinytorch_gpu.trace import Recorder


class Diary(Recorder):
    def __init__(self, name, lines):
        self.name, self.lines = name, lines

    def begin(self, launch):
        self.lines.append((self.name, "begin", launch.kernel.name))

    def access(self, batch, site, mask, kind, *rest, **more):
        self.lines.append((self.name, kind, mask.count))

    def end(self, counts, error):
        told = type(error).__name__ if error else counts is not None
        self.lines.append((self.name, "end", told))


@cuda.jit
def put(x):
    x[cuda.grid(1)] = 1


def zeros(n):
    return cuda.to_device(np.zeros(n, np.float32))


def test_all_who_watch_are_told_in_order_of_coming():
    lines = []
    with watching(Diary("a", lines)), watching(Diary("b", lines)):
        put[1, 4](zeros(4))
    put[1, 4](zeros(4))
    assert lines == [
        (who, *what)
        for what in [("begin", "put"), ("store", 4), ("end", True)]
        for who in "ab"
    ]


def test_replays_are_run_in_full_for_who_watches():
    x, lines = zeros(4), []
    put[1, 4](x)
    with watching(Diary("a", lines)):
        put[1, 4](x)
        put[1, 4](x)
    assert lines.count(("a", "store", 4)) == 2


def test_without_counters_there_are_no_counts():
    lines = []
    with settings.override(counters=False), watching(Diary("a", lines)):
        put[1, 4](zeros(4))
    assert lines[-1] == ("a", "end", False)
    assert ("a", "store", 4) in lines


def test_a_launch_that_stops_ends_with_its_error():
    lines = []
    with watching(Diary("a", lines)), pytest.raises(OutOfBoundsError):
        put[1, 4](zeros(3))
    assert lines[-1] == ("a", "end", "OutOfBoundsError")


def test_nobody_watches_after_an_error_in_the_block():
    with pytest.raises(KeyError), watching(Recorder()):
        raise KeyError
    assert watchers() == ()


def test_of_two_recorders_that_are_equal_the_right_one_leaves():
    one, two = Recorder(), Recorder()
    with watching(one):
        with watching(two):
            assert watchers() == (one, two)
        assert watchers() == (one,)
