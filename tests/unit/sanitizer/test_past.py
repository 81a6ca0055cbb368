"""The past tells what was when."""

import numpy as np

from tinytorch_gpu.sanitizer.past import PastEvents
from tinytorch_gpu.trace import KernelSource, LaunchStart, Site, SourceLine

ONE = (1, 1, 1)


def launch(name):
    return LaunchStart(KernelSource(name, "k.py", 1), ONE, ONE, {})


def site(line):
    return Site(SourceLine("k", "k.py", line, "x[i]"), "x")


def test_one_place_is_one_past_and_another_launch_is_another():
    events, first, second = PastEvents(), launch("first"), launch("second")
    events.begin(first)
    sites = site(0), site(1)
    for time in range(4):
        events.enter(time, sites[time % 2], "load")
    events.enter(4, sites[0], "store")
    events.begin(second)
    events.enter(5, sites[0], "load")
    which, places = events.places(np.array([0, 2, 3, 4, 5, 0]))
    assert [places[n].site.line.line for n in which] == [0, 0, 1, 0, 0, 0]
    assert [places[n].kind for n in which] == ["load"] * 3 + ["store", "load", "load"]
    assert [places[n].launch for n in which] == [first] * 4 + [second, first]
    assert len(places) == 4


def test_kinds_are_told_by_time_and_before_there_was_nothing():
    events = PastEvents()
    events.begin(launch("k"))
    for time, kind in enumerate(["load", "store", "atomic", "load"]):
        events.enter(time, site(time), kind)
    times = np.array([-2, -1, 0, 1, 2, 3])
    told = {kind: np.flatnonzero(events.are(times, kind)).tolist() for kind in KINDS}
    assert told == {"load": [2, 5], "store": [3], "atomic": [4]}


KINDS = ("load", "store", "atomic")


def test_there_is_room_for_many():
    events = PastEvents()
    events.begin(launch("k"))
    sites = [site(line) for line in range(5)]
    for time in range(5000):
        events.enter(time, sites[time // 1000], "load")
    which, places = events.places(np.array([0, 1024, 4999]))
    assert [places[n].site.line.line for n in which] == [0, 1, 4]
