"""Registering in torch.library's words: stacks, re-runs, fallthrough, fallbacks, fakes."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, library, profiler
from tinytorch_gpu.errors import (
    DtypeError,
    DuplicateKernelError,
    KernelTypeError,
    MissingKernelError,
    OpNotFoundError,
    ShapeError,
    UnsupportedError,
)
from tinytorch_gpu.library.keys import DispatchKey
from tinytorch_gpu.library.registry import find

OPS = iter(f"test_registration::op{n}" for n in range(100))


@pytest.fixture
def op():
    name = next(OPS)
    library.define(name, "(x)")
    return name


@pytest.fixture
def x():
    return cuda.to_device(np.float32([1, 2, 3]))


def first(x):
    return x


def second(x):
    return x + x


def path_of(op, *args, **parameters):
    return library.explain(op, *args, **parameters).ops[0].path


def test_register_kernel_is_a_call_and_a_decorator(op, x):
    assert library.register_kernel(op, "simgpu", first) is first
    assert library.call(op, x) is x

    other = next(OPS)
    library.define(other, "(x)")

    @library.register_kernel(other, ("simgpu", "cpu"))
    def both(x):
        return x

    assert library.call(other, x) is x
    host = np.ones(3)
    assert library.call(other, host) is host


def test_the_last_override_wins_and_each_is_undone(op):
    library.impl(op, "simgpu")(first)
    with library.override(op, "simgpu", second):
        with library.override(op, "simgpu", first):
            assert find(op, DispatchKey.SIMGPU).function is first
        assert find(op, DispatchKey.SIMGPU).function is second
    assert find(op, DispatchKey.SIMGPU).function is first


def test_overrides_may_end_in_any_order(op):
    outer = library.override(op, "simgpu", first)
    inner = library.override(op, "simgpu", second)
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    assert find(op, DispatchKey.SIMGPU).function is second
    inner.__exit__(None, None, None)
    assert find(op, DispatchKey.SIMGPU) is None


def cell(code, namespace, name):
    """Run code as a notebook does: in one namespace, each cell a file of its own."""
    exec(compile(code, name, "exec"), namespace)


def test_a_cell_that_was_changed_and_run_again_replaces(op, x):
    namespace = {"library": library}
    code = f"@library.impl({op!r})\ndef mine(x):\n    return x"
    cell(code, namespace, "<cell 1>")
    cell(code, namespace, "<cell 1>")
    cell("\n" + code.replace("return x", "return x + x"), namespace, "<cell 2>")
    assert library.call(op, x).copy_to_host().tolist() == [2, 4, 6]


def test_two_different_functions_tell_both_sites(op):
    library.impl(op)(first)
    with pytest.raises(DuplicateKernelError) as caught:
        library.impl(op)(second)
    sites = caught.value.sites
    lines = [f.__code__.co_firstlineno for f in (first, second)]
    assert sites == tuple(f"{__file__}:{line}" for line in lines)
    assert all(site in str(caught.value) for site in sites)
    assert find(op, DispatchKey.SIMGPU).function is first


def test_a_shipped_kernel_is_covered_without_a_word():
    before = find("tinytorch::exp", DispatchKey.SIMGPU)
    assert before.is_shipped
    library.impl("exp")(first)
    made = find("tinytorch::exp", DispatchKey.SIMGPU)
    assert made.function is first
    library.registry.take_away("tinytorch::exp", DispatchKey.SIMGPU, made)
    assert find("tinytorch::exp", DispatchKey.SIMGPU) is before


def test_keys_are_asked_in_order(op, x):
    library.impl(op, "CompositeImplicitAutograd", second)
    assert path_of(op, x) == (
        ("Profiler", ""),
        ("SimGPU", "empty"),
        ("Decompose", str(find(op, DispatchKey.DECOMPOSE).source)),
    )
    library.impl(op, "simgpu", first)
    assert [key for key, _ in path_of(op, x)] == ["Profiler", "SimGPU"]


def test_a_fallthrough_passes_on(op, x):
    library.impl(op, "simgpu", first)
    with library.override(op, "simgpu", library.fallthrough_kernel):
        path = path_of(op, x, decomposition=lambda: x)
        assert not library.has_kernel(op)
    assert path[1:] == (("SimGPU", "fallthrough"), ("Decompose", "own code"))
    assert library.has_kernel(op)
    with pytest.raises(UnsupportedError):
        library.fallthrough_kernel(x)


def test_a_fallthrough_at_profiler_leaves_the_op_unlabelled(op, x):
    library.impl(op, "CompositeImplicitAutograd", second)
    with library.override(op, "Profiler", library.fallthrough_kernel):
        seen = library.explain(op, x)
    assert [entry.name for entry in seen.ops] == ["tinytorch::add"]


def test_a_function_at_autograd_stands_before_and_passes_on(op, x):
    library.impl(op, "simgpu", first)
    asked = []

    def before(x):
        asked.append(x.shape)
        return library.call(op, x)

    with library.override(op, "Autograd", before):
        seen = library.explain(op, x)
    assert asked == [(3,)]
    outer, inner = seen.ops
    assert [key for key, _ in outer.path] == ["Autograd"]
    assert "before" in outer.path[0][1]
    assert [key for key, _ in inner.path] == ["Profiler", "SimGPU"]
    assert inner.depth == outer.depth + 1


def test_what_stands_before_passes_the_callers_code_on(op, x):
    def before(x):
        return library.call(op, x)

    with library.override(op, "Autograd", before):
        assert library.call(op, x, decomposition=lambda: x) is x


def test_the_cpus_function_serves_where_it_is_allowed(op, x):
    library.impl(op, "cpu", lambda x: x * 2)
    with pytest.raises(MissingKernelError, match=r"CPU \(not allowed\)"):
        library.call(op, x)
    library.allow_cpu_fallback(op)
    seen = library.explain(op, x)
    assert [copy.reason for copy in seen.copies] == [f"CPU fallback of {op}"] * 2
    assert seen.ops[0].key == "CPU"
    assert library.call(op, x).copy_to_host().tolist() == [2, 4, 6]


def test_a_fallback_serves_every_op_without_a_kernel(op, x):
    served = []

    def anything(name, *operands, **_):
        served.append(name)
        return operands[0]

    with library.Library("_", "IMPL") as fallbacks:
        fallbacks.fallback(anything, "SimGPU")
        assert library.call(op, x) is x
        assert path_of(op, x)[-1][1].startswith("fallback anything")
        assert library.call("neg", x).copy_to_host().tolist() == [-1, -2, -3]
    assert served == [op, op]
    with pytest.raises(MissingKernelError):
        library.call(op, x)


def test_a_library_defines_and_registers():
    lib = library.Library("test_lib", "DEF", "simgpu")
    assert lib.define("same(Tensor x) -> Tensor") == "test_lib::same"
    lib.impl("same", first)
    assert library.schema_of("test_lib::same") == "(x)"
    assert library.registered()["test_lib::same"].name == "first"
    with library.Library("tinytorch", "IMPL", "simgpu") as own:
        own.impl("exp", first)
        assert find("tinytorch::exp", DispatchKey.SIMGPU).function is first
    assert find("tinytorch::exp", DispatchKey.SIMGPU).is_shipped
    with pytest.raises(UnsupportedError, match="namespace"):
        lib.fallback(first)
    with pytest.raises(UnsupportedError, match="IMPL"):
        library.Library("test_lib", "IMPL").define("other(x)")
    with pytest.raises(UnsupportedError, match="kind"):
        library.Library("test_lib", "NEW")


def test_schemas_may_be_pytorchs():
    schema = "(Tensor x, int[] dims=[0, 1], *, float p=0.5, Tensor? out=None) -> Tensor"
    library.define("test_lib::typed", schema)
    plain = "(x, dims=[0, 1], *, p=0.5, out=None)"
    assert library.schema_of("test_lib::typed") == plain


def test_a_fake_tells_what_results_look_like(op, x):
    @library.register_fake(op)
    def rows(x):
        return x.new_empty((x.size, 1), dtype=np.float64)

    library.impl(op, "simgpu", first)
    with pytest.raises(ShapeError, match=r"\(3, 1\)"):
        library.call(op, x)
    wide = lambda x: cuda.device_array((3, 1), np.float32)  # noqa: E731
    with library.override(op, "simgpu", wide), pytest.raises(DtypeError, match="64"):
        library.call(op, x)
    none = library.override(op, "simgpu", lambda x: None)
    with none, pytest.raises(KernelTypeError, match="nothing"):
        library.call(op, x)
    with pytest.raises(OpNotFoundError):
        library.register_fake("test_registration::none", rows)


def test_rules_of_shipped_ops_hold_for_the_learners_kernels(x):
    wide = lambda x, out=None: cuda.device_array(x.shape, np.float64)  # noqa: E731
    override = library.override("exp", "simgpu", wide)
    with override, pytest.raises(DtypeError, match="float32"):
        library.call("exp", x)


def test_a_profile_shows_a_way_that_somebody_changed(op, x):
    library.impl(op, "simgpu", first)
    override = library.override(op, "simgpu", library.fallthrough_kernel)
    with override, profiler.profile() as prof:
        library.call(op, x, decomposition=lambda: x + x)
    assert "keys: Profiler → SimGPU: fallthrough → Decompose" in str(prof)
