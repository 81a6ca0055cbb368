"""Generation A's autograd: nodes with `apply`, and wrappers that hang them on results.

Written for these tests, after the contract: it wraps the methods that it finds when it is
imported, recomputes what it wraps from `.data`, and keeps the Tensors.
"""

# ruff: noqa: F403, F405, PLW0603

import numpy as np
from standin_a.core import activations, losses
from standin_a.core.functions import *
from standin_a.core.tensor import Tensor

_TRACKING = True


class no_grad:
    def __enter__(self):
        global _TRACKING
        _TRACKING = False

    def __exit__(self, *_):
        global _TRACKING
        _TRACKING = True


def is_grad_enabled():
    return _TRACKING


def _hang(result, node, *tensors):
    """Hang a node on a result where gradients are recorded."""
    result.requires_grad = _TRACKING and any(t.requires_grad for t in tensors)
    if result.requires_grad:
        result._grad_fn = node
    return result


def backward(self, gradient=None):
    if gradient is None:
        if self.data.size != 1:
            raise ValueError("backward() needs a gradient for many elements")
        gradient = np.ones_like(self.data)
    if self.grad is None:
        self.grad = np.zeros_like(self.data)
    while gradient.ndim > self.grad.ndim:
        gradient = gradient.sum(axis=0)
    for i, length in enumerate(self.grad.shape):
        if length == 1 != gradient.shape[i]:
            gradient = gradient.sum(axis=i, keepdims=True)
    self.grad += gradient
    node = getattr(self, "_grad_fn", None)
    if node is None:
        return
    for tensor, grad in zip(node.saved_tensors, node.apply(gradient), strict=False):
        if tensor.requires_grad:
            tensor.backward(grad)


def zero_grad(self):
    self.grad = None


def enable_autograd(quiet=False):
    """Wrap the methods that are there now, once."""
    if hasattr(Tensor, "_autograd_enabled"):
        return
    _wrap_tensor()
    _wrap_layers()
    Tensor.backward, Tensor.zero_grad = backward, zero_grad
    Tensor._autograd_enabled = True


def _wrap_tensor():
    plain_init, plain_getitem = Tensor.__init__, Tensor.__getitem__
    plain_matmul, plain_sum = Tensor.matmul, Tensor.sum
    plain_transpose, plain_reshape = Tensor.transpose, Tensor.reshape

    def aware_init(self, data, requires_grad=False):
        plain_init(self, data)
        self.requires_grad, self.grad = requires_grad, None

    def tracked_matmul(self, other):
        result = plain_matmul(self, other)
        result._grad_fn = None
        return _hang(result, MatmulBackward(self, other), self, other)

    def tracked_getitem(self, key):
        result = plain_getitem(self, key)
        result._grad_fn = None
        return _hang(result, SliceBackward(self, key), self)

    def tracked_sum(self, axis=None, keepdims=False):
        result = plain_sum(self, axis, keepdims)
        result._grad_fn = None
        return _hang(result, SumBackward(self, axis, keepdims), self)

    def tracked_transpose(self, dim0=None, dim1=None):
        node = TransposeBackward(self, dim0, dim1)
        return _hang(plain_transpose(self, dim0, dim1), node, self)

    def tracked_reshape(self, *shape):
        return _hang(
            plain_reshape(self, *shape), ReshapeBackward(self, self.shape), self
        )

    Tensor.__init__ = aware_init
    Tensor.matmul, Tensor.__getitem__ = tracked_matmul, tracked_getitem
    Tensor.sum, Tensor.transpose = tracked_sum, tracked_transpose
    Tensor.reshape = tracked_reshape
    nodes = {"add": AddBackward, "sub": SubBackward, "mul": MulBackward}
    for name, node in {**nodes, "truediv": DivBackward}.items():
        setattr(Tensor, f"__{name}__", _binary(getattr(Tensor, f"__{name}__"), node))


def _binary(plain, node):
    def tracked(self, other):
        other = other if isinstance(other, Tensor) else Tensor(other)
        return _hang(plain(self, other), node(self, other), self, other)

    return tracked


def _wrap_layers():
    plain_gelu = activations.GELU.forward

    def tracked_sigmoid(self, x):
        result = Tensor(1.0 / (1.0 + np.exp(-x.data)))
        result._grad_fn = None
        return _hang(result, SigmoidBackward(x, result), x)

    def tracked_relu(self, x):
        result = Tensor(np.maximum(0, x.data))
        result._grad_fn = None
        return _hang(result, ReLUBackward(x), x)

    def tracked_softmax(self, x, dim=-1):
        e = np.exp(x.data - np.max(x.data, axis=dim, keepdims=True))
        result = Tensor(e / np.sum(e, axis=dim, keepdims=True))
        result._grad_fn = None
        return _hang(result, SoftmaxBackward(x, result, dim), x)

    def tracked_gelu(self, x):
        result = plain_gelu(self, x)
        result._grad_fn = None
        return _hang(result, GELUBackward(x), x)

    activations.Sigmoid.forward = tracked_sigmoid
    activations.ReLU.forward = tracked_relu
    activations.Softmax.forward = tracked_softmax
    activations.GELU.forward = tracked_gelu
    for owner, node in (
        (losses.MSELoss, MSEBackward),
        (losses.BinaryCrossEntropyLoss, BCEBackward),
        (losses.CrossEntropyLoss, CrossEntropyBackward),
    ):
        owner.forward = _loss(owner.forward, node)


def _loss(plain, node):
    def tracked(self, predictions, targets):
        result = plain(self, predictions, targets)
        result._grad_fn = None
        return _hang(result, node(predictions, targets), predictions)

    return tracked


enable_autograd(quiet=True)
