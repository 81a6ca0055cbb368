"""docs/reference/cuda.md: its examples print what they show, and no name is missing.

The first Python block of the page stands before each of the others, which run alone. A
`text` block right after one is what it prints.
"""

import contextlib
import importlib.util
import io
import math
import re
from pathlib import Path

import numpy as np
import pytest

from tests.contract.cuda_names import LACKING, MEMBERS, MODULES, NAMESPACES, OURS
from tinytorch_gpu.cuda.functions import FUNCTIONS
from tinytorch_gpu.cuda.types import Type
from tinytorch_gpu.executor.arithmetic import BINARY, UNARY
from tinytorch_gpu.executor.math_functions import BINARY_MATH, UNARY_MATH
from tinytorch_gpu.executor.typing_rules import unified_dtype

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/cuda.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(
    r"^```python\n(.*?)^```\n(?:^```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
HEAD, *EXAMPLES = EXAMPLE.findall(PAGE)
WORDS = {  # what the page calls an object of numba's class
    "Context": "context",
    "Device": "device",
    "DeviceList": "gpus",
    "DeviceNDArray": "array",
    "Event": "event",
    "ForAll": "forall",
    "GridGroup": "group",
    "Kernel": "kernel",
    "Overload": "overload",
    "Stream": "stream",
}


def run(code, folder):
    """Run an example from a file, as kernels are read from files; return its prints."""
    file = folder / "example.py"
    file.write_text(code, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return printed.getvalue()


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example_prints_what_is_shown(number, tmp_path):
    code, shown = EXAMPLES[number]
    assert run(HEAD[0] + code, tmp_path) == shown, code


def test_every_example_shows_what_it_prints():
    assert not HEAD[1]
    assert [code for code, shown in EXAMPLES if not shown] == []


SUPPORTED = [path for path in OURS if not path.startswith("types.")]


@pytest.mark.parametrize("path", SUPPORTED)
def test_supported_name_is_told_and_shown(path):
    name = path.rpartition(".")[2]
    assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", PAGE), "not told"
    is_shown = any(re.search(rf"\b{re.escape(path)}\b", code) for code, _ in EXAMPLES)
    assert is_shown or isinstance(OURS[path], Type), "not shown"


@pytest.mark.parametrize("path", [path for path in MEMBERS if "__" not in path])
def test_supported_member_is_told(path):
    name = path.rpartition(".")[2]
    assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", PAGE)


def lacking():
    """Return what numba.cuda has and we have not, in the page's words."""
    parts = (path.rpartition(".") for path in LACKING)
    names = {f"{WORDS.get(kind, kind)}{dot}{name}" for kind, dot, name in parts}
    return names | (set(MODULES) - {*NAMESPACES, "types"})


def told_lacking():
    """Return the names before the colon of each item in the page's last section."""
    section = PAGE.partition("\n## What numba has and this has not\n")[2]
    heads = re.findall(r"^- ((?:`[^`]+`\s*)+):\s+\S", section, re.MULTILINE)
    return [name for head in heads for name in re.findall(r"`([^`]+)`", head)]


def test_each_lacking_name_is_told_once_with_its_reason():
    told = told_lacking()
    assert set(told) - lacking() == set(), "told, but numba has none, or we do"
    assert lacking() - set(told) == set(), "not told"
    assert len(told) == len(set(told))


def test_links_within_the_page_lead_somewhere():
    titles = re.findall(
        r"^#+ (.*)$", re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL), re.MULTILINE
    )
    anchors = {re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles}
    assert set(re.findall(r"\]\(#([^)]*)\)", PAGE)) - anchors == set()


def rows(heading, width):
    """Return the rows of the first table after a heading, as lists of cells."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    found = [[c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    assert {len(row) for row in found} == {width}
    return found


COMPUTED = {
    "a + b": BINARY["add"],
    "a / b": BINARY["truediv"],
    "a // b": BINARY["floordiv"],
    "a ** b": BINARY["pow"],
    "a & b": BINARY["and_"],
    "a << b": BINARY["lshift"],
    "a if c else b": lambda a, b: unified_dtype(a.dtype, b.dtype).type(1),
    "-a": UNARY["neg"],
    "abs(a)": FUNCTIONS[abs].function,
    "int(a)": FUNCTIONS[int].function,
    "round(a)": FUNCTIONS[round].function,
    "math.sin(a)": FUNCTIONS[math.sin].function,
}


@pytest.mark.parametrize("row", rows("Result types", 4), ids=" ".join)
def test_result_type_is_what_kernels_compute(row):
    expression, a, b, result = row
    operands = [np.dtype(name).type(1) for name in (a, b) if name]
    assert COMPUTED[expression.strip("`")](*operands).dtype == result


def test_math_functions_are_all_told():
    paragraph = PAGE.partition("\n**`math`:**")[2].partition("\n```")[0]
    told = set(re.findall(r"`(\w+)`", paragraph))
    assert told == {*UNARY_MATH, *BINARY_MATH, "e", "pi", "tau", "inf", "nan"}


BODIES = {
    "try: ... except: ...": "try:\n        pass\n    except ValueError:\n        pass",
    "with lock: ...": "with x:\n        pass",
    "class A: ...": "class A:\n        pass",
    "lambda a: a + 1": "f = lambda a: a + 1",
}
STATEMENTS = ("import", "del", "yield", "first", "return")


def refused_constructs():
    """Return the code in the first column of the table of refusals."""
    cells = [row[0] for row in rows("What is refused", 3)]
    codes = [code for cell in cells for code in re.findall(r"`([^`]+)`", cell)]
    return [code for code in codes if code != "def"]


@pytest.mark.parametrize("code", refused_constructs())
def test_construct_is_refused_before_any_effect(code, tmp_path):
    line = code if code.startswith(STATEMENTS) else f"out[0] = {code}"
    kernel = (
        "def plain(a):\n    return a\n\n"
        f"@cuda.jit\ndef kernel(x, out):\n    out[1] = 5\n    {BODIES.get(code, line)}\n\n"
        "out = np.zeros(3)\n"
        "try:\n    kernel[1, 1](np.ones(3), out)\n"
        "except errors.KernelSyntaxError as error:\n    print(error.fix != '')\n"
        "print(out[1])\n"
    )
    assert run(HEAD[0] + kernel, tmp_path) == "True\n0.0\n"
