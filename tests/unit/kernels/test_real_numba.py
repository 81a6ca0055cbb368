"""The real numba.cuda compiles every shipped kernel; needs numba and NVVM, no GPU.

How many registers NVIDIA's assembler gives to each needs `ptxas` as well, which comes
with `pip install "numba-cuda[cu12]"`.
"""

import importlib
import inspect
import pkgutil
import re
import statistics
import subprocess
import types
import warnings
from pathlib import Path

import pytest

from tinytorch_gpu import kernels
from tinytorch_gpu.cuda.dummies import array_dummy
from tinytorch_gpu.cuda.jit import Kernel

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    numba = pytest.importorskip("numba", reason="numba is not installed")
    pytest.importorskip("numba.cuda", reason="numba.cuda is not installed")
    try:
        numba.cuda.compile_ptx(lambda x: None, (numba.float32[:],), cc=(7, 5))
    except Exception as error:  # noqa: BLE001  (whatever the tool chain lacks)
        reason = f"numba.cuda compiles nothing here: {error!r:.80}"
        pytest.skip(reason, allow_module_level=True)

SCALARS = {"value", "other", "scale", "low", "high", "sign", "eps", "share", "root"}
SCALARS |= {"lr", "decay", "momentum", "beta1", "beta2", "rest1", "rest2", "shrink"}
PAIRS = {"size", "stride", "padding", "dilation"}
INTEGERS = {"diagonal", "offset", "length", "total", "columns"}
INDICES = {"index", "indices", "before", "counts"}
BOOLS = {"condition", "mask", "flags"}
VECTORS = {"targets", "losses", "before", "flags", "counts", "bias", "mean", "var"}
VECTORS |= {"by_weight", "by_bias"}
RANKS = {  # of the arrays of a kernel whose name begins so, if it is not 2
    "conv2d_backward_weight": 4,
    "conv2d": 4,
    "im2col": 4,
    "col2im": 4,
    "max_pool2d_backward": 3,
    "max_pool2d": 4,
    "avg_pool2d": 4,
    "index": 3,
    "gather": 3,
    "scatter": 3,
    "scan": 3,
    "linear": 1,
    "compact": 1,
    "tri": 3,
    "batch_norm": 3,
    "attention": 3,
    "arg": 3,
}
EXCEPTIONS = {
    ("conv2d_backward_weight_kernel", "out"): 3,
    ("im2col_kernel", "out"): 3,
    ("col2im_kernel", "cols"): 3,
    ("arg_columns_kernel", "out"): 2,
    ("arg_rows_kernel", "out"): 2,
    ("embedding_kernel", "indices"): 1,
    ("embedding_backward_kernel", "indices"): 1,
}
# NVIDIA's sine brings angles beyond 10^5 into range with one float64 product.
NVIDIAS_OWN = ("sin_kernel", "cos_kernel")
STORES_INDICES = ("arg_", "linear", "compact")


def shipped():
    """Return every kernel by name, each once."""
    modules = (
        importlib.import_module(f"{kernels.__name__}.{m.name}")
        for m in pkgutil.iter_modules(kernels.__path__)
    )
    members = (item for m in modules for item in vars(m).values())
    found = (k for k in members if isinstance(k, Kernel) and not k.options.is_device)
    return {k.__name__: k for k in found}


KERNELS = shipped()


def with_other_imports(function):
    """Give the kernel's code numba's `cuda` and `float32`: other import lines."""
    swapped = {"cuda": numba.cuda, "float32": numba.float32, "int64": numba.int64}
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, Kernel):
            inner = with_other_imports(value.py_func)
            swapped[name] = numba.cuda.jit(device=True)(inner)
    space = {**function.__globals__, **swapped}
    closure = function.__closure__
    return types.FunctionType(
        function.__code__, space, function.__name__, closure=closure
    )


