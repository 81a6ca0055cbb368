"""`cuda.fp16`: half-precision functions, with numba.cuda's names.

Arguments of any number type are converted to float16, as the compiler does. Each
function is computed in float32 and rounded to float16 once; comparisons with a NaN are
false, `hne` too.

Limits: `hsin`, `hexp` and the like are rounded correctly; a GPU's are allowed an error
of one or two units in the last place.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.intrinsics import Intrinsic
from tinytorch_gpu.executor.arithmetic import maximum, minimum
from tinytorch_gpu.executor.conversion import cast
from tinytorch_gpu.executor.fused import fused_to

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "habs",
    "hadd",
    "hceil",
    "hcos",
    "hdiv",
    "heq",
    "hexp",
    "hexp2",
    "hexp10",
    "hfloor",
    "hfma",
    "hge",
    "hgt",
    "hle",
    "hlog",
    "hlog2",
    "hlog10",
    "hlt",
    "hmax",
    "hmin",
    "hmul",
    "hne",
    "hneg",
    "hrcp",
    "hrint",
    "hrsqrt",
    "hsin",
    "hsqrt",
    "hsub",
    "htanh",
    "htrunc",
]  # fmt: skip

FLOAT16 = np.dtype("float16")


def _half(
    name: str, compute: Callable[..., Any], doc: str, *, kind: str = "arithmetic"
) -> Intrinsic:
    """Make `cuda.fp16.<name>`; its parameters are those named in the doc's call."""

    def lower(*values: Any) -> Any:
        wide = (cast(value, FLOAT16).astype(np.float32) for value in values)
        result = compute(*wide)
        return result if result.dtype == np.bool_ else result.astype(FLOAT16)

    signature = doc[doc.index("(") + 1 : doc.index(")")]
    return Intrinsic(
        f"fp16.{name}", lower, doc, signature=signature, needs="", kind=kind
    )


def _special(name: str, compute: Callable[..., Any], meaning: str) -> Intrinsic:
    return _half(name, compute, f"{name}(a): {meaning}.", kind="special")


def _question(name: str, compute: Callable[..., Any], sign: str) -> Intrinsic:
    doc = f"{name}(a, b): a {sign} b; false if either is NaN."
    return _half(name, compute, doc, kind="compare")


def _fused(a: Any, b: Any, c: Any) -> Any:
    return fused_to(FLOAT16, a, b, c)


def _unequal(a: Any, b: Any) -> Any:
    return (a < b) | (a > b)


hadd = _half("hadd", operator.add, "hadd(a, b): a + b.")
hsub = _half("hsub", operator.sub, "hsub(a, b): a - b.")
hmul = _half("hmul", operator.mul, "hmul(a, b): a * b.")
hdiv = _half("hdiv", operator.truediv, "hdiv(a, b): a / b.", kind="special")
hfma = _half("hfma", _fused, "hfma(a, b, c): a * b + c, rounded once.")
hneg = _half("hneg", operator.neg, "hneg(a): -a.")
habs = _half("habs", np.abs, "habs(a): absolute value.")
hmax = _half("hmax", maximum, "hmax(a, b): the larger; a NaN loses, +0.0 > -0.0.")
hmin = _half("hmin", minimum, "hmin(a, b): the smaller; a NaN loses, -0.0 < +0.0.")
hfloor = _half("hfloor", np.floor, "hfloor(a): the next whole number below.")
hceil = _half("hceil", np.ceil, "hceil(a): the next whole number above.")
htrunc = _half("htrunc", np.trunc, "htrunc(a): the whole number toward zero.")
hrint = _half("hrint", np.rint, "hrint(a): the nearest whole number, halves to even.")
heq = _question("heq", operator.eq, "==")
hne = _question("hne", _unequal, "!=")
hge = _question("hge", operator.ge, ">=")
hgt = _question("hgt", operator.gt, ">")
hle = _question("hle", operator.le, "<=")
hlt = _question("hlt", operator.lt, "<")
hsin = _special("hsin", np.sin, "sine")
hcos = _special("hcos", np.cos, "cosine")
htanh = _special("htanh", np.tanh, "hyperbolic tangent")
hlog = _special("hlog", np.log, "natural logarithm")
hlog2 = _special("hlog2", np.log2, "logarithm to base 2")
hlog10 = _special("hlog10", np.log10, "logarithm to base 10")
hexp = _special("hexp", np.exp, "e**a")
hexp2 = _special("hexp2", np.exp2, "2**a")
hexp10 = _special("hexp10", lambda a: np.power(np.float32(10), a), "10**a")
hsqrt = _special("hsqrt", np.sqrt, "square root")
hrsqrt = _special("hrsqrt", lambda a: np.float32(1) / np.sqrt(a), "1 / square root")
hrcp = _special("hrcp", lambda a: np.float32(1) / a, "1 / a")
