"""Whatever a fused function reads, draws or changes, it does so in each call."""

from __future__ import annotations

import argparse
import collections
import functools
import itertools
import math
import os
import random
from types import SimpleNamespace

import numpy as np
import pytest

from tinytorch_gpu import cuda, fuse


class Box:
    """State in the ways in which objects have it."""

    __slots__ = ("_k", "d", "k", "layers")

    def __init__(self, k):
        self.k = self._k = k
        self.d, self.layers = {"k": k}, [SimpleNamespace(k=k)]

    @property
    def hidden(self):
        return self._k

    def forward(self, x):
        return x * self.k + 1.0

    def __call__(self, x):
        return self.forward(x)

    def set(self, k):
        self.k = self._k = self.d["k"] = self.layers[0].k = k


class Plain:
    def __init__(self, k):
        self.k = k

    def set(self, k):
        self.k = k

    @fuse
    def decorated(self, x):
        return x * self.k + 1.0

    def forward(self, x):
        return x * self.k + 1.0


def env(_, x):
    return x * float(os.environ["FUSE_TEST"]) + 1.0


# What is read, and how: each is 2 at first, then 3.
READERS = {
    "attribute": lambda box, x: x * box.k + 1.0,
    "method": lambda box, x: box.forward(x),
    "call": lambda box, x: box(x),
    "property": lambda box, x: x * box.hidden + 1.0,
    "dict": lambda box, x: x * box.d["k"] + 1.0,
    "getattr": lambda box, x: x * getattr(box, "k") + 1.0,  # noqa: B009
    "layers": lambda box, x: x * box.layers[0].k + 1.0,
    "partial": lambda box, x: functools.partial(lambda x, k: x * k + 1.0, k=box.k)(x),
}


@pytest.mark.parametrize("name", READERS)
def test_what_an_object_holds_is_read_in_each_call(name):
    x, box = cuda.to_device(np.ones(8, np.float32)), Box(2.0)
    fused, captured = fuse(READERS[name]), fuse(lambda x: READERS[name](box, x))
    for k in (2.0, 2.0, 3.0, 4.0, 2.0):
        box.set(k)
        assert fused(box, x).copy_to_host()[0] == k + 1
        assert captured(x).copy_to_host()[0] == k + 1
        assert fused.reason == captured.reason == ""


@pytest.mark.parametrize(
    "make",
    [
        lambda box: (fuse(box.forward), ()),
        lambda box: (fuse(Plain.forward), (box,)),
        lambda box: (box.decorated, ()),
    ],
)
def test_methods_are_functions(make):
    x, box = cuda.to_device(np.ones(8, np.float32)), Plain(2.0)
    fused, given = make(box)
    for k in (2.0, 3.0, 2.0):
        box.set(k)
        assert fused(*given, x).copy_to_host()[0] == k + 1


@pytest.mark.parametrize(
    "kind",
    [
        lambda k: argparse.Namespace(k=k),
        lambda k: collections.OrderedDict(k=k),
        lambda k: collections.defaultdict(float, k=k),
        lambda k: collections.deque([k]),
        lambda k: np.full(5000, k),
        lambda k: itertools.count(k),
        lambda k: (k for _ in range(3)),
    ],
)
def test_what_is_passed_may_be_anything(kind):
    def number(held):
        if hasattr(held, "k"):
            return held.k
        if isinstance(held, dict):
            return held["k"]
        return next(held) if hasattr(held, "__next__") else float(held[0])

    x = cuda.to_device(np.ones(8, np.float32))
    fused = fuse(lambda held, x: x * number(held) + 1.0)
    for k in (2.0, 3.0, 2.0):
        assert fused(kind(k), x).copy_to_host()[0] == k + 1


def test_the_environment_is_read_in_each_call(monkeypatch):
    x, fused = cuda.to_device(np.ones(8, np.float32)), fuse(env)
    for k in (2.0, 3.0):
        monkeypatch.setenv("FUSE_TEST", str(k))
        assert fused(None, x).copy_to_host()[0] == k + 1


@pytest.mark.parametrize(
    "draw", [random.random, lambda: np.random.default_rng().random()]
)
def test_every_call_draws_anew(draw):
    x, fused = cuda.to_device(np.ones(8, np.float32)), fuse(lambda x: x * draw() + 1.0)
    assert len({float(fused(x).copy_to_host()[0]) for _ in range(5)}) == 5


def test_with_one_seed_the_draws_are_those_of_the_ops():
    def noisy(x, rng):
        return x * rng.random() + 1.0

    x = cuda.to_device(np.ones(8, np.float32))
    fused, one, two = fuse(noisy), np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(4):
        got, wanted = fused(x, one).copy_to_host(), noisy(x, two).copy_to_host()
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.filterwarnings("ignore::tinytorch_gpu.errors.KernelWarning")
@pytest.mark.parametrize("tail", [lambda y: y, lambda y: y * float(y[0])])
def test_what_the_function_does_besides_is_done_once(tail):
    log, x = [], cuda.to_device(np.ones(8, np.float32))

    def counted(x):
        log.append(len(log))
        return tail(x * 2.0 + len(log))

    fused = fuse(counted)
    for turn in (1, 2, 3):
        fused(x)
        assert len(log) == turn


