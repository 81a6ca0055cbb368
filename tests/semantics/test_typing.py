"""Types inside a kernel are numba.cuda's, row by row, seen through what is stored.

Each row has values for which the neighbouring type would give another result. The
rows are those of the reference page on kernel languages; all were measured with
numba-cuda 0.30.4.
"""

import importlib.util
import itertools

import numpy as np
import pytest

KERNEL = """\
import math

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int32


@cuda.jit
def kernel(x, y, out):
    a = x[0]
    b = y[0]
    out[0] = {expression}
"""
ROWS = {
    # Integers widen to 64 bits.
    "int32 + int32 is int64": ("a + b", "i", 2**31 - 1, "i", 1, "q", 2**31),
    "int32 * int32 is int64": ("a * b", "i", 65536, "i", 65536, "q", 2**32),
    "int32 << int32 is int64": ("a << b", "i", 1, "i", 40, "q", 2**40),
    "int8 + int8 is int64": ("a + b", "b", 127, "b", 1, "q", 128),
    "uint8 + uint8 is uint64": ("a + b", "B", 255, "B", 1, "q", 256),
    "bool + bool is int64": ("a + b", "?", True, "?", True, "q", 2),
    "uint32 - uint32 is uint64": ("a - b", "I", 0, "I", 1, "Q", 2**64 - 1),
    "uint32 with int64 is int64": ("(a - 1) // 2", "I", 0, "i", 0, "q", -1),
    "int64 + uint64 is int64": ("a + b", "q", 2**53, "Q", 1, "q", 2**53 + 1),
    "int64 wraps": ("a + b", "q", 2**63 - 1, "q", 1, "q", -(2**63)),
    "-int32 is int64": ("-a", "i", -(2**31), "i", 0, "q", 2**31),
    "-uint32 is uint64": ("-a", "I", 2, "I", 0, "d", 2.0**64),
    "uint64 >> int64 is uint64": ("a >> 60", "Q", 2**63, "i", 0, "q", 8),
    "abs(int32) is int32": ("abs(a)", "i", -(2**31), "i", 0, "q", -(2**31)),
    "a 64-bit unsigned literal": ("a ^ 0xFFFFFFFFFFFFFFFF", "Q", 1, "i", 0, "Q", 2**64 - 2),
    # Division.
    "int32 / int32 is float64": ("a / b", "i", 1, "i", 3, "d", 1 / 3),
    "// floors": ("a // b", "i", -7, "i", 2, "q", -4),
    "% has the divisor's sign": ("a % b", "i", 7, "i", -2, "q", -1),
    "// floors floats": ("a // b", "f", -7.5, "f", 2, "d", -4.0),
    "integer // 0 is 0": ("a // b", "i", 7, "i", 0, "q", 0),
    "integer % 0 is 0": ("a % b", "i", 7, "i", 0, "q", 0),
    "integer / 0 is inf": ("a / b", "i", 7, "i", 0, "d", np.inf),
    "float / 0 is inf": ("a / b", "f", -1, "f", 0, "f", -np.inf),
    # Floats.
    "float32 + float32": ("a + b", "f", 2**24, "f", 1, "d", 2.0**24),
    "float32 / float32": ("a / b", "f", 1, "f", 3, "d", float(np.float32(1) / np.float32(3))),
    "float32 + int32 is float64": ("a + b", "f", 2**24, "i", 1, "d", 2.0**24 + 1),
    "float32 + int64 is float64": ("a + b", "f", 2**24, "q", 1, "d", 2.0**24 + 1),
    "float32 + an int literal": ("a + 1", "f", 2**24, "f", 0, "d", 2.0**24 + 1),
    "float32 + int8 is float32": ("a + b", "f", 2**24, "b", 1, "d", 2.0**24),
    "float32 + uint8 is float32": ("a + b", "f", 2**24, "B", 1, "d", 2.0**24),
    "float32 + int16 is float32": ("a + b", "f", 2**24, "h", 1, "d", 2.0**24),
    "float32 + uint16 is float64": ("a + b", "f", 2**24, "H", 1, "d", 2.0**24 + 1),
    "float32 + bool is float32": ("a + b", "f", 2**24, "?", True, "d", 2.0**24),
    "float32 * a float literal": ("a * 0.1", "f", 3, "f", 0, "d", 3 * 0.1),
    "float32 ** int is float32": ("a ** 2", "f", 4097, "f", 0, "d", 16785408.0),
    "float16 + float16": ("a + b", "e", 2048, "e", 1, "d", 2048.0),
    "float16 // float16 is float32": ("a // b", "e", 65504, "e", 0.5, "d", 131008.0),
    "float16 * int8 is float16": ("a * b", "e", 1000, "b", 100, "d", np.inf),
    "float16 * uint8 is float32": ("a * b", "e", 1000, "B", 100, "d", 100000.0),
    # Functions.
    "math.sqrt(float32)": ("math.sqrt(a)", "f", 2, "f", 0, "d", float(np.sqrt(np.float32(2)))),
    "math.sqrt(int32)": ("math.sqrt(a)", "i", 2, "i", 0, "d", 2**0.5),
    "math.floor(float32) is float32": ("math.floor(a)", "f", 1e30, "f", 0, "d", float(np.float32(1e30))),
    "math.ceil(NaN) is NaN": ("math.ceil(a)", "f", np.nan, "f", 0, "d", np.nan),
    "round(float32) is int64, to even": ("round(a) + round(b)", "f", 2.5, "f", -3.5, "q", -2),
    "round(float32, 1)": ("round(a, 1)", "f", 2.25, "f", 0, "f", np.float32(2.2)),
    "int(float32) is int64": ("int(a)", "f", 3e9, "f", 0, "q", 3_000_000_000),
    "float(float32) is float32": ("float(a) + b", "f", 2**24, "f", 1, "d", 2.0**24),
    "float(int32) is float64": ("float(a) + 1", "i", 2**24, "f", 0, "d", 2.0**24 + 1),
    "float32(int32) rounds": ("float32(a)", "i", 2**24 + 1, "f", 0, "d", 2.0**24),
    "int32(int64) wraps": ("int32(a)", "q", 2**32 + 5, "f", 0, "q", 5),
    "np.uint8(int64) wraps": ("np.uint8(a)", "q", -1, "f", 0, "q", 255),
    "min drops NaN": ("min(a, b)", "f", np.nan, "f", 1, "f", 1),
    "max drops NaN": ("max(a, b)", "f", 1, "f", np.nan, "f", 1),
    "min(int32, float32) is float64": ("min(a, b)", "i", 2**24 + 1, "f", 2**25, "d", 2.0**24 + 1),
    # Values that are chosen.
    "x if c else y is unified": ("a if b > 0 else b", "i", 2**24 + 1, "f", 1, "d", 2.0**24 + 1),
    "or gives an operand": ("a or b", "i", 0, "i", 5, "q", 5),
    "and gives an operand": ("a and b", "i", 3, "i", 5, "q", 5),
    "or of three": ("a or b or 9", "i", 0, "i", 0, "q", 9),
    "not gives a bool": ("(not a) + 1", "i", 0, "i", 0, "q", 2),
    "a comparison is a bool": ("(a < b) + (a < b)", "i", 0, "i", 1, "q", 2),
    "~bool is a bool": ("~a", "?", True, "i", 0, "q", 0),
    # Shifts at 64 bits.
    "<< 64 is 0": ("a << b", "i", 1, "i", 64, "q", 0),
    "<< -1 is 0": ("a << b", "i", 1, "i", -1, "q", 0),
    ">> 70 is the sign": ("a >> b", "i", -5, "i", 70, "q", -1),
    # Stores.
    "float32 to int32 truncates": ("a", "f", -2.9, "f", 0, "i", -2),
    "float32 to int32 saturates": ("a", "f", 1e10, "f", 0, "i", 2**31 - 1),
    "float32 to int32 saturates below": ("a", "f", -1e10, "f", 0, "i", -(2**31)),
    "float64 to int64 saturates": ("a", "d", 1e30, "f", 0, "q", 2**63 - 1),
    "-inf to int64 saturates": ("a", "d", -np.inf, "f", 0, "q", -(2**63)),
    "NaN to int32 is 0": ("a", "f", np.nan, "f", 0, "i", 0),
    "int64 to int8 wraps": ("a", "q", 300, "f", 0, "b", 44),
    "float64 to float32 rounds": ("a", "d", 0.1, "f", 0, "f", np.float32(0.1)),
    "float64 to float32 overflows": ("a", "d", 1e300, "f", 0, "f", np.inf),
    "NaN to bool is true": ("a", "d", np.nan, "f", 0, "?", True),
}  # fmt: skip
numbers = itertools.count()


