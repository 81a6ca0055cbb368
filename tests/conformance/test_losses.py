"""Every loss: value and gradient on simgpu equal the CPU's."""

import numpy as np
import pytest

from tests.conformance.compare import compare

RNG = np.random.default_rng(5)
SCORES = RNG.normal(size=(6, 4)).astype(np.float32)
LABELS = RNG.integers(0, 4, 6).astype(np.float32)
PROBABILITIES = RNG.uniform(0.05, 0.95, (6, 1)).astype(np.float32)
BITS = RNG.integers(0, 2, (6, 1)).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "predictions", "targets"),
    [
        ("MSELoss", SCORES, SCORES[::-1]),
        ("MSELoss", PROBABILITIES, BITS),
        ("BinaryCrossEntropyLoss", PROBABILITIES, BITS),
        ("BinaryCrossEntropyLoss", BITS, BITS),
        ("CrossEntropyLoss", SCORES, LABELS),
        ("CrossEntropyLoss", SCORES * 30, LABELS),
        ("CrossEntropyLoss", np.tile(SCORES, 20), LABELS),
    ],
)
def test_loss(package, name, predictions, targets):
    loss = package.get(name)()

    def program(x):
        return loss(x, package.plain(targets, x.device))

    compare(package, program, predictions)
