"""Layers of images (N, C, H, W): convolution, pooling, batch normalisation."""

import math
from typing import Any

import numpy as np

from tinytorch_gpu.tinytorch.functions import Function, Grads
from tinytorch_gpu.tinytorch.layers import Layer
from tinytorch_gpu.tinytorch.tensor import Tensor
from tinytorch_gpu.tinytorch.windows import images_of, windows_of

__all__ = ["AvgPool2d", "BatchNorm2d", "Conv2d", "Flatten", "MaxPool2d"]

rng = np.random.default_rng(7)  # of weights; assign another one to reseed

Pair = int | tuple[int, int]


class Conv2dFunction(Function):
    """out[n, o, y, x] = sum of weight[o] times the window of image n at (y, x)."""

    layer: Any = None  # has stride and padding

    def forward(self, x: Any, weight: Any, *bias: Any) -> Any:
        """Return (N, O, H', W'), the weight times the windows as columns."""
        taken = windows_of(x, weight.shape[2:], self.layer)
        columns, places = _columns(taken), taken.shape[3:]
        out = np.matmul(_flat(weight), columns)
        out = out.reshape((x.shape[0], weight.shape[0], *places))
        return out + bias[0].reshape((1, -1, 1, 1)) if bias else out

    def backward(self, grad: Any) -> Grads:
        """Return the gradients by image, weight and, if there is one, bias."""
        x, weight, *bias = (tensor.data for tensor in self.inputs)
        taken = windows_of(x, weight.shape[2:], self.layer)
        flat = grad.reshape((*grad.shape[:2], -1))  # (N, O, places)
        shares = np.matmul(flat, np.swapaxes(_columns(taken), 1, 2))
        by_weight = np.sum(shares, axis=0).reshape(weight.shape)
        by_columns = np.matmul(np.transpose(_flat(weight), (1, 0)), flat)
        by_x = images_of(
            by_columns.reshape(taken.shape), x, weight.shape[2:], self.layer
        )
        return (by_x, by_weight, *(np.sum(grad, axis=(0, 2, 3)) for _ in bias))


class MaxPool2dFunction(Function):
    """The largest element of each window; padding never wins."""

    layer: Any = None  # has kernel_size, stride and padding

    def forward(self, x: Any) -> Any:
        """Return (N, C, H', W')."""
        return np.max(
            windows_of(x, self.layer.kernel_size, self.layer, -np.inf), axis=2
        )

    def backward(self, grad: Any) -> Grads:
        """Give each window's gradient to its largest element, the first of equals."""
        x, size = self.inputs[0].data, self.layer.kernel_size
        winners = np.argmax(windows_of(x, size, self.layer, -np.inf), axis=2)
        shares = [grad * (winners == entry) for entry in range(math.prod(size))]
        return (images_of(np.stack(shares, axis=2), x, size, self.layer),)


class AvgPool2dFunction(Function):
    """The mean of each window; zeros of the padding count."""

    layer: Any = None  # has kernel_size, stride and padding

    def forward(self, x: Any) -> Any:
        """Return (N, C, H', W')."""
        return np.mean(windows_of(x, self.layer.kernel_size, self.layer), axis=2)

    def backward(self, grad: Any) -> Grads:
        """Share each window's gradient out evenly."""
        x, size = self.inputs[0].data, self.layer.kernel_size
        shares = [grad / math.prod(size)] * math.prod(size)
        return (images_of(np.stack(shares, axis=2), x, size, self.layer),)


class BatchNorm2dFunction(Function):
    """x̂ gamma + beta, with x̂ = (x - mean) / sqrt(var + eps), by channel."""

    mean: Any = None
    var: Any = None
    eps = 1e-5
    training = True  # mean and var are those of this x, which acts through them too

    def forward(self, x: Any, gamma: Any, beta: Any) -> Any:
        """Return (N, C, H, W)."""
        return self._normal(x) * _by_channel(gamma) + _by_channel(beta)

    def backward(self, grad: Any) -> Grads:
        """Return the gradients by x, gamma and beta."""
        x, gamma, _ = (tensor.data for tensor in self.inputs)
        normal = self._normal(x)
        by_gamma = np.sum(grad * normal, axis=(0, 2, 3))
        by_beta = np.sum(grad, axis=(0, 2, 3))
        if self.training:
            common = _by_channel(by_beta) + normal * _by_channel(by_gamma)
            grad = grad - common * (gamma.size / x.size)
        scale = _by_channel(gamma / np.sqrt(self.var + self.eps))
        return grad * scale, by_gamma, by_beta

    def _normal(self, x: Any) -> Any:
        centred = x - _by_channel(self.mean)
        return centred / _by_channel(np.sqrt(self.var + self.eps))


