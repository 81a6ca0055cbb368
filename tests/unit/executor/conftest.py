"""Lane programs written by hand, so that the engine is tested without a front end."""

from functools import cache
from inspect import isgeneratorfunction

import pytest

from tinytorch_gpu.executor import LaneProgram, run
from tinytorch_gpu.trace import KernelSource, Site, SourceLine


@pytest.fixture
def run_lanes():
    """Return a function that runs `program(batch, mask, *arguments)` over a grid."""

    def start(program, blocks, threads, *arguments, recorder=None):
        lane_program = LaneProgram(
            source=KernelSource("k", "k.py", 1),
            parameters=(),
            plain=program,
            counted=program,
            is_resumable=isgeneratorfunction(program),
            is_data_dependent=False,
            control_parameters=frozenset(),
            shared=(),
            text="",
        )
        run(lane_program, (blocks, 1, 1), (threads, 1, 1), arguments, recorder)

    return start


@pytest.fixture
def site_at():
    """Return a function that gives the place of a line, always the same object."""
    return cache(
        lambda line, text="cuda.syncthreads()": Site(
            SourceLine("k", "k.py", line, text)
        )
    )