@pytest.mark.filterwarnings("ignore::tinytorch_gpu.errors.KernelWarning")
@pytest.mark.parametrize("tail", [lambda b: b, lambda b: float(b[0]) and b])
def test_captured_arrays_change_once_in_each_call(tail):
    base, x = (cuda.to_device(np.ones(8, np.float32)) for _ in range(2))

    def added(x):
        return tail(np.add(x * 2.0, base, out=base))

    fused = fuse(added)
    for turn in (1, 2, 3):
        assert fused(x) is base
        assert base.copy_to_host()[0] == 1 + 2 * turn


def test_arrays_of_one_buffer_are_told_apart():
    big = cuda.to_device(np.arange(12, dtype=np.float32).reshape(3, 4))
    fused = fuse(lambda row: row * 2.0 + big[1])
    for i in (0, 2, 1, 0):
        wanted = 2 * np.arange(4 * i, 4 * i + 4) + np.arange(4, 8)
        np.testing.assert_array_equal(fused(big[i]).copy_to_host(), wanted)
        assert fused.reason == ""


@pytest.mark.parametrize(
    "look",
    [
        lambda a: math.copysign(1.0, a),
        lambda a: float(a.is_integer()) + 1.0,
        lambda a: math.fmod(a, 1.0) + 1.0,
        lambda a: float("%.0f" % a) + 1.0,  # noqa: UP031
    ],
)
def test_numbers_may_be_looked_at_in_any_way(look):
    x, fused = (
        cuda.to_device(np.ones(8, np.float32)),
        fuse(lambda x, a: x * look(a) + a),
    )
    for a in (1.0, -2.0, 2.5, 3.25, -0.5):
        wanted = np.float32(look(a)) + np.float32(a)
        np.testing.assert_allclose(fused(x, a).copy_to_host()[0], wanted, rtol=1e-6)


def test_an_error_leaves_what_came_before_it():
    def failing(x):
        x += 1.0
        raise KeyError("mine")

    x = cuda.to_device(np.ones(8, np.float32))
    for turn in (1, 2):
        with pytest.raises(KeyError, match="mine"):
            fuse(failing)(x)
        assert x.copy_to_host()[0] == 1 + turn


def test_a_fused_function_may_be_a_part_of_another():
    inner = fuse(lambda x: x * 2.0 + 1.0)
    outer = fuse(lambda x: inner(x) * 3.0)
    x = cuda.to_device(np.ones(8, np.float32))
    for _ in range(2):
        assert outer(x).copy_to_host()[0] == 9
    assert outer.reason == ""


NAMES = ["n", "k", "i", "row", "col", "tid", "cache", "out", "math", "cuda", "float32"]
NAMES += ["x_i", "mul_1", "block_sum", "larger", "abs", "range", "number1", "rate"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tail", ["", " / np.sum(x + 2.0, axis=-1, keepdims=True)"])
def test_a_number_may_have_any_name(name, tail):
    text = f"lambda x, {name}: (x * {name} + 1.0){tail}"
    function = eval(text, {"np": np})
    fused = fuse(function)
    for values in (np.zeros((4, 70)), np.arange(280.0).reshape(4, 70)):
        x = cuda.to_device(values.astype(np.float32))
        for number in (2.0, 3.0):
            got, wanted = fused(x, number), function(x, number)
            np.testing.assert_allclose(
                got.copy_to_host(), wanted.copy_to_host(), rtol=1e-6
            )
            assert fused.reason == ""


@pytest.mark.parametrize("name", NAMES)
def test_an_array_may_have_any_name(name):
    function = eval(f"lambda {name}, b: {name} * b + {name}")
    fused = fuse(function)
    x = cuda.to_device(np.arange(70, dtype=np.float32))
    for number in (2.0, 3.0):
        wanted = function(x, number).copy_to_host()
        np.testing.assert_allclose(fused(x, number).copy_to_host(), wanted, rtol=1e-6)
        assert fused.reason == ""


def test_leaves_with_one_name_are_told_apart():
    def function(x, x_0):
        return x[1] * x[0] + x_0

    fused, a = fuse(function), cuda.to_device(np.ones(8, np.float32))
    for number in (2.0, 3.0):
        assert fused([number, a], a).copy_to_host()[0] == number + 1
        assert fused([number, a], 5.0).copy_to_host()[0] == number + 5


def test_filled_arrays_are_no_results():
    def function(x):
        return np.ones_like(x) * 2.0 + x

    fused = fuse(function)
    for values in (np.zeros(50), np.arange(50.0)):
        x = cuda.to_device(values.astype(np.float32))
        wanted = function(x).copy_to_host()
        np.testing.assert_array_equal(fused(x).copy_to_host(), wanted)
        assert fused.reason == ""
