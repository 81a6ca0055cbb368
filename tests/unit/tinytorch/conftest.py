"""Ops on other arrays than float32 ndarrays: in float64, and on a duck that hides."""

import numpy as np
import pytest

from tinytorch_gpu.tinytorch.autograd import run_backward
from tinytorch_gpu.tinytorch.functions import Function


class BareTensor:
    """What the core needs of a tensor; keeps its array as it is."""

    def __init__(self, data, requires_grad=False):
        self.data, self.shape = data, np.shape(data)
        self.requires_grad, self.grad = requires_grad, None
        self._grad_fn, self._graph_released = None, False


class Duck(np.lib.mixins.NDArrayOperatorsMixin):
    """An array behind NumPy's protocols whose elements the host cannot reach."""

    def __init__(self, hidden):
        self.hidden = np.asarray(hidden)

    def __array__(self, *_args, **_options):
        raise AssertionError("pulled to the host")

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if "out" in options:
            options["out"] = bare(options["out"])
        done = getattr(ufunc, method)(*bare(inputs), **options)
        return self if "out" in options else Duck(done)

    def __array_function__(self, function, _types, args, options):
        done = function(*bare(args), **bare(options))
        return Duck(done) if isinstance(done, (np.ndarray, np.generic)) else done

    def __getattr__(self, name):
        if name in {"shape", "ndim", "size", "dtype"}:
            return getattr(self.hidden, name)
        method = getattr(self.hidden, name)
        return lambda *args, **options: Duck(method(*bare(args), **options))

    def __getitem__(self, key):
        return Duck(self.hidden[key])

    def __setitem__(self, key, value):
        self.hidden[key] = bare(value)

    def __bool__(self):
        raise AssertionError("asked for a value")

    __float__ = __bool__


def bare(value):
    if isinstance(value, (tuple, list)):
        return type(value)(map(bare, value))
    if isinstance(value, dict):
        return {key: bare(v) for key, v in value.items()}
    return value.hidden if isinstance(value, Duck) else value


class Weigh(Function):
    """Sum of the elements, each with its own weight: a scalar of every op."""

    weights = 1.0

    def forward(self, a):
        return np.sum(a * self.weights)

    def backward(self, grad):
        return (grad * self.weights,)


def _scalar(function, arrays, params, weights, kind=np.asarray):
    leaves = [BareTensor(kind(a.copy()), requires_grad=True) for a in arrays]
    out = function.apply(*leaves, **params)
    return leaves, Weigh.apply(out, weights=kind(weights(out.shape)))


def _weights(shape):
    return np.linspace(0.5, 1.5, max(1, int(np.prod(shape)))).reshape(shape)


def _slope(function, arrays, params, place, step=1e-6):
    """Central difference of the scalar by one element of one array."""
    which, index = place
    values = []
    for sign in (1.0, -1.0):
        moved = [a.copy() for a in arrays]
        moved[which][index] += sign * step
        values.append(_scalar(function, moved, params, _weights)[1].data)
    return (values[0] - values[1]) / (2.0 * step)


@pytest.fixture
def check_gradients():
    """Return a check of an op's gradients, in float64, against central differences."""

    def check(function, *arrays, without=(), **params):
        arrays = [np.asarray(a, np.float64) for a in arrays]
        leaves, loss = _scalar(function, arrays, params, _weights)
        run_backward(loss, None, retain_graph=False)
        for which, leaf in enumerate(leaves):
            if which in without:
                assert leaf.grad is None
                continue
            slopes = np.zeros(leaf.shape)
            for index in np.ndindex(leaf.shape):
                slopes[index] = _slope(function, arrays, params, (which, index))
            np.testing.assert_allclose(leaf.grad, slopes, rtol=1e-6, atol=1e-7)

    return check


@pytest.fixture
def check_stays():
    """Return a check that an op computes on a duck what it computes on an ndarray."""

    def check(function, *arrays, **params):
        arrays = [np.asarray(a, np.float32) for a in arrays]
        found = []
        for kind in (np.asarray, Duck):
            leaves, loss = _scalar(function, arrays, params, _weights, kind)
            run_backward(loss, None, retain_graph=False)
            assert all(isinstance(t.grad, (type(t.data), type(None))) for t in leaves)
            found.append([bare(loss.data), *(bare(t.grad) for t in leaves)])
        for host, duck in zip(*found, strict=True):
            np.testing.assert_array_equal(host, duck)

    return check


@pytest.fixture
def duck():
    """Return the class of arrays that the host cannot read."""
    return Duck
