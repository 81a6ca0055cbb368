"""Source of a kernel: from its file or its cell, without what stands around it."""

import linecache

import pytest

from tinytorch_gpu.profiler.function_lines import function_lines
from tinytorch_gpu.trace import SourceLine

TWICE = """\
def f(x):
    x[0] = 1


def f(x):
    if x:
        x[0] = 2
    return
"""


@pytest.fixture
def cell():
    """Give the maker of a notebook cell, which linecache alone knows."""

    def make(text, name="<cell>"):
        lines = text.splitlines(keepends=True)
        linecache.cache[name] = (len(text), None, lines, name)
        return name

    yield make
    linecache.cache.pop("<cell>", None)


def test_of_functions_with_one_name_it_is_the_one_with_the_lines(cell):
    known = [SourceLine("f", cell(TWICE), 7, "x[0] = 2")]
    assert list(function_lines(known)) == [5, 6, 7, 8]


def test_of_nested_functions_with_one_name_it_is_the_inner_one(cell):
    text = "def f(x):\n    def f(x):\n        x[0] = 1\n    return f\n"
    known = [SourceLine("f", cell(text), 3, "x[0] = 1")]
    assert function_lines(known) == {2: "def f(x):", 3: "    x[0] = 1"}


@pytest.mark.parametrize(
    "text",
    ["%%time\n" + TWICE, TWICE.replace("x[0] = 1", "x[0] = 3"), "", "lambda x: x\n"],
    ids=["magics", "changed", "gone", "another name"],
)
def test_where_the_text_does_not_fit_the_known_lines_remain(text, cell):
    known = [SourceLine("f", cell(text), 2, "x[0] = 1")]
    assert function_lines(known) == {2: "x[0] = 1"}
