"""`with simgpu.tracing():` and what it takes."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.unit.trace.trace_kernels import mixed, reverse
from tinytorch_gpu import errors
from tinytorch_gpu.runtime.watching import watchers


def test_traces_of_several_launches():
    x = np.zeros(64, np.float32)
    with simgpu.tracing() as traces:
        reverse[1, 64](x, x.copy())
        mixed[1, 32](np.zeros((2, 3), np.float32), np.zeros(1, np.int64))
        assert len(traces) == 2  # so far
        reverse[1, 64](x, x.copy())
    reverse[1, 64](x, x.copy())
    assert [trace.kernel.name for trace in traces] == ["reverse", "mixed", "reverse"]
    assert traces.of("reverse") == [traces[0], traces[2]] == traces[::2]
    assert traces.of("other") == []
    assert watchers() == ()
    assert (
        repr(traces).count("<LaunchTrace: 6 steps of reverse (trace_kernels.py:") == 2
    )


def test_traces_within_traces():
    x = np.zeros(64, np.float32)
    with simgpu.tracing() as outer, simgpu.tracing(blocks=[1]) as inner:
        reverse[2, 64](np.zeros(128, np.float32), np.zeros(128, np.float32))
    with simgpu.tracing() as again:
        reverse[1, 64](x, x.copy())
    assert outer[0].is_complete
    assert inner[0].blocks == (1,)
    assert len(again) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"budget": "much"},
        {"budget": -1},
        {"blocks": [-1]},
        {"blocks": [(1, 2)]},
        {"warps": [-1]},
        {"sample": 0},
        {"sample": 1.5},
        {"blocks": 5},
        {"blocks": "0"},
        {"blocks": ["0"]},
        {"warps": 1},
        {"warps": [0.5]},
        {"budget": 1.5},
        {"budget": None},
        {"sample": 2, "blocks": [1]},
    ],
)
def test_arguments_that_make_no_sense(options):
    with pytest.raises(errors.SettingsError) as caught, simgpu.tracing(**options):
        pass
    assert f"tracing({list(options)[0]}=" in caught.value.what  # noqa: RUF015
    assert caught.value.why
    assert watchers() == ()
