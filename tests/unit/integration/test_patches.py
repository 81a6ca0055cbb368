"""Patches set attributes and put the originals back."""

import functools

import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import Package, host
from tinytorch_gpu.integration.patches import Patches, wrapped


class Theirs:
    kept = 1


def test_undo_restores_and_removes():
    patches = Patches()
    patches.set(Theirs, "kept", 2)
    patches.set(Theirs, "kept", 3)
    patches.set(Theirs, "added", 4)
    assert (Theirs.kept, Theirs.added) == (3, 4)
    patches.undo()
    assert Theirs.kept == 1
    assert not hasattr(Theirs, "added")


def test_an_inherited_attribute_is_not_copied_down():
    class Child(Theirs):
        pass

    patches = Patches()
    patches.set(Child, "kept", 2)
    patches.undo()
    assert "kept" not in vars(Child)


class Callable:
    def __call__(self, *operands):
        return operands[-1] * 2.0


class Forms:
    def plain(self, x):
        return x * 2.0

    @staticmethod
    def static(x):
        return x * 2.0

    @classmethod
    def of_class(cls, x):
        assert isinstance(cls, type)
        return x * 2.0

    instance = Callable()
    partial = functools.partialmethod(plain)


@pytest.mark.parametrize("name", ["plain", "static", "of_class", "instance", "partial"])
def test_a_wrapped_method_is_called_as_before(name):
    class Owner(Forms):
        pass

    attribute = vars(Forms)[name]
    made = wrapped(attribute, lambda function: functools.wraps(function)(function))
    if made is not None:
        assert type(made) is type(attribute)
        setattr(Owner, name, made)
    assert getattr(Owner(), name)(3.0) == 6.0


@pytest.mark.parametrize("name", ["static", "of_class", "instance", "partial"])
@pytest.mark.parametrize("package_name", ["standin_a.core", "standin_b.core"])
def test_a_forward_that_is_no_plain_method_runs_while_installed(package_name, name):
    simgpu.uninstall()
    package = Package(package_name)
    owner = package.get("ReLU")
    own, attribute = "forward" in vars(owner), vars(Forms)[name]
    before = vars(owner).get("forward")
    owner.forward = attribute
    try:
        x = package.Tensor([[-1.0, 2.0]])
        expected = owner().forward(x).data.tolist()
        with simgpu.installed("t4", package_name):
            assert owner().forward(package.plain([[-1.0, 2.0]])).data.tolist() == (
                expected
            )
            there = owner().forward(package.plain([[-1.0, 2.0]], "simgpu"))
            assert host(there).tolist() == expected
        assert vars(owner)["forward"] is attribute
        assert owner().forward(x).data.tolist() == expected
    finally:
        if own:
            owner.forward = before
        else:
            del owner.forward


@pytest.mark.parametrize("form", [staticmethod, classmethod])
def test_a_function_with_a_static_forward_runs_while_installed(form):
    simgpu.uninstall()
    package = Package("standin_b.core")
    owner = package.get("ReLUFunction")
    before = vars(owner)["forward"]
    owner.forward = form(lambda *operands: operands[-1] * 2.0)
    attribute = vars(owner)["forward"]
    try:
        with simgpu.installed("t4", "standin_b.core"):
            for device in ("cpu", "simgpu"):
                out = owner.apply(package.plain([[-1.0, 2.0]], device))
                assert host(out).tolist() == [[-2.0, 4.0]]
        assert vars(owner)["forward"] is attribute
    finally:
        owner.forward = before
