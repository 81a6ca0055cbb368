"""Random programs that write in place and read views: fused or not, values are right."""

import warnings

import numpy as np
import pytest

from tinytorch_gpu import cuda, fuse
from tinytorch_gpu.errors import KernelWarning

VIEWS = [
    lambda v: v,
    lambda v: v,
    lambda v: v,
    lambda v: v.T,
    lambda v: v[::-1],
    lambda v: v[:, ::-1],
]
OPS = [np.add, np.subtract, np.multiply, np.maximum]


def program_of(seed):
    """Return a function of (x, y) that changes some of its arguments."""
    plan = np.random.default_rng(seed)
    moves = plan.integers(1 << 30, size=(int(plan.integers(2, 8)), 6)).tolist()

    def program(x, y):
        values = [x, y]
        for kind, first, second, views, op, target in moves:
            a = VIEWS[views % len(VIEWS)](values[first % len(values)])
            b = values[second % len(values)]
            function = OPS[op % len(OPS)]
            if kind % 4 == 0:
                out = values[target % len(values)]
                function(a, b * 0.5, out=out)
            elif kind % 4 == 1:
                values.append(function(a, b))
            elif kind % 4 == 2:
                values.append(np.tanh(a) * 0.75)
            else:
                out = VIEWS[target % len(VIEWS)](values[first % len(values)])
                out *= 0.5
        return values[2:]

    return program


def given(seed):
    rng = np.random.default_rng([5, seed])
    return [rng.uniform(-1, 1, (12, 12)).astype(np.float32) for _ in range(2)]


def results(function, arrays):
    on_device = [cuda.to_device(array) for array in arrays]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)
        made = function(*on_device)
    return [array.copy_to_host() for array in (*on_device, *made)]


@pytest.mark.parametrize("part", range(10))
def test_random_programs_in_place(part):
    fused_ones = 0
    for seed in range(30 * part, 30 * part + 30):
        program = program_of(seed)
        fused = fuse(program)
        for _ in range(2):
            got, wanted = results(fused, given(seed)), results(program, given(seed))
            for one, other in zip(got, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
        fused_ones += not fused.reason
    assert fused_ones >= 1
