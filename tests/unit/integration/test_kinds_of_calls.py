"""A kernel answers for a kind of call only if that kind was tried.

Each test bends a learner's code for one kind of call (a rank, an axis, a 0-d operand, a
stride with a padding): the device gives what the CPU gives, not what the kernel would.
"""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import Package, host
from tests.unit.integration.both import equal_on_both, moved, outcome

A, B = "standin_a.core", "standin_b.core"
SHAPES = ((), (5,), (3, 5), (4, 3, 5), (2, 4, 3, 5), (1, 2, 4, 3, 5))
ARRAYS = [np.random.default_rng(i).normal(size=s) * 2 for i, s in enumerate(SHAPES)]
ARRAYS = [array.astype(np.float32) for array in ARRAYS]
AXES = [(rank, axis) for rank in range(1, 6) for axis in range(-rank, rank)]
UNARY = {"relu": "ReLUFunction", "tanh": "TanhFunction"}
SEVERAL = {"sum": "Sum", "mean": "Mean"}
PAIRS = {"mul": "Mul", "div": "Div"}
CONV = ((2, 1), (3, 1), (2, 2), (1, 1), (3, 0))


def bent(plain, is_there):
    """Return a `forward` that gives something else for some calls."""

    def forward(self, *arrays):
        out = plain(self, *arrays)
        return out * 2.0 if is_there(self, *arrays) else out

    return forward


def same_on_both(package, program, *arrays):
    """Check the values only: what the bent code's gradient is does not matter."""
    simgpu.install("t4", package.name)
    expected, _, _ = outcome(package, program, arrays, "cpu")
    got, _, served = outcome(package, program, arrays, "simgpu")
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    return served


def function(package, owner, *operands, **parameters):
    return package.get(owner).apply(*operands, **parameters)


@pytest.mark.parametrize("rank", range(6))
@pytest.mark.parametrize("op", UNARY)
def test_a_rank(op, rank, change):
    package, at = Package(B), rank
    owner = package.get(UNARY[op])
    change(owner, forward=bent(owner.forward, lambda _, x: len(x.shape) == at))
    same_on_both(package, lambda x: function(package, UNARY[op], x), ARRAYS[rank])


@pytest.mark.parametrize("rank", range(1, 6))
@pytest.mark.parametrize("name", [A, B])
def test_a_rank_of_softmax(name, rank, change):
    package, at = Package(name), rank
    owner = package.get("Softmax" if name == A else "SoftmaxFunction")
    plain, made = owner.forward, package.Tensor
    if name == A:

        def forward(self, x, dim=-1):
            out = plain(self, x, dim)
            return made(out.data * 2.0) if len(x.shape) == at else out
    else:
        forward = bent(plain, lambda _, x: len(x.shape) == at)
    change(owner, forward=forward)
    layer = package.get("Softmax")
    same_on_both(package, lambda x: layer().forward(x), ARRAYS[rank])


@pytest.mark.parametrize(("rank", "axis"), AXES)
@pytest.mark.parametrize(("op", "keepdims"), [("sum", False), ("mean", True)])
def test_an_axis(op, rank, axis, keepdims, change):
    package, at = Package(B), (rank, axis, keepdims)
    owner = package.get(SEVERAL[op])

    def is_there(self, x):
        return (len(x.shape), self.axis, self.keepdims) == at

    change(owner, forward=bent(owner.forward, is_there))
    served = same_on_both(
        package,
        lambda x: getattr(x, op)(axis=axis, keepdims=keepdims),
        ARRAYS[rank],
    )
    assert f"tinytorch::{op}_own_code" in served


@pytest.mark.parametrize(("rank", "axis"), AXES)
def test_an_axis_of_softmax(rank, axis, change):
    package, at = Package(B), (rank, axis)
    owner, layer = package.get("SoftmaxFunction"), package.get("Softmax")
    is_there = bent(owner.forward, lambda self, x: (len(x.shape), self.dim) == at)
    change(owner, forward=is_there)
    same_on_both(package, lambda x: layer().forward(x, axis), ARRAYS[rank])


@pytest.mark.parametrize("axis", [(0, 1), (1, 2), (0, -1), (2, 1), (0, 2, 3)])
def test_several_axes(axis, change):
    package, at = Package(B), axis
    owner = package.get("Sum")
    change(owner, forward=bent(owner.forward, lambda self, _: self.axis == at))
    same_on_both(package, lambda x: x.sum(axis=axis), ARRAYS[4])


@pytest.mark.parametrize("ranks", [(a, b) for a in range(6) for b in range(6)])
@pytest.mark.parametrize("op", PAIRS)
def test_ranks_of_two_operands(op, ranks, change):
    package, at = Package(B), ranks
    owner = package.get(PAIRS[op])

    def is_there(_, a, b):
        return (len(a.shape), len(b.shape)) == at

    change(owner, forward=bent(owner.forward, is_there))
    first, second = (ARRAYS[rank] for rank in ranks)
    same_on_both(package, lambda a, b: function(package, PAIRS[op], a, b),
                 first, np.abs(second) + 1)  # fmt: skip


