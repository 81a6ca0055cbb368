"""The models' gradients on the CPU, in float64, against differences of the loss."""

import numpy as np
import pytest

from tinytorch_gpu.tinytorch import CrossEntropyLoss, Tensor

STEP = 1e-6


class Double(Tensor):
    """A Tensor of float64; so is what comes of it."""

    def __init__(self, data, requires_grad=False):
        super().__init__(data, requires_grad)
        self.data = np.array(getattr(data, "data", data), np.float64)


def in_double(tensor):
    """Turn a Tensor into one of float64, and return it."""
    tensor.__class__, tensor.data = Double, tensor.data.astype(np.float64)
    return tensor


def loss_of(model, batch):
    return CrossEntropyLoss()(model(batch[0]), batch[1])


def slope(model, batch, directions):
    """Return the central difference of the loss along a direction of each parameter."""
    parameters = model.parameters()
    starts, values = [param.data for param in parameters], []
    for sign in (1.0, -1.0):
        for param, start, way in zip(parameters, starts, directions, strict=True):
            param.data = start + sign * STEP * way
        values.append(float(loss_of(model, batch).data))
    for param, start in zip(parameters, starts, strict=True):
        param.data = start
    return (values[0] - values[1]) / (2 * STEP)


@pytest.mark.parametrize("name", ["cnn_digits", "tiny_gpt"])
def test_every_parameter_s_gradient(name, request):
    example, draw = request.getfixturevalue(name), np.random.default_rng(0)
    model = example.network()
    parameters = [in_double(param) for param in model.parameters()]
    for param in parameters:  # zero biases put blank images on the edge of a ReLU
        param.data += draw.normal(size=param.shape) / 10
    batch = [in_double(tensor) for tensor in next(example.batches(1))]
    loss = loss_of(model, batch)
    assert loss.data.dtype == np.float64
    loss.backward()
    for which, param in enumerate(parameters):
        ways = [np.zeros(p.shape) for p in parameters]
        ways[which] = draw.normal(size=param.shape)
        expected = slope(model, batch, ways)
        found = float(np.sum(param.grad * ways[which]))
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-8)
