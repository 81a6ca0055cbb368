"""What steers a kernel: data, or shapes and scalars alone; never too little."""

import importlib.util
import itertools
import textwrap

import numpy as np
import pytest

from tinytorch_gpu.cuda.dummies import array_dummy

HEAD = """\
import math

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32


@cuda.jit(device=True)
def peek(x, i):
    if x[i] > 0:
        return x[0]
    return x[1]


@cuda.jit
def kernel(x, y, out, n):
    i = cuda.grid(1)
"""
numbers = itertools.count()


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dependence")

    def make(body):
        name = f"dependence_{next(numbers)}"
        path = folder / f"{name}.py"
        path.write_text(HEAD + textwrap.indent(textwrap.dedent(body).strip(), "    "))
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        matrix = array_dummy("float32", 2 if "row" in body else 1)
        line = array_dummy("float32", 1)
        return module.kernel.function.kernel_program([line, matrix, line, np.int64(1)])

    return make


FREE = {
    "elementwise": "if i < out.size:\n    out[i] = x[i] + y[i] * n",
    "loop over a shape": "for k in range(x.shape[0]):\n    out[i] += x[k]",
    "ternary of loaded values": "a = x[i]\nout[i] = a if a > 0 else 0",
    "functions of loaded values": "out[i] = max(x[i], math.exp(y[i]))",
    "index arithmetic": "j = i * 2 + 1\nout[j % out.size] = x[j // 3]",
    "barrier": "part = cuda.shared.array(32, float32)\npart[i] = x[i]\n"
    "cuda.syncthreads()\nout[i] = part[31 - i]",
    "loop index": "for k in range(3):\n    out[k] = x[k]",
}
DATA = {
    "branch on a load": "if x[i] > 0:\n    out[i] = 1",
    "branch on a variable": "a = x[i]\nif a > 0:\n    out[i] = 1",
    "index from a load": "j = int(x[i])\nout[j] = 1",
    "index from an annotated variable": "j: int = int(x[i])\nout[j] = 1",
    "index from a tuple": "j, k = int(x[i]), 0\nout[j] = k",
    "index by augmented assignment": "j = 0\nj += int(x[i])\nout[j] = 1",
    "loop bound": "for k in range(int(x[i])):\n    out[i] = 1",
    "loop variable": "for k in range(int(x[i])):\n    j = k\nout[i] = y[j]",
    "while": "while x[i] > 0:\n    x[i] -= 1",
    "and that guards a load": "if i < n and x[i] > 0:\n    out[i] = 1",
    "ternary that guards a load": "a = x[i]\nout[i] = y[i] if a > 0 else 0",
    "and of loaded values": "a = x[i] > 0 and y[i] > 0\nout[i] = a",
    "chain that guards a load": "out[i] = 0 < x[i] < y[i]",
    "shared memory": "part = cuda.shared.array(32, float32)\npart[i] = i\n"
    "out[int(part[i])] = 1",
    "device function that branches": "out[i] = peek(x, i)",
    "device function in a variable": "a = peek(x, i)\nout[i] = a",
    "row of a matrix": "row = y[int(x[i])]\nout[i] = row[0]",
    "carried by a later statement": "j = 0\nfor k in range(3):\n    out[j] = 1\n"
    "    j = int(x[k])",
    "index of an augmented store": "out[int(x[i])] += 1",
    "inside an index": "out[i] = y[int(x[i])]",
    "inside else": "if i < n:\n    pass\nelse:\n    out[int(x[i])] = 1",
    "inside the else of a loop": "for k in range(n):\n    pass\n"
    "else:\n    out[int(x[i])] = 1",
}
SCALARS = {
    "bound": "for k in range(n):\n    out[i] = k",
    "branch": "if i < n:\n    out[i] = 1",
    "index": "out[n] = 1",
    "by way of a variable": "m = n * 2\nfor k in range(m):\n    out[i] = k",
    "annotated": "m: int = n * 2\nfor k in range(m):\n    out[i] = k",
    "while": "k = 0\nwhile k < n:\n    k += 1",
    "augmented": "m = 0\nm += n\nif i < m:\n    out[i] = 1",
}


@pytest.mark.parametrize("body", FREE.values(), ids=FREE)
def test_a_kernel_that_is_free_of_data_may_be_replayed(program, body):
    assert not program(body).is_data_dependent


@pytest.mark.parametrize("body", DATA.values(), ids=DATA)
def test_a_kernel_that_data_steers_is_known(program, body):
    assert program(body).is_data_dependent


@pytest.mark.parametrize("body", SCALARS.values(), ids=SCALARS)
def test_scalars_that_steer_are_known(program, body):
    found = program(body)
    assert not found.is_data_dependent
    assert "n" in found.control_parameters


def test_a_scalar_that_is_only_computed_with_does_not_steer(program):
    assert "n" not in program(FREE["elementwise"]).control_parameters