class Conv2d(Layer):
    """Slide O weights over images, with weights drawn from N(0, 2 / (C kh kw)).

    Args:
        in_channels: C.
        out_channels: O.
        kernel_size: rows and columns of the window, one number or (kh, kw).
        stride: from one window to the next, one number or (y, x).
        padding: zeros around the image.
        bias: add a bias (O,), zeros at first.

    Example:
        >>> layer = Conv2d(1, 4, kernel_size=3, padding=1)
        >>> layer(Tensor(np.ones((2, 1, 8, 8)))).shape, layer.weight.shape
        ((2, 4, 8, 8), (4, 1, 3, 3))
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Pair,
        stride: Pair = 1,
        padding: int = 0,
        bias: bool = True,
    ) -> None:
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = _pair(kernel_size), _pair(stride)
        self.padding = padding
        shape = (out_channels, in_channels, *self.kernel_size)
        scale = math.sqrt(2.0 / math.prod(shape[1:]))
        self.weight = Tensor(rng.standard_normal(shape) * scale, requires_grad=True)
        self.bias = Tensor(np.zeros(out_channels), requires_grad=True) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Return (N, O, H', W') of x (N, C, H, W).

        Raises:
            ValueError: x has another number of axes or channels.
        """
        _check_images(x, "Conv2d", self.in_channels)
        return Conv2dFunction.apply(x, *self.parameters(), layer=self)

    def parameters(self) -> list[Tensor]:
        """Return weight and, if there is one, bias."""
        return [self.weight] if self.bias is None else [self.weight, self.bias]


class _Pool(Layer):
    function: type[Function]

    def __init__(
        self, kernel_size: Pair, stride: Pair | None = None, padding: int = 0
    ) -> None:
        self.kernel_size, self.padding = _pair(kernel_size), padding
        self.stride = self.kernel_size if stride is None else _pair(stride)

    def forward(self, x: Tensor) -> Tensor:
        """Return (N, C, H', W') of x (N, C, H, W)."""
        _check_images(x, type(self).__name__)
        return self.function.apply(x, layer=self)


class MaxPool2d(_Pool):
    """The largest element of each window.

    Args:
        kernel_size: rows and columns of the window, one number or (kh, kw).
        stride: from one window to the next; `kernel_size` if None.
        padding: around the image, at most half the window; it never wins.
    """

    function = MaxPool2dFunction


class AvgPool2d(_Pool):
    """The mean of each window.

    Args:
        kernel_size: rows and columns of the window, one number or (kh, kw).
        stride: from one window to the next; `kernel_size` if None.
        padding: zeros around the image, at most half the window; they count.
    """

    function = AvgPool2dFunction


class BatchNorm2d(Layer):
    """Give each channel mean beta and standard deviation gamma.

    In training with the batch's own mean and variance, of which running means are kept;
    after `eval()` with those. Variances are divided by the number of elements.

    Args:
        num_features: channels.
        eps: keeps the division finite.
        momentum: share of the batch in the running means.
    """

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1
    ) -> None:
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.gamma = Tensor(np.ones(num_features), requires_grad=True)
        self.beta = Tensor(np.zeros(num_features), requires_grad=True)
        self.running_mean: Any = np.zeros(num_features, np.float32)
        self.running_var: Any = np.ones(num_features, np.float32)
        self.training = True

    def train(self) -> "BatchNorm2d":
        """Use and collect the statistics of batches from now on; return the layer."""
        self.training = True
        return self

    def eval(self) -> "BatchNorm2d":
        """Use the running means from now on; return the layer."""
        self.training = False
        return self

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalised x (N, C, H, W)."""
        _check_images(x, "BatchNorm2d", self.num_features)
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = np.mean(x.data, (0, 2, 3)), np.var(x.data, (0, 2, 3))
            keep, part = 1.0 - self.momentum, self.momentum
            self.running_mean = keep * self.running_mean + part * mean
            self.running_var = keep * self.running_var + part * var
        params = {"eps": self.eps, "training": self.training}
        return BatchNorm2dFunction.apply(
            x, self.gamma, self.beta, mean=mean, var=var, **params
        )

    def parameters(self) -> list[Tensor]:
        """Return gamma and beta."""
        return [self.gamma, self.beta]


class Flatten(Layer):
    """Join all axes after the first: (N, C, H, W) becomes (N, C H W)."""

    def forward(self, x: Tensor) -> Tensor:
        """Return (N, features)."""
        return x.reshape(x.shape[0], -1)


def _pair(value: Pair) -> tuple[int, int]:
    return value if isinstance(value, tuple) else (value, value)


def _check_images(x: Tensor, name: str, channels: int | None = None) -> None:
    wanted = "C" if channels is None else str(channels)
    if x.ndim != 4 or channels not in {None, x.shape[1]}:
        raise ValueError(
            f"{name} takes images (N, {wanted}, H, W), got {x.shape}: reshape them"
        )


def _columns(taken: Any) -> Any:
    """Return windows as (N, C entries, places), for a matrix product."""
    count, channels, entries = taken.shape[:3]
    return taken.reshape((count, channels * entries, -1))


def _flat(weight: Any) -> Any:
    return weight.reshape((weight.shape[0], -1))


def _by_channel(values: Any) -> Any:
    return values.reshape((1, -1, 1, 1))
