"""docs/reference/cuda.md: its examples print what they show, and no name is missing.

The first Python block of the page stands before each of the others, which run alone. A
`text` block right after one is what it prints.
"""

import contextlib
import importlib.util
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import random, types
from tinytorch_gpu.cuda.functions import FUNCTIONS
from tinytorch_gpu.cuda.types import Type
from tinytorch_gpu.executor.arithmetic import BINARY, UNARY
from tinytorch_gpu.executor.math_functions import BINARY_MATH, UNARY_MATH
from tinytorch_gpu.executor.typing_rules import unified_dtype

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/cuda.md").read_text(encoding="utf-8")
FROZEN = json.loads((ROOT / "tests/contract/numba_cuda_names.json").read_text("utf-8"))
EXAMPLE = re.compile(
    r"^```python\n(.*?)^```\n(?:^```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
HEAD, *EXAMPLES = EXAMPLE.findall(PAGE)
NAMESPACES = {
    "atomic": cuda.atomic,
    "cg": cuda.cg,
    "const": cuda.const,
    "fp16": cuda.fp16,
    "local": cuda.local,
    "random": random,
    "shared": cuda.shared,
}
OBJECTS = {  # numba's class: our object, and what the page calls it
    "Context": (cuda.current_context(), "context"),
    "Device": (cuda.get_current_device(), "device"),
    "DeviceList": (cuda.gpus, "gpus"),
    "DeviceNDArray": (cuda.to_device([1]), "array"),
    "Event": (cuda.event(), "event"),
    "ForAll": (cuda.jit(lambda x: None).forall(1), "forall"),
    "GridGroup": (None, "group"),
    "Kernel": (cuda.jit(lambda x: None), "kernel"),
    "Overload": (
        cuda.jit("(int64,)")(lambda x: None).overloads[types.int64,],
        "overload",
    ),
    "Reduce": (cuda.Reduce(lambda a, b: a + b), "reduce"),
    "Stream": (cuda.stream(), "stream"),
}
SPELLED = {"GridGroup.sync"}  # known to the rewriter, hence on no object
UNTOLD = {"__call__"}  # shown, but without its name


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


def members(owner):
    """Return the public names of a namespace."""
    listed = getattr(owner, "__all__", dir(owner))
    return [name for name in listed if not name.startswith("_")]


def supported():
    """Return every name of ours, `atomic.add` for those in namespaces."""
    inner = [
        f"{space}.{name}" for space in NAMESPACES for name in members(NAMESPACES[space])
    ]
    return [*cuda.__all__, *inner]


@pytest.mark.parametrize("name", supported())
def test_supported_name_is_told_and_shown(name):
    plain = name.partition(".")[2] or name
    assert re.search(rf"`[^`\n]*\b{plain}\b[^`\n]*`", PAGE), "not told"
    is_type = isinstance(getattr(cuda, plain, None), Type)
    called = rf"\b{re.escape(name)}\b" if "." in name else rf"\b{plain}\b"
    assert is_type or any(re.search(called, code) for code, _ in EXAMPLES), "not shown"


def common_members():
    """Return the members that our objects share with numba's, by the page's words."""
    found = []
    for path in FROZEN["names"]:
        kind, _, name = path.partition(".")
        owner, word = OBJECTS.get(kind, (None, ""))
        if path in SPELLED or (owner is not None and hasattr(owner, name)):
            found.append((word, name))
    return [each for each in found if each[1] not in UNTOLD]


@pytest.mark.parametrize(("word", "name"), common_members())
def test_supported_member_is_told(word, name):
    assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", PAGE), f"{word}.{name} is not told"


def missing():
    """Return what numba.cuda has and we have not, in the page's words."""
    ours = {*supported(), *(f"types.{name}" for name in types.__all__)}
    common = set(common_members())
    found = set()
    for path in FROZEN["names"]:
        kind, _, name = path.partition(".")
        word = OBJECTS[kind][1] if kind in OBJECTS and name else ""
        if path in ours or (word, name) in common or name in UNTOLD:
            continue
        found.add(f"{word}.{name}" if word else path)
    return found | (set(FROZEN["modules"]) - set(cuda.__all__) - {"random"})


def told_missing():
    """Return the names before the colon of each item in the page's last section."""
    section = PAGE.partition("\n## What numba has and this has not\n")[2]
    heads = re.findall(r"^- ((?:`[^`]+`\s*)+):", section, re.MULTILINE)
    return [name for head in heads for name in re.findall(r"`([^`]+)`", head)]


def test_each_missing_name_is_told_once_with_its_reason():
    told = told_missing()
    assert set(told) - missing() == set(), (
        "told as missing, but numba has none, or we do"
    )
    assert missing() - set(told) == set(), "missing, and not told"
    assert len(told) == len(set(told))


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
