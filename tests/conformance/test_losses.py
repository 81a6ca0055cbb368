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


@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 2, 3, 4)])
def test_cross_entropy_of_logits_with_more_axes(package, shape):
    loss, labels = package.get("CrossEntropyLoss")(), LABELS.reshape(shape[:-1])

    def program(x):
        return loss(x, package.plain(labels, x.device))

    compare(package, program, SCORES.reshape(shape))


@pytest.mark.parametrize(
    ("name", "predictions", "targets"),
    [
        ("MSELoss", SCORES, SCORES[::-1]),
        ("BinaryCrossEntropyLoss", PROBABILITIES, PROBABILITIES[::-1]),
    ],
)
def test_a_loss_of_targets_that_are_computed(package, name, predictions, targets):
    compare(package, package.get(name)(), predictions, targets.copy())


@pytest.mark.parametrize("wrong", [4.0, -1.0, 0.5, np.nan])
def test_a_label_that_is_no_class_is_refused_on_the_device(package, wrong):
    loss = package.get("CrossEntropyLoss")()
    labels = LABELS.copy()
    labels[2] = wrong
    with pytest.raises((IndexError, ValueError), match=r"class|range|bound"):
        loss(package.plain(SCORES, "simgpu"), package.plain(labels, "simgpu"))
