"""Engines: queues in order of issue, as many as the GPU has."""

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.runtime.engines import Engines


def test_an_engine_takes_work_in_order_of_issue():
    engines = Engines(2)
    assert engines.run("compute", 100, 10) == 100  # waits for its stream
    assert engines.run("compute", 0, 10) == 110  # stands behind it
    assert engines.idle_ns == 120


@pytest.mark.parametrize(
    ("copy_engines", "starts"),
    [(0, [0, 10, 20]), (1, [0, 0, 10]), (2, [0, 0, 0]), (3, [0, 0, 0])],
)
def test_kernels_and_copies_share_what_there_is(copy_engines, starts):
    engines = Engines(copy_engines)
    names = ["compute", engines.name_of("h2d"), engines.name_of("d2h")]
    assert [engines.run(name, 0, 10) for name in names] == starts


def test_engines_are_named_by_what_they_do():
    assert [Engines(2).name_of(d) for d in ("h2d", "d2h", "d2d")] == [
        "h2d",
        "d2h",
        "compute",
    ]
    assert Engines(0).name_of("h2d") == "compute"


def test_copy_engines_of_the_presets():
    gpus = ("c870", "c1060", "c2050", "t4", "toy")
    assert [find_gpu(gpu).copy_engines for gpu in gpus] == [0, 1, 2, 2, 2]


@pytest.mark.parametrize("copy_engines", [0, 1, 2, 3])
def test_there_are_as_many_names_as_engines(copy_engines):
    engines = Engines(copy_engines)
    names = {engines.name_of(direction) for direction in ("h2d", "d2h", "d2d")}
    assert len(names) == 1 + min(copy_engines, 2)
    for name in names:  # each a queue of its own
        assert engines.run(name, 0, 10) == 0
