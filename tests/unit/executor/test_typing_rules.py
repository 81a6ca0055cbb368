"""Every pair of dtypes gives what numba-cuda's own typing gives."""

import itertools

import numpy as np
import pytest

from tests.semantics.numba_types import DTYPES, binary_dtype
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.typing_rules import (
    arithmetic_dtype,
    division_dtype,
    power_dtype,
    unified_dtype,
)

PAIRS = list(itertools.product(map(np.dtype, DTYPES), repeat=2))


@pytest.mark.parametrize(
    ("rule", "operation"),
    [
        (arithmetic_dtype, "add"),
        (division_dtype, "truediv"),
        (power_dtype, "pow"),
        (unified_dtype, "unify"),
    ],
)
def test_a_rule_is_numbas_table(rule, operation):
    wrong = [
        f"{a} {operation} {b}: numba {binary_dtype(operation, a, b)}, here {rule(a, b)}"
        for a, b in PAIRS
        if (a.char, b.char) != ("?", "i") or operation != "pow"
        if rule(a, b) != binary_dtype(operation, a, b)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("rule", [arithmetic_dtype, division_dtype, unified_dtype])
@pytest.mark.parametrize("dtype", ["complex64", "U3", "datetime64[s]"])
def test_what_is_no_number_is_refused(rule, dtype):
    for pair in (
        (np.dtype(dtype), np.dtype("float32")),
        (np.dtype("i4"), np.dtype(dtype)),
    ):
        with pytest.raises(KernelTypeError) as caught:
            rule(*pair)
        assert str(np.dtype(dtype)) in caught.value.what
        assert all((caught.value.why, caught.value.fix))
