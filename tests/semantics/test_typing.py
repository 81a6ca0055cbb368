"""Types inside a kernel are numba.cuda's, row by row, seen through what is stored.

The rows are those of two tables: the result types of the reference on kernel languages
(its section 1.9), and types and arithmetic of the reference on SIMT semantics (its
section 3). Each row has cases with values for which the neighbouring type would give
another result; types and conversions were read from numba-cuda 0.30.4.

A case is an expression of a and b, then dtype and value of each, then dtype and value
of the element that is stored. With `ACC` it is a statement, and ACC is stored.
"""

import importlib.util
import itertools
import math

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
    {before}
    out[0] = {expression}
"""
KERNEL_LANGUAGES_1_9 = {
    "int32 (+,-,*,//,%,<<) int32; int8+int8; bool+bool: int64": {
        "int32 + int32 is int64": ("a + b", "i", 2**31 - 1, "i", 1, "q", 2**31),
        "int32 * int32 is int64": ("a * b", "i", 65536, "i", 65536, "q", 2**32),
        "int32 << int32 is int64": ("a << b", "i", 1, "i", 40, "q", 2**40),
        "int8 + int8 is int64": ("a + b", "b", 127, "b", 1, "q", 128),
        "bool + bool is int64": ("a + b", "?", True, "?", True, "q", 2),
        "int64 wraps": ("a + b", "q", 2**63 - 1, "q", 1, "q", -(2**63)),
        "-int32 is int64": ("-a", "i", -(2**31), "i", 0, "q", 2**31),
        "int32 - int32 is int64": ("a - b", "i", -(2**31), "i", 1, "q", -(2**31) - 1),
        "int32 // int32 is int64": ("a // b", "i", -(2**31), "i", -1, "q", 2**31),
        "int32 % int32 is int64": ("a % b + 2147483647", "i", 1, "i", 2, "q", 2**31),
    },
    "uint32 op uint32: uint64": {
        "uint8 + uint8 is uint64": ("a + b", "B", 255, "B", 1, "q", 256),
        "uint32 - uint32 is uint64": ("a - b", "I", 0, "I", 1, "Q", 2**64 - 1),
        "-uint32 is uint64": ("-a", "I", 2, "I", 0, "d", 2.0**64),
        "uint64 >> int64 is uint64": ("a >> 60", "Q", 2**63, "i", 0, "q", 8),
        "uint32 with int64 is int64": ("(a - 1) // 2", "I", 0, "i", 0, "q", -1),
        "a 64-bit unsigned literal": ("a ^ 0xFFFFFFFFFFFFFFFF", "Q", 1, "i", 0, "Q", 2**64 - 2),
    },
    "int64 op uint64: int64": {
        "int64 + uint64 is int64": ("a + b", "q", 2**53, "Q", 1, "q", 2**53 + 1),
        "int64 < uint64 compares by value": ("a < b", "q", -1, "Q", 2**63, "?", True),
    },
    "int32 / int32 (any ints): float64": {
        "int32 / int32 is float64": ("a / b", "i", 1, "i", 3, "d", 1 / 3),
        "integer / 0 is inf": ("a / b", "i", 7, "i", 0, "d", np.inf),
        "uint8 / uint8 is float64": ("a / b", "B", 1, "B", 3, "d", 1 / 3),
    },
    "float32 op float32: float32": {
        "float32 + float32": ("a + b", "f", 2**24, "f", 1, "d", 2.0**24),
        "float32 / float32": ("a / b", "f", 1, "f", 3, "d", float(np.float32(1) / np.float32(3))),
    },
    "float32 op int32/int64/Python int constant: float64 (int8/uint8/int16: float32)": {
        "float32 + int32 is float64": ("a + b", "f", 2**24, "i", 1, "d", 2.0**24 + 1),
        "float32 + int64 is float64": ("a + b", "f", 2**24, "q", 1, "d", 2.0**24 + 1),
        "float32 + an int literal": ("a + 1", "f", 2**24, "f", 0, "d", 2.0**24 + 1),
        "float32 + int8 is float32": ("a + b", "f", 2**24, "b", 1, "d", 2.0**24),
        "float32 + uint8 is float32": ("a + b", "f", 2**24, "B", 1, "d", 2.0**24),
        "float32 + int16 is float32": ("a + b", "f", 2**24, "h", 1, "d", 2.0**24),
        "float32 + uint16 is float64": ("a + b", "f", 2**24, "H", 1, "d", 2.0**24 + 1),
        "float32 + bool is float32": ("a + b", "f", 2**24, "?", True, "d", 2.0**24),
    },
    "float32 op Python float constant: float64": {
        "float32 * a float literal": ("a * 0.1", "f", 3, "f", 0, "d", 3 * 0.1),
    },
    "float32 ** int: float32": {
        "float32 ** int is float32": ("a ** 2", "f", 4097, "f", 0, "d", 16785408.0),
        "float32 ** a computed int": ("a ** b", "f", 4097, "i", 2, "d", 16785408.0),
        "float32 ** a negative int": ("a ** b", "f", 3, "i", -1, "d", float(np.float32(1) / np.float32(3))),
    },
    "float16 op float16: float16 (//, %: float32)": {
        "float16 + float16": ("a + b", "e", 2048, "e", 1, "d", 2048.0),
        "float16 // float16 is float32": ("a // b", "e", 65504, "e", 0.5, "d", 131008.0),
        "float16 * int8 is float16": ("a * b", "e", 1000, "b", 100, "d", np.inf),
        "float16 * uint8 is float32": ("a * b", "e", 1000, "B", 100, "d", 100000.0),
        "float16 % float16 is float32": ("a % b + a", "e", 2048, "e", 2047, "d", 2049.0),
    },
    "math.f(float32): float32; math.f(int): float64": {
        "math.sqrt(float32)": ("math.sqrt(a)", "f", 2, "f", 0, "d", float(np.sqrt(np.float32(2)))),
        "math.sqrt(int32)": ("math.sqrt(a)", "i", 2, "i", 0, "d", 2**0.5),
        "math.floor(float32) is float32": ("math.floor(a)", "f", 1e30, "f", 0, "d", float(np.float32(1e30))),
        "math.ceil(NaN) is NaN": ("math.ceil(a)", "f", np.nan, "f", 0, "d", np.nan),
        "math.erf(float32) is float32": ("math.erf(a)", "f", 0.3, "f", 0, "d", float(np.float32(math.erf(np.float32(0.3))))),
        "math.erf(int32) is float64": ("math.erf(a)", "i", 1, "f", 0, "d", math.erf(1)),
        "math.tan(float16) is float32": ("math.tan(a)", "e", 1.5, "f", 0, "d", float(np.tan(np.float32(1.5)))),
        "math.sin(float16) is float16": ("math.sin(a)", "e", 1, "f", 0, "d", float(np.float16(math.sin(1)))),
        "math.atan2(float32, int32) is float64": ("math.atan2(a, b)", "f", 1, "i", 3, "d", math.atan2(1, 3)),
        "math.frexp gives float32 and int32": ("math.frexp(a)[0] + math.frexp(a)[1]", "f", 12, "f", 0, "d", 4.75),
        "math.modf gives two floats": ("math.modf(a)[0] * 10 + math.modf(a)[1]", "f", 2.25, "f", 0, "d", 4.5),
    },
    "round(x) and int(x): int64; abs(int32): int32": {
        "round(float32) is int64, to even": ("round(a) + round(b)", "f", 2.5, "f", -3.5, "q", -2),
        "round(float32, 1)": ("round(a, 1)", "f", 2.25, "f", 0, "f", np.float32(2.2)),
        "int(float32) is int64": ("int(a)", "f", 3e9, "f", 0, "q", 3_000_000_000),
        "float(float32) is float32": ("float(a) + b", "f", 2**24, "f", 1, "d", 2.0**24),
        "float(int32) is float64": ("float(a) + 1", "i", 2**24, "f", 0, "d", 2.0**24 + 1),
        "abs(int32) is int32": ("abs(a)", "i", -(2**31), "i", 0, "q", -(2**31)),
        "round(float64) is int64": ("round(a) / 2", "d", 3e9, "d", 0, "d", 1.5e9),
    },
    "a if c else b with int32/float32: float64 (unified)": {
        "x if c else y is unified": ("a if b > 0 else b", "i", 2**24 + 1, "f", 1, "d", 2.0**24 + 1),
        "min(int32, float32) is float64": ("min(a, b)", "i", 2**24 + 1, "f", 2**25, "d", 2.0**24 + 1),
    },
    "x and y, x or y: operand value, unified type": {
        "or gives an operand": ("a or b", "i", 0, "i", 5, "q", 5),
        "and gives an operand": ("a and b", "i", 3, "i", 5, "q", 5),
        "or of three": ("a or b or 9", "i", 0, "i", 0, "q", 9),
        "not gives a bool": ("(not a) + 1", "i", 0, "i", 0, "q", 2),
        "a comparison is a bool": ("(a < b) + (a < b)", "i", 0, "i", 1, "q", 2),
        "or of int32 and float32 is float64": ("a or b", "i", 2**24 + 1, "f", 2, "d", 2.0**24 + 1),
    },
    "acc = 0.0; acc += f32: accumulates in float64": {
        "acc = 0.0": ("ACC = 0.0; ACC += a; ACC += b", "f", 2**24, "f", 1, "d", 2.0**24 + 1),
        "acc = float32(0.0)": ("ACC = float32(0.0); ACC += a; ACC += b", "f", 2**24, "f", 1, "d", 2.0**24),
    },
    "store into array: C conversion; float->int truncates, int narrowing wraps": {
        "float32 to int32 truncates": ("a", "f", -2.9, "f", 0, "i", -2),
        "int64 to int8 wraps": ("a", "q", 300, "f", 0, "b", 44),
        "float64 to float32 rounds": ("a", "d", 0.1, "f", 0, "f", np.float32(0.1)),
        "float64 to float32 overflows": ("a", "d", 1e300, "f", 0, "f", np.inf),
        "float32(int32) rounds": ("float32(a)", "i", 2**24 + 1, "f", 0, "d", 2.0**24),
        "int32(int64) wraps": ("int32(a)", "q", 2**32 + 5, "f", 0, "q", 5),
        "np.uint8(int64) wraps": ("np.uint8(a)", "q", -1, "f", 0, "q", 255),
    },
    "// and % follow Python; integer division by zero yields 0; float gives inf/nan": {
        "// floors": ("a // b", "i", -7, "i", 2, "q", -4),
        "% has the divisor's sign": ("a % b", "i", 7, "i", -2, "q", -1),
        "// floors floats": ("a // b", "f", -7.5, "f", 2, "d", -4.0),
        "integer // 0 is 0": ("a // b", "i", 7, "i", 0, "q", 0),
        "integer % 0 is 0": ("a % b", "i", 7, "i", 0, "q", 0),
        "float % 0 is nan": ("a % b", "f", 1, "f", 0, "f", np.nan),
    },
    "a*b+c is contracted by the compiler: here two roundings": {
        "a * b + c rounds twice": ("a * a - b", "f", 1 + 2**-12, "f", 1 + 2**-11, "d", 0.0),
        "fma rounds once": ("cuda.fma(a, a, -b)", "f", 1 + 2**-12, "f", 1 + 2**-11, "d", 2.0**-24),
    },
}  # fmt: skip
SIMT_SEMANTICS_3 = {
    "integer literals and int args: int64": {
        "2**31 - 1 + 1": ("2147483647 + 1", "i", 0, "i", 0, "q", 2**31),
        "a literal with uint32 is int64": ("a - 1", "I", 0, "i", 0, "q", -1),
    },
    "thread/block indices: int32; int+int widens, uint+uint: uint64, int64 with uint64: int64": {
        "products of dimensions do not wrap": ("(cuda.blockDim.x + 65535) * (cuda.gridDim.x + 65535)", "i", 0, "i", 0, "q", 2**32),
        "an index is int32": ("abs(cuda.threadIdx.x - cuda.blockDim.x) + a", "i", 2**31 - 1, "i", 0, "q", 2**31),
    },
    "overflow: wraps at 64 bits; narrowing store wraps modulo 2^n": {
        "2**63 wraps": ("a + b", "q", 2**63 - 1, "q", 1, "q", -(2**63)),
        "int64 to int16 wraps": ("a + b", "i", 32767, "i", 1, "h", -32768),
    },
    "/: ints to float64; f32/f32 float32": {
        "7 / 2": ("a / b", "i", 7, "i", 2, "f", 3.5),
        "float32 / float32 is rounded": ("a / b", "f", 2, "f", 3, "d", float(np.float32(2) / np.float32(3))),
    },
    "//, %: floor and sign of divisor; int zero divisor yields 0": {
        "-7 // -2": ("a // b", "i", -7, "i", -2, "q", 3),
        "-7 % 3": ("a % b", "i", -7, "i", 3, "q", 2),
        "-7.5 % 2.0": ("a % b", "f", -7.5, "f", 2, "f", 0.5),
        "uint32 // 0 is 0": ("a // b", "I", 7, "I", 0, "Q", 0),
    },
    "C-like division is Triton's: not here": {
        "// of unlike signs": ("a // b", "i", -7, "i", 2, "q", -4),
    },
    "float division by zero: inf/nan, no exception": {
        "float / 0 is inf": ("a / b", "f", -1, "f", 0, "f", -np.inf),
        "0.0 / 0.0 is nan": ("a / b", "d", 0, "d", 0, "d", np.nan),
    },
    "float32 with int or with a Python float constant: float64": {
        "f32 * 0.1": ("a * 0.1", "f", 7, "f", 0, "d", 7 * 0.1),
        "f32 * 2.5 stores the same": ("a * 2.5", "f", 0.3, "f", 0, "f", np.float32(0.3) * np.float32(2.5)),
    },
    "silent float64: acc = 0.0 accumulates in float64": {
        "a sum in a loop": ("ACC = 0.0\n    for k in range(3):\n        ACC += a", "f", 0.1, "f", 0, "d", 3 * np.float64(np.float32(0.1))),
    },
    "float32 op float32: float32, each op rounded": {
        "(2**24 + 1) + 1": ("a + b + b", "f", 2**24, "f", 1, "d", 2.0**24),
    },
    "contraction: two roundings by default": {
        "a * a + b": ("a * a + b", "f", 1 + 2**-12, "f", -1, "d", 2.0**-11),
    },
    "math functions: float32 in, float32 out": {
        "math.exp(float32)": ("math.exp(a)", "f", 1, "f", 0, "d", float(np.exp(np.float32(1)))),
    },
    "float -> int store: truncates, saturates, NaN gives 0; uint8 through 16 bits": {
        "float32 to int32 saturates": ("a", "f", 1e10, "f", 0, "i", 2**31 - 1),
        "float32 to int32 saturates below": ("a", "f", -1e10, "f", 0, "i", -(2**31)),
        "float64 to int64 saturates": ("a", "d", 1e30, "f", 0, "q", 2**63 - 1),
        "-inf to int64 saturates": ("a", "d", -np.inf, "f", 0, "q", -(2**63)),
        "NaN to int32 is 0": ("a", "f", np.nan, "f", 0, "i", 0),
        "NaN to bool is true": ("a", "d", np.nan, "f", 0, "?", True),
        "float32 to uint8 keeps the low byte": ("a", "f", 300.7, "f", 0, "B", 44),
        "float32 to uint8 saturates at 16 bits": ("a", "f", 1e6, "f", 0, "B", 255),
        "float32 to int8 keeps the low byte": ("a", "f", 200, "f", 0, "b", -56),
        "float16 to int32 rounds to even": ("a", "e", 2.5, "f", 0, "i", 2),
        "float16 to int64 rounds": ("a", "e", -2.75, "f", 0, "q", -3),
    },
    "round: to even, int64": {
        "round(0.5) and round(1.5)": ("round(a) * 10 + round(b)", "d", 0.5, "d", 1.5, "q", 2),
    },
    "bool: 1 byte, arithmetic as int64": {
        "~bool is a bool": ("~a", "?", True, "i", 0, "q", 0),
        "-bool is int64": ("-a", "?", True, "i", 0, "q", -1),
        "bool * int8 is int64": ("a * b", "?", True, "b", 5, "q", 5),
    },
    "shifts: at 64 bits; a count >= 64 gives zero or the sign": {
        "<< 64 is 0": ("a << b", "i", 1, "i", 64, "q", 0),
        "<< -1 is 0": ("a << b", "i", 1, "i", -1, "q", 0),
        ">> 70 is the sign": ("a >> b", "i", -5, "i", 70, "q", -1),
    },
    "float16: arithmetic in fp16": {
        "float16 * float16 overflows": ("a * b", "e", 300, "e", 300, "d", np.inf),
    },
    "min/max with NaN: the other operand": {
        "min drops NaN": ("min(a, b)", "f", np.nan, "f", 1, "f", 1),
        "max drops NaN": ("max(a, b)", "f", 1, "f", np.nan, "f", 1),
    },
}  # fmt: skip
numbers = itertools.count()


@pytest.fixture(scope="module")
def compute(tmp_path_factory):
    """Return `compute(expression, x, y, out_dtype)`: the value stored by a kernel."""
    folder = tmp_path_factory.mktemp("typing")

    def run(expression, x, y, out_dtype):
        name = f"typing_{next(numbers)}"
        path = folder / f"{name}.py"
        before, result = (
            (expression, "ACC") if "ACC" in expression else ("", expression)
        )
        path.write_text(KERNEL.format(before=before, expression=result))
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        out = np.zeros(1, out_dtype)
        module.kernel[1, 1](x, y, out)
        return out[0]

    return run


CASES = [
    pytest.param(case, id=f"{row} | {name}")
    for table in (KERNEL_LANGUAGES_1_9, SIMT_SEMANTICS_3)
    for row, cases in table.items()
    for name, case in cases.items()
]


@pytest.mark.parametrize("case", CASES)
def test_row(case, compute):
    expression, x_dtype, x, y_dtype, y, out_dtype, expected = case
    found = compute(
        expression, np.array([x], x_dtype), np.array([y], y_dtype), out_dtype
    )
    want = np.array([expected], out_dtype)[0]
    assert found == want or (found != found and want != want), (found, want)  # noqa: PLR0124


def test_every_row_has_a_case():
    assert len(KERNEL_LANGUAGES_1_9) == 17  # 15 rows and the two sentences below them
    assert len(SIMT_SEMANTICS_3) == 18
    assert all(KERNEL_LANGUAGES_1_9.values())
    assert all(SIMT_SEMANTICS_3.values())
