"""A verdict holds for the types, values and ranks that were tried, and for no others."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import Package, host
from tests.unit.integration.both import equal_on_both, moved

A, B = "standin_a.core", "standin_b.core"
X = np.float32([[-2.0, -0.5, 0.0], [0.3, 1.0, 4.0]])
ROWS = np.random.default_rng(2).normal(size=(3, 4)).astype(np.float32)
IMAGE = np.random.default_rng(3).normal(size=(1, 2, 4, 6)).astype(np.float32)


def seeded(layer):
    """Give a layer the same weights each time."""
    rng = np.random.default_rng(7)
    for parameter in layer.parameters():
        parameter.data[...] = rng.normal(size=parameter.data.shape)
        parameter.requires_grad = True
    return layer


def conv(owner, *arguments, **options):
    return lambda x: moved(seeded(owner(2, 3, *arguments, **options)), x).forward(x)


# Types.


def derived(owner, **body):
    return type(f"My{owner.__name__}", (owner,), body)


def test_a_layer_derived_from_one_that_was_tried_is_tried_itself(change):
    package = Package(A)
    layer = package.get("Conv2d")

    def doubled(self, x):
        out = layer.forward(self, x)
        out.data = out.data * 2.0
        return out

    served = equal_on_both(package, conv(derived(layer), 3), IMAGE)
    assert served["tinytorch::conv2d"] == "SimGPU"
    served = equal_on_both(package, conv(derived(layer, forward=doubled), 3), IMAGE)
    assert "tinytorch::conv2d" not in served


def test_an_activation_derived_from_one_that_was_tried_is_tried_itself(change):
    package = Package(A)
    relu, made = package.get("ReLU"), package.Tensor
    change(
        relu,
        forward=lambda self, x: made(self.bent(x.data) + self.shift),
        bent=lambda self, a: np.maximum(a, 0),
        shift=0.0,
    )
    for body in (
        {"bent": lambda self, a: a * a},
        {"shift": 1.0},
        {"forward": lambda self, x: made(np.abs(x.data))},
    ):
        owner = derived(relu, **body)
        served = equal_on_both(package, lambda x, owner=owner: owner().forward(x), X)
        assert "tinytorch::relu" not in served
    assert "tinytorch::relu" in equal_on_both(package, lambda x: relu().forward(x), X)


def test_a_pool_derived_from_one_that_was_tried_is_tried_itself(change):
    package = Package(B)
    function, pool = package.get("MaxPool2dFunction"), package.get("MaxPool2d")
    change(
        function,
        forward=lambda self, x: self.layer.taken(x),
        backward=lambda self, g: (np.zeros_like(self.inputs[0].data),),
    )
    halves = {"taken": lambda self, x: x[:, :, ::2, ::2]}
    change(pool, **halves)
    smallest = derived(pool, taken=lambda self, x: -x[:, :, 1::2, 1::2])
    served = equal_on_both(package, lambda x: smallest(2).forward(x), IMAGE)
    assert "tinytorch::max_pool2d" not in served


def test_a_foreign_layer_that_calls_the_function_is_no_conv2d(change):
    package = Package(B)
    function = package.get("Conv2dFunction")

    class Doubled:
        def __init__(self):
            inner = seeded(package.get("Conv2d")(2, 3, 3))
            vars(self).update(vars(inner))
            self.gain = 2.0

        def parameters(self):
            return [self.weight, self.bias]

        def forward(self, x):
            return function.apply(x, self.weight, self.bias, layer=self)

    plain = function.forward
    change(
        function,
        forward=lambda self, x, w, b=None: (
            plain(self, x, w, b) * getattr(self.layer, "gain", 1.0)
        ),
    )
    simgpu.install("t4", B)
    layer = Doubled()
    expected = layer.forward(package.plain(IMAGE)).data
    x = package.plain(IMAGE, "simgpu")
    np.testing.assert_allclose(
        host(moved(layer, x).forward(x)), expected, rtol=1e-5, atol=1e-5
    )


# What a layer keeps.

# A value that was tried, another one, and how the code reads it.
GAINS = {
    "float": (1.0, 2.0, lambda layer: layer.gain),
    "float32": (1.0, np.float32(2.0), lambda layer: layer.gain),
    "list": ([1.0], [2.0], lambda layer: layer.gain[0]),
    "dict": ({"by": 1.0}, {"by": 2.0}, lambda layer: layer.gain["by"]),
    "array": (np.ones(1), np.full(1, 2.0), lambda layer: float(layer.gain[0])),
}


@pytest.mark.parametrize("kind", GAINS)
@pytest.mark.parametrize("name", [A, B])
def test_whatever_a_layer_keeps_that_was_not_tried_counts(name, kind, change):
    package = Package(name)
    layer, tensor = package.get("Conv2d"), package.Tensor
    target = layer if name == A else package.get("Conv2dFunction")
    plain, init = target.forward, layer.__init__
    usual, other, factor = GAINS[kind]

    def by_layer(self, x):
        out = plain(self, x)
        return tensor(out.data * factor(self))

    def by_function(self, *arrays):
        return plain(self, *arrays) * factor(self.layer)

    def made(self, *arguments, gain=1.0):
        init(self, *arguments)
        self.gain = gain

    def made_with(gain):
        return seeded(layer(2, 3, 3, gain=gain))

    made.__kwdefaults__ = {"gain": usual}
    change(layer, __init__=made)
    change(target, forward=by_layer if name == A else by_function)
    simgpu.install("t4", name)
    is_tried = kind in {"float", "float32"}  # a default that may change is no number
    for value, is_kernel in ((usual, is_tried), (other, False)):
        one = made_with(value)
        expected = one.forward(package.plain(IMAGE)).data
        x = package.plain(IMAGE, "simgpu")
        with simgpu.profiler.profile() as prof:
            got = host(moved(one, x).forward(x))
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
        served = [r.op for r in prof.events() if hasattr(r, "implementation")]
        assert ("tinytorch::conv2d" in served) == is_kernel


@pytest.mark.parametrize("rows", [5, 9])
def test_a_size_under_any_name_does_not(rows, change):
    package = Package(A)
    embedding = package.get("Embedding")
    plain, init = embedding.forward, embedding.__init__

    def made(self, num_embeddings, width):
        init(self, num_embeddings, width)
        self.num_embeddings = num_embeddings

    def forward(self, indices):
        if np.max(indices.data) >= self.num_embeddings:
            raise IndexError("no such row")
        return plain(self, indices)

    change(embedding, __init__=made, forward=forward)
    indices = np.float32([[1, 4], [2, 1]])
    simgpu.install("t4", A)
    layer = seeded(embedding(rows, 3))
    expected = layer.forward(package.plain(indices)).data
    there = package.plain(indices, "simgpu")
    with simgpu.profiler.profile() as prof:
        got = host(moved(layer, there).forward(there))
    served = [r.op for r in prof.events() if hasattr(r, "implementation")]
    assert "tinytorch::embedding" in served
    np.testing.assert_array_equal(got, expected)


def test_a_number_that_only_looks_like_a_size_counts(change):
    package = Package(B)
    layer, function = package.get("Conv2d"), package.get("Conv2dFunction")
    plain, init = function.forward, layer.__init__

    def made(self, *arguments, groups=2, **options):
        init(self, *arguments, **options)
        self.groups = groups

    def forward(self, *arrays):
        return plain(self, *arrays) * (1.0 if self.layer.groups == 2 else 3.0)

    change(layer, __init__=made)
    change(function, forward=forward)
    served = equal_on_both(package, conv(layer, 3), IMAGE)
    assert "tinytorch::conv2d" in served
    served = equal_on_both(package, conv(layer, 3, groups=3), IMAGE)
    assert "tinytorch::conv2d" not in served


# Parameters.


def test_padding_by_name_is_the_learners_own(change):
    package = Package(A)
    layer = package.get("Conv2d")
    plain, init = layer.forward, layer.__init__

    def made(self, *arguments, padding=0):
        init(self, *arguments, padding=1 if padding == "same" else padding)
        self.padding = padding

    def forward(self, x):
        kept, self.padding = self.padding, 1 if self.padding == "same" else self.padding
        try:
            return plain(self, x)
        finally:
            self.padding = kept

    change(layer, __init__=made, forward=forward)
    simgpu.install("t4", A)
    one = seeded(layer(2, 3, 3, padding="same"))
    expected = one.forward(package.plain(IMAGE)).data
    x = package.plain(IMAGE, "simgpu")
    np.testing.assert_allclose(
        host(moved(one, x).forward(x)), expected, rtol=1e-5, atol=1e-5
    )


def test_an_epsilon_that_the_formula_ignores(change):
    def fixed(self, x, gamma, beta):
        centred = x - np.mean(x, axis=-1, keepdims=True)
        deviation = np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + 1e-5)
        self.normalized_data = centred / deviation
        return self.normalized_data * gamma + beta

    package = Package(B)
    change(
        package.get("LayerNormFunction"),
        forward=fixed,
        backward=lambda self, g: (g, g[0], g[0]),
    )
    layer = package.get("LayerNorm")
    served = equal_on_both(
        package, lambda x: moved(layer(4, eps=1.0), x).forward(x), ROWS
    )
    assert "tinytorch::layer_norm" not in served


def test_a_width_that_is_computed_from_the_height(change):
    package = Package(B)
    function = package.get("AvgPool2dFunction")
    change(
        function,
        forward=lambda self, x: (
            x[:, :, ::2, : x.shape[2] : 2] / 4 + x[:, :, 1::2, : x.shape[2] : 2] / 4
            + x[:, :, ::2, 1 : x.shape[2] : 2] / 4
            + x[:, :, 1::2, 1 : x.shape[2] : 2] / 4
        ),
        backward=lambda self, g: (np.zeros_like(self.inputs[0].data),),
    )  # fmt: skip
    pool = package.get("AvgPool2d")
    served = equal_on_both(package, lambda x: pool(2).forward(x), IMAGE)
    assert "tinytorch::avg_pool2d" not in served


# What the learner's code refuses.


def test_a_rank_that_the_learner_refuses_is_refused_on_the_device(change):
    def flat(self, a, b):
        if a.ndim != 2 or b.ndim != 2:
            raise NotImplementedError("2-D only")
        return np.dot(a, b)

    package = Package(B)
    change(package.get("MatMul"), forward=flat)
    assert "matmul" in simgpu.install("t4", B).ops_with_kernels
    two = package.plain(np.ones((3, 3)), "simgpu")
    assert host(two.matmul(two))[0, 0] == 3.0
    for shape in ((2, 3, 3), (2, 2, 3, 3), (3,)):
        other = package.plain(np.ones(shape), "simgpu")
        with pytest.raises(NotImplementedError, match="2-D only"):
            two.matmul(other)


def test_axes_that_the_learner_refuses_are_refused_on_the_device(change):
    def along(self, x):
        if isinstance(self.axis, tuple):
            raise TypeError("one axis")
        return np.sum(x, axis=self.axis, keepdims=self.keepdims)

    package = Package(B)
    change(package.get("Sum"), forward=along)
    assert "sum" in simgpu.install("t4", B).ops_with_kernels
    x = package.plain(np.ones((2, 3, 4)), "simgpu")
    assert host(x.sum(axis=1)).tolist() == [[3.0] * 4] * 2
    with pytest.raises(TypeError, match="one axis"):
        x.sum(axis=(0, 1))


def test_a_softmax_that_is_right_on_matrices_only(change):
    package = Package(A)
    owner, made = package.get("Softmax"), package.Tensor

    def forward(self, x):
        e = np.exp(x.data - np.max(x.data, axis=1, keepdims=True))
        return made(e / np.sum(e, axis=1, keepdims=True))

    change(owner, forward=forward)
    deep = np.arange(24.0).reshape(2, 3, 4)
    served = equal_on_both(package, lambda x: owner().forward(x), deep)
    assert "tinytorch::softmax" not in served


# Generation A's softmax, as a learner may have written it.


def by_last(self, x):
    e = np.exp(x.data - np.max(x.data, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def by_axis(self, x, axis=-1):
    e = np.exp(x.data - np.max(x.data, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def by_kept(self, x):
    return by_axis(self, x, self.dim)


def keeps_dim(self, dim=-1):
    self.dim = dim


FORMS = {
    "last axis": (by_last, {}, (), {}),
    "axis=": (by_axis, {}, (), {"axis": 0}),
    "constructor": (by_kept, {"__init__": keeps_dim}, (0,), {}),
    "constructor's default": (by_kept, {"__init__": keeps_dim}, (), {}),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_right_softmax_has_its_kernel_however_it_names_its_axis(form, change):
    forward, methods, arguments, options = FORMS[form]
    package = Package(A)
    owner, made = package.get("Softmax"), package.Tensor

    if forward is by_axis:
        change(owner, forward=lambda self, x, axis=-1: made(by_axis(self, x, axis)))
    else:
        change(owner, forward=lambda self, x: made(forward(self, x)), **methods)
    served = equal_on_both(
        package, lambda x: owner(*arguments).forward(x, **options), X
    )
    assert served["tinytorch::softmax"] == "SimGPU"
    assert "Softmax" not in str(simgpu.install("t4", A))


def test_generation_as_layers_that_run_themselves_have_a_row(change):
    package = Package(A)
    layer = package.get("Conv2d")
    plain = layer.forward
    change(layer, forward=lambda self, x: plain(self, x) * 2.0)
    served = equal_on_both(package, conv(layer, 3), IMAGE)
    assert served["tinytorch::conv2d_own_code"] == "Decompose"


@pytest.mark.parametrize("name", ["Conv2d", "Sigmoid"])
def test_a_node_that_a_helper_hangs_on_is_there_on_the_device(name, change):
    package = Package(A)
    owner = package.get(name)
    change(owner, inner=owner.forward, forward=lambda self, x: self.inner(x))
    program = conv(owner, 3) if name == "Conv2d" else owner().forward
    equal_on_both(package, program, IMAGE)
