"""Constants that count from the end are known from the source."""

import ast

import pytest

from tinytorch_gpu.cuda.from_end import negative_constants
from tinytorch_gpu.cuda.names import Names

LAST = -1
WIDTH = 3


def kernel(a, i, n):
    pass


def found(text):
    tree = ast.parse(f"def kernel(a, i, n):\n    {text}").body[0]
    return negative_constants(tree.body[-1].value, Names(kernel, tree))


@pytest.mark.parametrize(
    ("text", "constants"),
    [
        ("a[LAST]", {-1}),
        ("a[i, -WIDTH]", {-3}),
        ("a[-1, :, -2]", {-1, -2}),
        ("a[1 - WIDTH]", {-2}),
        ("atomic_add(a, (i, LAST), n)", {-1}),
        ("a[0, WIDTH]", set()),
        ("a[i - 1]", set()),
        ("a[-i]", set()),
        ("a[n]", set()),
        ("f(a)", set()),
        ("i + 1", set()),
    ],
)
def test_negative_constants(text, constants):
    # -1 of the source is a literal only once it is folded, as the rewriter does first.
    assert found(text) == constants