@pytest.fixture(scope="module")
def compute(tmp_path_factory):
    """Return `compute(expression, x, y, out_dtype)`: the value stored by a kernel."""
    folder = tmp_path_factory.mktemp("typing")

    def run(expression, x, y, out_dtype):
        name = f"typing_{next(numbers)}"
        path = folder / f"{name}.py"
        path.write_text(KERNEL.format(expression=expression))
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        out = np.zeros(1, out_dtype)
        module.kernel[1, 1](x, y, out)
        return out[0]

    return run


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_the_type_of(row, compute):
    expression, x_dtype, x, y_dtype, y, out_dtype, expected = row
    found = compute(
        expression, np.array([x], x_dtype), np.array([y], y_dtype), out_dtype
    )
    want = np.array([expected], out_dtype)[0]
    assert found == want or (found != found and want != want), (found, want)  # noqa: PLR0124


def test_a_float_literal_makes_a_float64_accumulator(compute):
    x = np.full(1, 0.1, np.float32)
    found = compute("0.0 + a + a + a", x, x, np.float64)
    assert found == 3 * np.float64(np.float32(0.1))


def test_thread_indices_are_int32_and_products_do_not_wrap(compute):
    one = np.ones(1, np.int32)
    expression = "(cuda.blockDim.x + 65535) * (cuda.gridDim.x + 65535)"
    assert compute(expression, one, one, np.int64) == 2**32
