"""Every loss: value and gradient on simgpu equal the CPU's."""

import numpy as np
import pytest

from tests.conformance.compare import compare
from tests.conformance.package import host, same

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


def test_cross_entropy_of_logits_with_more_axes(package):
    loss = package.get("CrossEntropyLoss")()
    scores, labels = SCORES.reshape(2, 3, 4), LABELS.reshape(2, 3)
    try:
        expected = loss(package.plain(scores), package.plain(labels)).data
    except (IndexError, TypeError, ValueError) as error:
        pytest.skip(f"the package itself raises on the CPU: {error!r:.200}")
    got = loss(package.plain(scores, "simgpu"), package.plain(labels, "simgpu"))
    assert got.device == "simgpu:0"
    same(host(got), expected)


@pytest.mark.parametrize("wrong", [4.0, -1.0, 0.5, np.nan])
def test_a_label_that_is_no_class_is_refused_on_the_device(package, wrong):
    loss = package.get("CrossEntropyLoss")()
    labels = LABELS.copy()
    labels[2] = wrong
    with pytest.raises((IndexError, ValueError), match=r"class|range|bound"):
        loss(package.plain(SCORES, "simgpu"), package.plain(labels, "simgpu"))
