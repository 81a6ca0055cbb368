"""Which sums a compiler makes one instruction with the product in them."""

from __future__ import annotations

import ast

import pytest

from tinytorch_gpu.cuda.operators import fuses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a * b + c", True),
        ("c + a * b", True),
        ("c - a * b", True),
        ("c += a * b", True),
        ("c -= a * b", True),
        ("a * b", False),
        ("a + b", False),
        ("(a + b) * c", False),
        ("c *= a * b", False),
        ("a / b + c", False),
        ("f(a * b) + c", False),
        ("a", False),
    ],
)
def test_fuses(text, expected):
    statement = ast.parse(text).body[0]
    is_expression = isinstance(statement, ast.Expr)
    assert fuses(statement.value if is_expression else statement) is expected