@pytest.mark.parametrize("op", PAIRS)
def test_a_number_as_operand(op, change):
    package = Package(B)
    owner = package.get(PAIRS[op])
    change(owner, forward=bent(owner.forward, lambda _, a, b: not b.ndim))
    program = {"mul": lambda x: x * 3.0, "div": lambda x: x / 2}[op]
    served = same_on_both(package, program, ARRAYS[2])
    assert f"tinytorch::{op}_own_code" in served


def conv(package, **options):
    """Return a program: a convolution of one image with weights that are known."""

    def program(x):
        layer = package.get("Conv2d")(2, 3, 3, **options)
        rng = np.random.default_rng(7)
        for parameter in layer.parameters():
            parameter.data[...] = rng.normal(size=parameter.data.shape)
        return moved(layer, x).forward(x)

    return program


@pytest.mark.parametrize(("stride", "padding"), CONV)
@pytest.mark.parametrize("name", [A, B])
def test_a_stride_with_a_padding(name, stride, padding, change):
    package = Package(name)
    image = np.random.default_rng(3).normal(size=(1, 2, 7, 7)).astype(np.float32)
    owner = package.get("Conv2d" if name == A else "Conv2dFunction")
    plain, made = owner.forward, package.Tensor

    def is_there(layer):
        step = layer.stride if isinstance(layer.stride, int) else layer.stride[0]
        return (step > 1, layer.padding > 0) == (stride > 1, padding > 0)

    def by_layer(self, x):
        out = plain(self, x)
        return made(out.data * 2.0) if is_there(self) else out

    by_function = bent(plain, lambda self, *_: is_there(self.layer))
    change(owner, forward=by_layer if name == A else by_function)
    program = conv(package, stride=stride, padding=padding)
    served = same_on_both(package, program, image)
    assert "tinytorch::conv2d_own_code" in served


@pytest.mark.parametrize("name", [A, B])
def test_right_code_keeps_its_kernel_for_a_stride_with_a_padding(name):
    package = Package(name)
    image = np.random.default_rng(3).normal(size=(1, 2, 7, 7)).astype(np.float32)
    for stride, padding in CONV:
        program = conv(package, stride=stride, padding=padding)
        served = equal_on_both(package, program, image)
        assert served["tinytorch::conv2d"] == "SimGPU"


@pytest.mark.parametrize("rank", range(1, 5))
def test_right_code_keeps_its_kernels_at_every_rank(rank):
    package = Package(B)
    x = ARRAYS[rank]

    def program(x):
        out = package.get("Softmax")().forward(x * 3.0) / 2
        return (out - out.mean(axis=-1, keepdims=True)).sum(axis=-1)

    served = equal_on_both(package, program, x)
    for op in ("mul", "div", "softmax", "sub", "mean", "sum"):
        assert served[f"tinytorch::{op}"] == "SimGPU"


@pytest.mark.parametrize("name", [A, B])
def test_a_size_that_is_changed_after_construction(name):
    package = Package(name)
    image = np.random.default_rng(3).normal(size=(1, 2, 5, 5)).astype(np.float32)
    simgpu.install("t4", name)
    shapes = []
    for device in ("cpu", "simgpu"):
        x = package.plain(image, device)
        layer = moved(package.get("Conv2d")(2, 3, 3), x)
        is_pair = isinstance(layer.kernel_size, tuple)
        layer.kernel_size = (2, 2) if is_pair else 2
        try:
            shapes.append(host(layer.forward(x)).shape)
        except ValueError:  # the weights are of 3 by 3
            shapes.append(None)
    assert shapes[0] == shapes[1]


SQUARE = np.float32([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [1.5, 0.2, -0.3]])


@pytest.mark.parametrize("op", PAIRS)
def test_axes_of_equal_length(op, change):
    package = Package(B)
    owner = package.get(PAIRS[op])
    change(owner, forward=bent(owner.forward, lambda _, a, b: a.shape == (3, 3)))
    by_op = lambda a, b: function(package, PAIRS[op], a, b)  # noqa: E731
    same_on_both(package, by_op, SQUARE, SQUARE[::-1] + 3.0)


@pytest.mark.parametrize("op", SEVERAL)
def test_a_reduction_of_axes_of_equal_length(op, change):
    package = Package(B)
    owner = package.get(SEVERAL[op])
    change(owner, forward=bent(owner.forward, lambda _, x: x.shape == (3, 3)))
    by_op = lambda x: function(package, SEVERAL[op], x, axis=0)  # noqa: E731
    same_on_both(package, by_op, SQUARE)
