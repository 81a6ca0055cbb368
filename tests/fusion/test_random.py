"""Random chains of ops: fused they give the same values, at the cost foretold."""

import numpy as np
import pytest

from tests.fusion import programs
from tests.fusion.test_fuse import SMALL, check
from tinytorch_gpu import cuda, fuse, sanitize

UNARY = [np.negative, np.abs, np.tanh, np.square, lambda v: np.sqrt(np.abs(v))]
BINARY = [np.add, np.subtract, np.multiply, np.maximum, np.minimum]
COMPARE = [np.greater, np.less_equal, np.not_equal]
ROW = [np.sum, np.mean, np.max, np.min]


def chain(seed):
    """Return a function of (x, y, row) made of random ops."""
    plan = np.random.default_rng(seed)
    length = int(plan.integers(3, 9))
    moves = [
        (int(plan.integers(6)), plan.integers(1 << 30, size=3)) for _ in range(length)
    ]

    def program(x, y, row):
        values = [x, y]
        for kind, picks in moves:
            a, b = (values[int(n) % len(values)] for n in picks[:2])
            last = int(picks[2])
            if kind == 0:
                values.append(UNARY[last % len(UNARY)](a))
            elif kind in (1, 2):
                values.append(BINARY[last % len(BINARY)](a, b))
            elif kind == 3:
                values.append(BINARY[last % len(BINARY)](a, row))
            elif kind == 4:
                values.append(np.where(COMPARE[last % len(COMPARE)](a, b), a, 0.5))
            else:
                part = ROW[last % len(ROW)](a, axis=-1, keepdims=True)
                values.append(np.subtract(a, part))
        total = values[-1]
        for value in values[2:-1]:
            total = total + value * 0.25
        return total * 0.5 + x

    return program


def given(seed, shape):
    rng = np.random.default_rng([7, seed])
    shapes = (shape, shape, shape[-1:])
    return [
        cuda.to_device(rng.uniform(-1.5, 1.5, s).astype(np.float32)) for s in shapes
    ]


@pytest.mark.parametrize("seed", range(60))
def test_a_random_chain(seed):
    shape = [(24, 50), (3, 5, 40), (9, 200)][seed % 3]
    check(fuse(chain(seed)), *given(seed, shape))


@pytest.mark.parametrize(("name", "shapes", "numbers"), SMALL)
def test_generated_kernels_are_clean(arrays, name, shapes, numbers):
    fused = fuse(getattr(programs, name))
    fused(*arrays(*shapes), *numbers)
    with sanitize(show=False) as report:
        fused(*arrays(*shapes), *numbers)
    assert [str(f) for f in report.findings if f.level != "note"] == []
