"""Error messages: four parts in one order, short enough for a terminal, picklable."""

import ast
import copy
import pickle
import re
from pathlib import Path

import pytest
from sizes import PACKAGE, python_files

from tinytorch_gpu import errors

MAX_LINES, MAX_COLUMNS = 12, 100
PARTS = {
    "where": "vector_add, line 14\nblock 3",
    "why": "1000 > 999",
    "fix": "guard it",
}
TEXT = """\
store past the end of `out`
  where  vector_add, line 14
         block 3
  why    1000 > 999
  fix    guard it"""
LOCATED = ("executor", "cuda", "triton")  # their launch adds kernel and line
WORDS = re.compile(r"\b(illegal|invalid|bad)\b|!(?!=)", re.IGNORECASE)


def error_classes(module):
    """List the exception classes that a module offers."""
    names = (getattr(module, name) for name in module.__all__)
    return [n for n in names if isinstance(n, type) and issubclass(n, BaseException)]


CLASSES = error_classes(errors)


def faults(kind):
    """Name everything in which an error class falls short of the standard."""
    error = kind("store past the end of `out`", **PARTS, index=1000)
    builtin = [b for b in kind.__mro__ if b.__module__ == "builtins"]
    is_base = kind.__name__ == "SimGPUError"
    checks = {
        "derives from SimGPUError": issubclass(kind, errors.SimGPUError),
        "derives from a builtin": is_base or len(set(builtin) - _ROOTS) > 0,
        "has the four parts": str(error) == TEXT,
        "has a docstring": kind.__doc__ is not None,
        "pickles": _tells(pickle.loads(pickle.dumps(error)), kind),
        "copies": _tells(copy.copy(error), kind),
        "copies deeply": _tells(copy.deepcopy(error), kind),
    }
    return [f"{kind.__name__}: {name}" for name, holds in checks.items() if not holds]


_ROOTS = {Exception, BaseException, object}


def _tells(error, kind):
    facts = getattr(error, "index", None) == 1000
    return type(error) is kind and str(error) == TEXT and facts


def raised_calls(package: Path, names: set[str]):
    """Yield the calls that make one of our errors, and where each stands."""
    for path in python_files(package):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if name.rpartition(".")[2] in names:
                yield f"{path.relative_to(package)}:{node.lineno}", node


def wording(package: Path, names: set[str]) -> list[str]:
    """Name the messages with banned words, a missing part, or too long a line."""
    found = []
    for place, call in raised_calls(package, names):
        given = {keyword.arg for keyword in call.keywords}
        if None not in given:  # **facts may hold the parts
            optional = {"where"} if place.split("/")[0] in LOCATED else set()
            missing = sorted(set(PARTS) - given - optional)
            found += [f"{place} has no {part}" for part in missing]
        parts = [*call.args, *(k.value for k in call.keywords if k.arg in PARTS)]
        found += [f"{place} {fault}" for part in parts for fault in _faults_of(part)]
    return found


def _faults_of(part: ast.expr) -> list[str]:
    """Check the constant pieces of one part's text."""
    text = _constant_text(part)
    lines = text.split("\n")
    banned = [f"says {word.group()!r}" for word in WORDS.finditer(text)]
    is_wide = max(map(len, lines)) > MAX_COLUMNS - len("  where  ")
    is_long = len(lines) > MAX_LINES
    return banned + ["is too wide"] * is_wide + ["is too long"] * is_long


def _constant_text(node: ast.AST) -> str:
    """Join the pieces of a text; of two alternatives the longer one stands."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.IfExp):
        return max(_constant_text(node.body), _constant_text(node.orelse), key=len)
    return "".join(_constant_text(child) for child in ast.iter_child_nodes(node))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_tells_its_four_parts(kind):
    assert faults(kind) == []


def test_every_message_of_the_package_keeps_the_wording():
    found = wording(PACKAGE, {kind.__name__ for kind in CLASSES})
    assert not found, "\n".join(found)


class Mute(errors.SimGPUError):
    def __init__(self, what, **_parts):
        super().__init__(what)


def test_a_class_outside_the_standard_is_found():
    expected = ("derives from a builtin", "has the four parts", "has a docstring")
    copies = ("pickles", "copies", "copies deeply")
    assert faults(Mute) == [f"Mute: {fault}" for fault in (*expected, *copies)]


def test_a_part_left_out_is_not_printed():
    assert str(errors.SimGPUError("what", fix="do it")) == "what\n  fix    do it"


def test_poor_wording_is_found(make_package):
    text = "raise ShapeError('Bad shape!', where='x', fix='a')\nraise ShapeError(**f)"
    found = wording(make_package({"units.py": text}), {"ShapeError"})
    assert [f.removeprefix("units.py:1 ") for f in found] == [
        "has no why",
        "says 'Bad'",
        "says '!'",
    ]


def test_wide_and_long_messages_are_found(make_package):
    text = f"ShapeError({'x' * 99!r}, where={chr(10) * 12!r}, why='', fix='')"
    found = wording(make_package({"units.py": text}), {"ShapeError"})
    assert found == ["units.py:1 is too wide", "units.py:1 is too long"]
