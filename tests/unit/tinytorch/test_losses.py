"""Losses: values against float64, gradients, extremes, and refused targets."""

import numpy as np
import pytest

from tinytorch_gpu.tinytorch.losses import (
    EPSILON,
    BinaryCrossEntropyFunction,
    BinaryCrossEntropyLoss,
    CrossEntropyFunction,
    CrossEntropyLoss,
    LogSoftmax,
    MSEFunction,
    MSELoss,
    log_softmax,
)
from tinytorch_gpu.tinytorch.tensor import Tensor

RNG = np.random.default_rng(6)
X = RNG.uniform(-3, 3, (4, 5))
TARGETS = np.array([0, 4, 2, 2])
P = RNG.uniform(0.1, 0.9, (4, 5))
T = RNG.uniform(0, 1, (4, 5))


def reference_log_softmax(x, axis=-1):
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


@pytest.mark.parametrize(
    ("loss", "pred", "targ", "expected"),
    [
        (MSELoss(), X, T, ((X - T) ** 2).mean()),
        (
            BinaryCrossEntropyLoss(),
            P,
            T,
            -(T * np.log(P) + (1 - T) * np.log(1 - P)).mean(),
        ),
        (
            CrossEntropyLoss(),
            X,
            TARGETS,
            -reference_log_softmax(X)[range(4), TARGETS].mean(),
        ),
    ],
)
def test_values(loss, pred, targ, expected):
    for made in (
        loss(Tensor(pred), Tensor(targ)),
        loss.forward(Tensor(pred), Tensor(targ)),
    ):
        assert (made.shape, made.dtype) == ((), np.float32)
        assert float(made.data) == pytest.approx(expected, rel=1e-5)
    assert loss.parameters() == []


@pytest.mark.parametrize(
    ("function", "pred", "targ"),
    [
        (MSEFunction, X, T),
        (BinaryCrossEntropyFunction, P, T),
        (CrossEntropyFunction, X, TARGETS),
    ],
)
def test_gradients_and_none_for_targets(
    function, pred, targ, check_gradients, check_stays
):
    check_gradients(function, pred, targ, without=(1,))
    check_stays(function, pred, targ)


def test_log_softmax(check_gradients, check_stays):
    for dim in (-1, 0):
        made = log_softmax(Tensor(X), dim=dim)
        expected = reference_log_softmax(X, dim)
        np.testing.assert_allclose(made.data, expected, rtol=1e-5, atol=1e-6)
        check_gradients(LogSoftmax, X, dim=dim)
    check_stays(LogSoftmax, X)


def test_cross_entropy_of_sequences_is_that_of_their_rows():
    logits = RNG.normal(size=(2, 3, 5))
    targets = RNG.integers(0, 5, (2, 3))
    x = Tensor(logits, requires_grad=True)
    loss = CrossEntropyLoss()(x, Tensor(targets))
    rows = CrossEntropyLoss()(Tensor(logits.reshape(6, 5)), Tensor(targets.reshape(6)))
    assert loss.data == rows.data
    loss.backward()
    shares = np.exp(reference_log_softmax(logits)) - np.eye(5)[targets]
    np.testing.assert_allclose(x.grad, shares / 6, rtol=1e-4, atol=1e-6)


def test_large_logits_overflow_nowhere():
    with np.errstate(over="raise", invalid="raise"):
        loss = CrossEntropyLoss()(Tensor([[1e4, 0.0], [0.0, 1e4]]), Tensor([0, 0]))
    assert float(loss.data) == pytest.approx(5000.0)


def test_a_masked_class_costs_nothing_where_it_is_no_target():
    x = Tensor([[0.0, 0.0, -np.inf]], requires_grad=True)
    loss = CrossEntropyLoss()(x, Tensor([1]))
    loss.backward()
    assert float(loss.data) == pytest.approx(np.log(2))
    np.testing.assert_allclose(x.grad, [[0.5, -0.5, 0]])


def test_certain_probabilities_stay_finite_and_keep_a_gradient():
    p = Tensor([0.0, 1.0], requires_grad=True)
    loss = BinaryCrossEntropyLoss()(p, Tensor([1.0, 0.0]))
    loss.backward()
    assert float(loss.data) == pytest.approx(-np.log(EPSILON), rel=0.02)
    assert p.grad[0] < -1e6
    assert p.grad[1] > 1e6


def test_a_column_of_targets_is_not_broadcast():
    for loss in (MSELoss(), BinaryCrossEntropyLoss()):
        with pytest.raises(ValueError, match=r"shape mismatch.*\(4, 1\).*\(4,\)"):
            loss(Tensor(np.ones((4, 1))), Tensor(np.ones(4)))
    with pytest.raises(ValueError, match=r"shape mismatch.*\(4,\).*\(4, 1\)"):
        CrossEntropyLoss()(Tensor(X), Tensor(np.ones((4, 1))))


@pytest.mark.parametrize("wrong", [5, -1, 0.5, np.nan])
def test_targets_are_classes(wrong):
    with pytest.raises(ValueError, match="whole number from 0 to 4"):
        CrossEntropyLoss()(Tensor(X), Tensor([0, 1, 2, wrong]))
