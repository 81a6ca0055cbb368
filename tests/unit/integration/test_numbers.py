"""NumPy's numbers beside Tensors; copies of what somebody holds."""

import operator

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import Package, host
from tinytorch_gpu.memory import DeviceArray

NAMES = ["standin_a.core", "standin_b.core", "tinytorch_gpu.tinytorch"]
VALUES = [
    np.float64(2.0), np.float32(2.0), np.int64(2), np.sqrt(4.0), np.bool_(True), 2, 2.0,
    np.float32([2.0, 3.0]), np.float64(3.0).reshape(1),
]  # fmt: skip
OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.matmul,
]


@pytest.fixture(params=NAMES)
def package(request):
    simgpu.uninstall()
    yield Package(request.param)
    simgpu.uninstall()


def outcomes(package, device):
    """Tell what each operator gives for each number: type, dtype, graph, values."""
    told = []
    for number in VALUES:
        for op in OPERATORS:
            for turn in (False, True):
                x = package.leaf([1.0, 4.0], device)
                pair = (x, number) if turn else (number, x)
                with np.errstate(all="ignore"):
                    told.append(outcome(package, op, pair))
    return told


def outcome(package, op, pair):
    try:
        out = op(*pair)
    except Exception as error:  # noqa: BLE001  (compared)
        return type(error)
    if isinstance(out, np.ndarray) and out.dtype == object:
        return [outcome(package, lambda a: a, (v,)) for v in out.ravel()]
    values = host(out) if isinstance(out, package.Tensor) else np.asarray(out)
    needs = getattr(out, "requires_grad", None)
    return type(out), needs, values.dtype, values.ravel().tolist()


def test_numpys_numbers_give_what_they_gave_before(package):
    before = outcomes(package, "cpu")
    simgpu.install("t4", package.name)
    assert outcomes(package, "cpu") == before
    simgpu.uninstall()
    assert outcomes(package, "cpu") == before


def test_on_the_device_numpys_numbers_are_the_tensors_business(package):
    simgpu.install("t4", package.name)
    for number in VALUES[:5]:
        for op in OPERATORS[:4]:
            for turn in (False, True):
                results = []
                for device in ("cpu", "simgpu"):
                    x = package.leaf([1.0, 4.0], device)
                    pair = (x, number) if turn else (number, x)
                    results.append(outcome(package, op, pair))
                assert results[0] == results[1], (number, op)


def test_a_number_of_numpys_does_not_cut_the_graph(package):
    simgpu.install("t4", package.name)
    for device in ("cpu", "simgpu"):
        x = package.leaf([1.0, 4.0], device)
        total = (x * x).sum()
        half = np.float64(0.5)
        (total * half if package.name == NAMES[0] else half * total).backward()
        assert host(x.grad).tolist() == [1.0, 4.0]


def test_numpy_sees_a_host_tensor_as_it_did(package):
    made = package.Tensor([1.0, 2.0])
    before = np.asarray(made)
    simgpu.install("t4", package.name)
    assert np.asarray(made).dtype == before.dtype
    with pytest.raises(simgpu.errors.HostAccessError, match="cpu"):
        np.asarray(package.plain([1.0, 2.0], "simgpu"))


KEPT = {
    "data": lambda p, w: p.Tensor(w.data),
    "a Tensor": lambda p, w: p.Tensor(w) if p.name != NAMES[0] else p.Tensor(w.data),
    "a part": lambda p, w: p.Tensor(w.data[0]),
    "transposed": lambda p, w: p.Tensor(w.data.T),
    "a gradient": lambda p, w: p.Tensor(w.grad),
}
CHANGES = {
    "in place": lambda w: w.data.__isub__(0.5),
    "all elements": lambda w: w.data.__setitem__(Ellipsis, 7.0),
    "by NumPy": lambda w: np.subtract(w.data, 0.5, out=w.data),
    "the gradient": lambda w: w.grad.__setitem__(Ellipsis, 0.0),
}


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("changed", CHANGES)
def test_a_tensor_of_what_is_held_is_a_copy(kept, changed, package):
    simgpu.install("t4", package.name)
    results = []
    for device in ("cpu", "simgpu"):
        w = package.leaf([[1.0, 2.0], [3.0, 4.0]], device)
        (w * w).sum().backward()
        copy = KEPT[kept](package, w)
        CHANGES[changed](w)
        results.append((host(copy).tolist(), host(w).tolist()))
    assert results[0] == results[1]


def test_an_average_of_weights_and_the_best_are_right(package):
    simgpu.install("t4", package.name)
    results = []
    for device in ("cpu", "simgpu"):
        w = package.leaf([1.0, 2.0], device)
        best, mean = package.Tensor(w.data), package.Tensor(w.data)
        for _ in range(3):
            w.data -= 0.25
            mean.data = 0.5 * mean.data + 0.5 * w.data
        w.data[...] = best.data
        results.append([host(t).tolist() for t in (w, best, mean)])
    assert results[0] == results[1]


def test_the_copy_is_a_launch_and_results_are_not_copied(package):
    simgpu.install("t4", package.name)
    w = package.plain([1.0, 2.0], "simgpu")
    with simgpu.profiler.profile() as prof:
        package.Tensor(w.data)
    assert [r.op for r in prof.events() if hasattr(r, "implementation")] == [
        "tinytorch::copy"
    ]
    with simgpu.profiler.profile() as prof:
        w * w
    ops = [r.op for r in prof.events() if hasattr(r, "implementation")]
    assert "tinytorch::copy" not in ops
    assert isinstance(w[0].data, DeviceArray)


def test_a_copy_to_the_device_passes_on_each_gradient(package):
    simgpu.install("t4", package.name)
    for device in ("cpu", "simgpu"):
        x = package.leaf([3.0])
        y = x.to(device)
        (y * y + y).sum().backward()
        assert host(x.grad).tolist() == [7.0]
