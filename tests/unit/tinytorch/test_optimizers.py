"""Optimizers: steps by hand in float64, buffers, and what they refuse."""

import numpy as np
import pytest

from tinytorch_gpu.tinytorch.optimizers import SGD, Adam, AdamW, Optimizer
from tinytorch_gpu.tinytorch.tensor import Tensor

START = np.array([1.0, -2.0, 3.0])
GRADS = np.random.default_rng(8).normal(size=(4, 3))


def run(make):
    """Take four steps with given gradients; return the parameter."""
    param = Tensor(START, requires_grad=True)
    optimizer = make([param])
    for grad in GRADS:
        param.grad = grad.astype(np.float32)
        optimizer.step()
        optimizer.zero_grad()
    assert (optimizer.step_count, param.grad, param.data.dtype) == (4, None, np.float32)
    return param.data


@pytest.mark.parametrize(
    ("lr", "momentum", "decay"), [(0.1, 0, 0), (0.1, 0.9, 0), (0.05, 0.5, 0.2)]
)
def test_sgd(lr, momentum, decay):
    p, v = START.copy(), np.zeros(3)
    for grad in GRADS:
        v = momentum * v + grad + decay * p
        p = p - lr * v
    made = run(lambda params: SGD(params, lr, momentum, decay))
    np.testing.assert_allclose(made, p, rtol=1e-5)


@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_adam(decoupled, decay):
    p, m, v, lr = START.copy(), np.zeros(3), np.zeros(3), 0.05
    for t, grad in enumerate(GRADS, start=1):
        if decoupled:
            p, g = p - lr * decay * p, grad
        else:
            g = grad + decay * p
        m, v = 0.8 * m + 0.2 * g, 0.9 * v + 0.1 * g * g
        p = p - lr * (m / (1 - 0.8**t)) / (np.sqrt(v / (1 - 0.9**t)) + 1e-8)
    kind = AdamW if decoupled else Adam
    made = run(lambda params: kind(params, lr, (0.8, 0.9), 1e-8, decay))
    np.testing.assert_allclose(made, p, rtol=1e-5)


def test_adams_first_step_is_the_learning_rate():
    param = Tensor([1.0, 1.0])
    param.grad = np.array([1e-3, -50.0], np.float32)
    Adam([param], lr=0.1).step()
    np.testing.assert_allclose(param.data, [0.9, 1.1], rtol=1e-4)


def test_defaults():
    param = Tensor([1.0])
    sgd, adam, adamw = SGD([param]), Adam([param]), AdamW([param])
    assert (sgd.lr, sgd.momentum, sgd.weight_decay) == (0.01, 0.0, 0.0)
    assert (adam.lr, adam.beta1, adam.beta2, adam.eps) == (0.001, 0.9, 0.999, 1e-8)
    assert (adam.weight_decay, adamw.weight_decay) == (0.0, 0.01)


def test_a_step_rebinds_data_and_leaves_the_old_array():
    param = Tensor([1.0])
    before = param.data
    param.grad = np.ones(1, np.float32)
    SGD([param], lr=0.5).step()
    assert (before.tolist(), param.data.tolist()) == ([1.0], [0.5])


def test_parameters_without_gradient_stay():
    moved, still = Tensor([1.0]), Tensor([1.0])
    moved.grad = np.ones(1, np.float32)
    optimizer = AdamW([moved, still], lr=0.1)
    optimizer.step()
    assert still.data.tolist() == [1.0]
    assert optimizer.m_buffers[1] is None


def test_a_gradient_may_be_a_tensor():
    param = Tensor([1.0])
    param.grad = Tensor([1.0])
    SGD([param], lr=0.5).step()
    assert param.data.tolist() == [0.5]


def test_a_float64_learning_rate_does_not_widen_the_parameters():
    for kind in (SGD, Adam, AdamW):
        param = Tensor([1.0])
        param.grad = np.ones(1, np.float32)
        kind([param], lr=np.float64(0.1)).step()
        assert param.data.dtype == np.float32


def test_momentum_state_can_be_carried_over():
    param = Tensor([1.0])
    first = SGD([param], momentum=0.9)
    assert first.get_momentum_state() == [None]
    param.grad = np.ones(1, np.float32)
    first.step()
    state = first.get_momentum_state()
    second = SGD([param], momentum=0.9)
    second.set_momentum_state(state)
    state[0][0] = 99.0  # copies on both ways
    assert second.momentum_buffers[0].tolist() == [1.0]
    plain = SGD([param])
    plain.set_momentum_state(state)
    assert (plain.has_momentum(), plain.get_momentum_state()) == (False, None)


@pytest.mark.parametrize("kind", [SGD, Adam, AdamW])
def test_steps_leave_the_elements_where_they_are(kind, duck):
    options = {"momentum": 0.9} if kind is SGD else {}
    results = []
    for place in (np.asarray, duck):
        param = Tensor(START)
        param.data = place(START.astype(np.float32))
        optimizer = kind([param], lr=0.1, weight_decay=0.1, **options)
        for grad in GRADS.astype(np.float32):
            param.grad = place(grad)
            optimizer.step()
        results.append(param.data)
    np.testing.assert_array_equal(results[0], results[1].hidden)


def test_what_is_refused():
    param = Tensor([1.0])
    with pytest.raises(ValueError, match="given twice"):
        SGD([param, param])
    with pytest.raises(TypeError, match=r"requires Tensor.*ndarray"):
        SGD([param, np.ones(1)])
    param.grad = np.ones(1, np.float32)
    with pytest.raises(NotImplementedError, match="Optimizer needs _update"):
        Optimizer([param]).step()


def test_one_tensor_is_one_parameter_and_a_generator_is_read_once():
    param = Tensor([1.0, 2.0])
    assert SGD(param).params == [param]
    assert SGD(p for p in [param]).params == [param]