def argument_type(kernel, name):
    if name in PAIRS:
        return numba.types.UniTuple(numba.int64, 2)
    if name in INTEGERS:
        return numba.int64
    if name in SCALARS:
        return numba.float32
    return numba.types.Array(element_type(kernel, name), rank(kernel, name), "A")


def element_type(kernel, name):
    if name in BOOLS:
        return numba.boolean
    stores = name == "out" and kernel.startswith(STORES_INDICES)
    return numba.int64 if stores or name in INDICES else numba.float32


def rank(kernel, name):
    if (kernel, name) in EXCEPTIONS:
        return EXCEPTIONS[kernel, name]
    is_weight = name == "weight" and "norm" in kernel
    is_index = name == "index" and kernel.startswith("index")
    is_one_number = name == "grad" and kernel.startswith("cross_entropy")
    if name in VECTORS or is_weight or is_index or is_one_number:
        return 1
    deep = 3 if "columns" in kernel or "batched" in kernel else 2
    return next((n for start, n in RANKS.items() if kernel.startswith(start)), deep)


@pytest.fixture(autouse=True)
def _a_gpu_on_paper(monkeypatch):
    """Device functions ask the GPU for its compute capability; here there is none."""
    device = types.SimpleNamespace(compute_capability=(7, 5))
    dispatcher = importlib.import_module("numba.cuda.dispatcher")
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: device)


def compiled(name):
    """Return the PTX of a kernel and the types that it was compiled for."""
    function = KERNELS[name].py_func
    arguments = inspect.signature(function).parameters
    signature = tuple(argument_type(name, a) for a in arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ptx, result = numba.cuda.compile_ptx(
            with_other_imports(function), signature, cc=(7, 5)
        )
    assert result == numba.void
    return ptx, signature


@pytest.mark.parametrize("name", KERNELS)
def test_compiles_without_float64_arithmetic(name):
    ptx, _ = compiled(name)
    lines = [line.split("\t")[-2:] for line in ptx.splitlines() if ".f64" in line]
    wide = [line for line in lines if not line[0].startswith((".reg", "cvt"))]
    assert len(wide) == 1 if name in NVIDIAS_OWN else not wide


def assembler():
    found = Path(numba.__file__).parents[1] / "nvidia" / "cuda_nvcc" / "bin" / "ptxas"
    if not found.exists():
        pytest.skip('no ptxas: pip install "numba-cuda[cu12]"')
    return str(found)


def dummy(numba_type):
    if isinstance(numba_type, numba.types.Array):
        dtype = numba.np.numpy_support.as_dtype(numba_type.dtype)
        return array_dummy(dtype, numba_type.ndim)
    if isinstance(numba_type, numba.types.UniTuple):
        return tuple(map(dummy, numba_type))
    return numba.np.numpy_support.as_dtype(numba_type).type(1)


def test_registers_are_near_those_of_nvidias_assembler(tmp_path):
    """What `cuda/registers.py` tells of its estimate, and `DEFAULT_REGISTERS`."""
    ratios, given = {}, []
    for name in KERNELS:
        ptx, signature = compiled(name)
        text, binary = tmp_path / "kernel.ptx", tmp_path / "kernel.cubin"
        text.write_text(ptx)
        command = [assembler(), "-v", "-arch", "sm_75", "-o", str(binary), str(text)]
        told = subprocess.run(command, capture_output=True, text=True, check=True)
        registers = int(re.search(r"Used (\d+) registers", told.stderr)[1])
        program = KERNELS[name].function.kernel_program(list(map(dummy, signature)))
        ratios[name] = program.registers / registers
        given.append(registers)
    assert min(ratios.values()) >= 0.6, min(ratios, key=ratios.get)
    assert max(ratios.values()) <= 2.3, max(ratios, key=ratios.get)
    assert 1.0 <= statistics.median(ratios.values()) <= 1.25
    assert statistics.quantiles(given, n=4)[2] < 35
