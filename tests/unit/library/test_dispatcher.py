"""Every op goes through `call`: kernel, decomposition, CPU, or an error."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, library, profiler
from tinytorch_gpu.errors import DeviceMismatchError, MissingKernelError
from tinytorch_gpu.trace import OpRecord


def device(*shape):
    return cuda.to_device(np.ones(shape, np.float32))


def op_records(prof):
    return [r for r in prof.events() if isinstance(r, OpRecord)]


def test_a_registered_kernel_serves_and_is_named():
    with profiler.profile(record_shapes=True) as prof:
        library.call("add", device(3), device(3))
    (record,) = op_records(prof)
    assert (record.op, record.key, record.shapes) == (
        "tinytorch::add",
        "SimGPU",
        ((3,), (3,)),
    )
    assert "kernels" in record.implementation.file


def test_an_op_without_kernel_decomposes_and_says_so():
    x = device(4)
    with profiler.profile() as prof:
        result = library.call("test::twice", x, decomposition=lambda: x + x)
    assert result.copy_to_host().tolist() == [2.0] * 4
    inner, outer = op_records(prof)
    assert (outer.op, outer.key) == ("test::twice", "Decompose")
    assert (inner.op, inner.parent) == ("tinytorch::add", "test::twice")


def test_a_registered_kernel_beats_the_decomposition():
    library.define("test::kernel_wins", "(x)")
    library.impl("test::kernel_wins", "simgpu")(lambda x: "kernel")
    assert library.call("test::kernel_wins", device(1), decomposition=dict) == "kernel"


def test_nothing_serves():
    with pytest.raises(MissingKernelError, match="float32") as caught:
        library.call("test::nothing", device(2, 2))
    assert caught.value.op == "test::nothing"


def test_what_the_missing_kernels_fix_says_works():
    with pytest.raises(MissingKernelError) as caught:
        library.call("test::missing", device(2), device(2))
    lines = caught.value.fix.splitlines()
    assert max(map(len, lines)) <= 90
    (define,) = (line for line in lines if line.startswith("library.define"))
    exec(define)
    library.impl("test::missing", "simgpu")(lambda x, y: x)
    assert library.call("test::missing", device(2), device(2)).shape == (2,)
    assert "allow_cpu_fallback('test::missing')" in caught.value.fix


def test_the_cpu_fallback_gives_nan_without_a_warning_as_a_kernel_does():
    for name, function in {"arccosh": np.arccosh, "nanmean": np.nanmean}.items():
        library.allow_cpu_fallback(name)
        try:
            seen = function(device(2) * 0), function(cuda.device_array(0, np.float32))
        finally:
            library.allow_cpu_fallback(name, allowed=False)
        assert np.isnan(seen[0].copy_to_host()).all() == (name == "arccosh")
        assert np.isnan(seen[1].copy_to_host()).all()


def test_a_cpu_function_of_the_learner_may_warn():
    library.define("test::warns", "(x)")
    library.impl("test::warns", "cpu")(lambda x: np.log(x))
    library.allow_cpu_fallback("test::warns")
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        library.call("test::warns", device(2) * 0)


def test_cpu_fallback_only_where_allowed_and_copies_are_recorded():
    x = device(4)
    with pytest.raises(MissingKernelError):
        np.arctan(x)
    library.allow_cpu_fallback("arctan")
    try:
        with profiler.profile() as prof:
            result = np.arctan(x)
    finally:
        library.allow_cpu_fallback("arctan", allowed=False)
    np.testing.assert_allclose(result.copy_to_host(), np.arctan(np.ones(4)), rtol=1e-6)
    row = prof.key_averages()[0]
    assert (row.d2h_bytes, row.h2d_bytes, row.launches) == (16, 16, 0)
    with pytest.raises(MissingKernelError):
        np.arctan(x)


@pytest.mark.parametrize("swap", [False, True])
def test_host_and_device_operands_do_not_mix(swap):
    pair = [device(3), np.ones(3, np.float32)]
    with pytest.raises(DeviceMismatchError, match=r"\(3,\)") as caught:
        library.call("add", *(reversed(pair) if swap else pair))
    assert caught.value.op == "tinytorch::add"


def test_scalars_and_0d_host_arrays_are_operands():
    assert library.call("add", device(1), np.array(2.0)).copy_to_host() == [3.0]


def test_a_failing_op_leaves_no_label_behind():
    with pytest.raises(ZeroDivisionError):
        library.call("test::fails", device(1), decomposition=lambda: 1 // 0)
    with profiler.profile() as prof:
        library.call("neg", device(1))
    assert op_records(prof)[0].parent == ""


def test_a_record_tells_where_operands_and_result_lie():
    x = cuda.to_device(np.ones((2, 3), np.float32))
    with profiler.profile() as prof:
        out = library.call("tinytorch::add", x.T, 2.0)
    (record,) = op_records(prof)
    use, two = record.operands
    assert (use.address, use.shape, use.strides) == (x.address, (3, 2), (4, 12))
    assert two == 2.0
    assert [r.address for r in record.results] == [out.address]
    assert record.parameters == ()
