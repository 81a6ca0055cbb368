"""The text of a kernel: lines as in the file, a caret at the place."""

import ast
from pathlib import Path

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda.kernel_source import KernelText
from tinytorch_gpu.errors import KernelSyntaxError


@cuda.jit  # a decorator, so that `def` is not the first line
def sample(
    x,
    out,
):
    """Have some text."""

    if x:
        out[0] = 3 * [
            x,
        ]


def lines_of_this_file():
    with open(__file__, encoding="utf-8") as file:  # noqa: PTH123
        return file.read().splitlines()


TEXT = KernelText(sample.py_func)
NODES = [n for n in ast.walk(TEXT.tree) if hasattr(n, "lineno")]


@pytest.mark.parametrize("node", NODES, ids=lambda n: type(n).__name__)
def test_every_node_has_the_line_of_the_file(node):
    line = TEXT.line_of(node)
    assert lines_of_this_file()[line.line - 1].strip() == line.text
    assert (line.kernel, line.file) == ("sample", __file__)


def test_the_source_is_the_first_line_with_its_decorator():
    assert lines_of_this_file()[TEXT.source.line - 1].startswith("@cuda.jit")


def test_an_error_shows_the_line_with_a_caret():
    (node,) = (n for n in NODES if isinstance(n, ast.List))
    error = TEXT.syntax_error(node, "a list", "leave it out")
    shown, caret, file = error.where.splitlines()
    assert shown.endswith("out[0] = 3 * [")
    assert shown[caret.index("^") :] == "["
    assert file == __file__
    assert (error.kernel, error.line) == ("sample", TEXT.line_of(node).line)
    assert error.fix == "leave it out"


def indented():
    def inner(x):
        x[0] = {1}

    return inner


def test_an_indented_kernel_has_its_caret_in_place_too():
    text = KernelText(indented())
    (node,) = (n for n in ast.walk(text.tree) if isinstance(n, ast.Set))
    shown, caret, _ = text.syntax_error(node, "a set").where.splitlines()
    assert shown[caret.index("^") :] == "{1}"


def accented(x):
    x["ü"], x[0] = 1, {1}


def test_a_caret_counts_letters_not_bytes():
    text = KernelText(accented)
    (node,) = (n for n in ast.walk(text.tree) if isinstance(n, ast.Set))
    shown, caret, _ = text.syntax_error(node, "a set").where.splitlines()
    assert shown[caret.index("^") :].startswith("{1}")


def many(x, *more):
    x[0] = more


def named(x, **more):
    x[0] = more


def keyword_only(x, *, more):
    x[0] = more


def positional_only(x, /, more):
    x[0] = more


async def asynchronous(x):
    x[0] = 1


@pytest.mark.parametrize(
    "function", [many, named, keyword_only, positional_only, asynchronous]
)
def test_what_is_no_plain_function_is_refused(function):
    with pytest.raises(KernelSyntaxError) as caught:
        KernelText(function)
    assert all((caught.value.what, caught.value.where, caught.value.why))


def made(n):
    return lambda a: a * 10 + n


SUM, DIFFERENCE = (lambda a, b: a + b), (lambda a, b: a - b)


@pytest.mark.parametrize(
    ("function", "body"),
    [(SUM, "a + b"), (DIFFERENCE, "a - b"), (made(3), "a * 10 + n")],
    ids=["first of a line", "second of a line", "with a closure"],
)
def test_a_lambda_is_found_in_its_line(function, body):
    text = KernelText(function)
    assert ast.unparse(text.tree.body[0]) == f"return {body}"
    assert text.line_of(text.tree.body[0]).text in Path(__file__).read_text()


def test_a_lambda_may_be_a_device_function():
    three = cuda.jit(device=True)(made(3))

    @cuda.jit
    def kernel(out):
        out[0] = three(out[0])

    out = np.ones(1)
    kernel[1, 1](out)
    assert out[0] == 13


def test_lambdas_of_a_line_that_differ_in_a_constant_are_told_apart():
    more = [
        cuda.jit(device=True)(lambda a: a + 1),
        cuda.jit(device=True)(lambda a: a + 2),
    ]
    one, two = more

    @cuda.jit
    def kernel(out):
        out[0] = one(out[0])
        out[1] = two(out[1])

    out = np.zeros(2)
    kernel[1, 1](out)
    assert out.tolist() == [1, 2]
