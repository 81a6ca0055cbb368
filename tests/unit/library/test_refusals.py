"""Registering what makes no sense: each way refuses each of it, before any effect."""

import itertools

import pytest

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import (
    DuplicateKernelError,
    OpNotFoundError,
    SchemaError,
    SimGPUError,
    UnknownDeviceError,
    UnsupportedError,
)
from tinytorch_gpu.library import fakes, registry
from tinytorch_gpu.library.keys import DispatchKey, device_keys

OP = "test_refusals::op"
library.define(OP, "(x, y, dim=-1)")


def right(x, y):
    return x


def by_library(op, key, function):
    library.Library("test_refusals", "IMPL", key).impl(op, function)


def by_override(op, key, function):
    with library.override(op, key, function):
        pytest.fail("the block has begun")


WAYS = {
    "impl": library.impl,
    "impl as a decorator": lambda op, key, f: library.impl(op, key)(f),
    "register_kernel": library.register_kernel,
    "register_kernel as a decorator": lambda o, k, f: library.register_kernel(o, k)(f),
    "override": by_override,
    "Library.impl": by_library,
}
FAKES = {
    "register_fake": lambda op, _, f: library.register_fake(op, f),
    "register_fake as a decorator": lambda op, _, f: library.register_fake(op)(f),
}


@cuda.jit
def a_kernel(x, y):
    pass


class WithoutCall:
    pass


OTHER_PARAMETERS = [
    *(lambda: 3, lambda x: x, lambda x, y, z: x, lambda x, *, y: x),
    lambda x, y, *, by: x,
]
NO_FUNCTIONS = [4, "f", None, WithoutCall(), [right]]
NO_KEYS = ["cuda", "gpu", "", 3, right, ["simgpu"], "autograd"]
NO_OPS = ["test_refusals::o", "o", "", "::", 5, ("a",), f"{OP} "]


def table():
    """Return all that is registered."""
    stacks = {place: list(stack) for place, stack in registry._table.items() if stack}
    return stacks, dict(fakes._fakes)


@pytest.fixture(autouse=True)
def _nothing_changes():
    before = table()
    yield
    assert table() == before


def refused(kind, way, *given):
    with pytest.raises(kind) as caught:
        way(*given)
    error = caught.value
    assert all((error.what, error.where, error.why, error.fix)), str(error)
    assert max(map(len, str(error).splitlines())) <= 100
    return error


def each(ways, things):
    """Pair all, but for what asks for the decorator, or for the library's own key."""
    asks = [("impl", None), ("register_kernel", None), ("register_fake", None)]
    asks += [("Library.impl", "")]
    return [pair for pair in itertools.product(ways, things) if pair not in asks]


@pytest.mark.parametrize(("way", "op"), each({**WAYS, **FAKES}, NO_OPS))
def test_unknown_ops(way, op):
    refused(OpNotFoundError, {**WAYS, **FAKES}[way], op, "simgpu", right)


@pytest.mark.parametrize(("way", "key"), each(WAYS, NO_KEYS))
def test_unknown_keys(way, key):
    is_list = isinstance(key, list) and way not in ("override", "Library.impl")
    given = ["simgpu", "cuda"] if is_list else key
    error = refused(UnknownDeviceError, WAYS[way], OP, given, right)
    assert isinstance(error, ValueError)
    if isinstance(key, str):
        assert repr(key) in error.what


def test_no_keys_at_all():
    refused(UnknownDeviceError, library.impl, OP, (), right)


@pytest.mark.parametrize(
    ("way", "function"), each(WAYS, [*NO_FUNCTIONS, a_kernel, len])
)
def test_what_is_no_function(way, function):
    refused(UnsupportedError, WAYS[way], OP, "simgpu", function)


@pytest.mark.parametrize(("way", "function"), each(FAKES, NO_FUNCTIONS))
def test_what_is_no_fake(way, function):
    refused(UnsupportedError, FAKES[way], OP, None, function)
    refused(UnsupportedError, FAKES[way], OP, None, library.fallthrough_kernel)


@pytest.mark.parametrize("key", ["simgpu", "cpu", "Autograd", "Profiler", None])
@pytest.mark.parametrize(("way", "function"), each({**WAYS, **FAKES}, OTHER_PARAMETERS))
def test_other_parameters_than_the_schemas(way, function, key):
    if way == "Library.impl":
        key = key or "default"
    error = refused(SchemaError, {**WAYS, **FAKES}[way], OP, key, function)
    assert "test_refusals.py" in error.where
    assert "gives 2 at least, x, y" in error.why
    assert error.fix == "def op(x, y, dim=-1): ..."


@pytest.mark.parametrize("way", WAYS)
def test_every_other_way_to_take_them_is_taken(way):
    for function in (
        right,
        lambda x, y, dim=-1: x,
        lambda a, b, block=256: a,
        lambda *arrays, **_: arrays[0],
        library.fallthrough_kernel,
    ):
        if way == "override":
            with library.override(OP, "simgpu", function):
                pass
            continue
        WAYS[way](OP, "simgpu", function)
        made = registry.find(OP, DispatchKey.SIMGPU)
        assert made.function is function
        registry.take_away(OP, DispatchKey.SIMGPU, made)


def test_two_keys_and_a_second_function_at_one_of_them():
    def other(x, y):
        return y

    library.impl(OP, "cpu", other)
    before = table()
    refused(DuplicateKernelError, library.impl, OP, ("simgpu", "cpu"), right)
    assert table() == before
    made = registry.find(OP, DispatchKey.CPU)
    registry.take_away(OP, DispatchKey.CPU, made)


def test_keys_are_themselves_too_and_each_counts_once():
    names = ("simgpu", DispatchKey.SIMGPU, "SimGPU", None, "default")
    assert device_keys(names) == [DispatchKey.SIMGPU, DispatchKey.DECOMPOSE]


@pytest.mark.parametrize(
    "name", ["plain", "", "::", "a::", "::b", "a::b::c", "a b::c", 5]
)
def test_names_that_define_takes_not(name):
    refused(OpNotFoundError, library.define, name, "(x)")


def test_an_op_is_defined_twice():
    refused(DuplicateKernelError, library.define, OP, "(x)")
    refused(DuplicateKernelError, library.define, "tinytorch::add", "(x)")


@pytest.mark.parametrize("schema", ["half", "half(x", "(x)", "half(x))", "a b(x)"])
def test_a_library_reads_schemas_as_define_does(schema):
    lib = library.Library("test_refusals", "DEF")
    refused((SchemaError, OpNotFoundError), lib.define, schema)


def test_a_library_for_no_key_and_in_no_namespace():
    refused(UnknownDeviceError, library.Library, "mine", "IMPL", "cuda")
    refused(OpNotFoundError, library.Library("a b", "DEF").define, "half(x)")


@pytest.mark.parametrize(
    ("function", "kind"),
    [(4, UnsupportedError), (lambda: 3, SchemaError), (lambda op: op, SchemaError)],
)
def test_fallbacks_take_the_ops_name_and_its_operands(function, kind):
    fallback = library.Library("_", "IMPL").fallback
    refused(kind, fallback, function, "SimGPU")
    refused(UnknownDeviceError, fallback, right, "cuda")


def test_every_refusal_is_one_of_ours():
    with pytest.raises(SimGPUError):
        library.impl(OP, "cuda")
