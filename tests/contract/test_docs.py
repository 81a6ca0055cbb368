"""Docstrings: every public name has one, errors are told, rules have sources."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sizes import PACKAGE, python_files

SOURCED_ROOMS = ("arch", "cost")
GLOSSARY = {
    "shader": "kernel",
    "workgroup": "block",
    "utilisation": "occupancy",
    "utilization": "occupancy",
    "illegal": "the rule and the value",
    "invalid": "the rule and the value",
}
BANNED = re.compile(rf"\b({'|'.join(GLOSSARY)})s?\b", re.IGNORECASE)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.ClassDef | Function
RAISES = re.compile(r"^Raises:\n((?:[ ]+.*\n?|\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Definition:
    """One public name: its node, its place, its own and the enclosing docstrings."""

    node: ast.Module | Scope
    place: str
    docs: tuple[str, ...]  # own, class, module

    @property
    def is_function(self) -> bool:
        return isinstance(self.node, Function)


def public_definitions(package: Path) -> Iterator[Definition]:
    """Yield the modules, and in them the public classes, functions and methods."""
    for path in python_files(package):
        name = path.relative_to(package).as_posix()
        module = Definition(ast.parse(path.read_text("utf-8")), name, ())
        yield from _walk(Definition(module.node, name, (_doc(module.node),)))


def _walk(parent: Definition) -> Iterator[Definition]:
    yield parent
    if not parent.is_function:  # a function inside a function is nobody's interface
        for node in parent.node.body:
            if isinstance(node, Scope) and _is_public(node):
                place = f"{parent.place.split(':')[0]}:{node.lineno} {node.name}"
                yield from _walk(Definition(node, place, (_doc(node), *parent.docs)))


def _doc(node: ast.AST) -> str:
    return ast.get_docstring(node) or ""


def _is_public(node: Scope) -> bool:
    repeats = ("overload", "setter", "deleter")
    if any(ast.unparse(d).endswith(repeats) for d in node.decorator_list):
        return False
    return not node.name.startswith("_") or node.name.endswith("__")


def undocumented(package: Path) -> list[str]:
    """Name what has no docstring; a class's tells what its `__init__` takes."""
    names = (d for d in public_definitions(package) if not d.docs[0])
    return [d.place for d in names if not d.place.endswith("__init__")]


def our_errors(package: Path) -> set[str]:
    """Collect `SimGPUError` and the classes of errors.py that derive from it."""
    names = {"SimGPUError"}
    for node in ast.parse((package / "errors.py").read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef) and names & set(map(ast.unparse, node.bases)):
            names.add(node.name)
    return names


def untold_errors(package: Path) -> list[str]:
    """Name the errors of ours that a public function raises and doesn't document."""
    ours = our_errors(package)
    return [
        f"{each.place} raises {name}"
        for each in public_definitions(package)
        if each.is_function
        for name in sorted(set(_raised(each.node)) & ours)
        if not re.search(rf"\b{name}\b", _raises_sections(each))
    ]


def _raised(node: ast.AST) -> Iterator[str]:
    """Yield the class names in the `raise` statements of a function's own body."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise) and child.exc is not None:
            kind = child.exc.func if isinstance(child.exc, ast.Call) else child.exc
            yield ast.unparse(kind).rpartition(".")[2]
        if not isinstance(child, Scope | ast.Lambda):
            yield from _raised(child)


def _raises_sections(each: Definition) -> str:
    docs = each.docs[:2] if each.place.endswith("__init__") else each.docs[:1]
    return "\n".join(match for doc in docs for match in RAISES.findall(doc))


def unsourced(package: Path) -> list[str]:
    """Name the public functions of arch/ and cost/ that name no source."""
    return [
        each.place
        for each in public_definitions(package)
        if each.is_function and each.place.split("/")[0] in SOURCED_ROOMS
        if "Source:" not in "\n".join(each.docs)
    ]


def banned_words(package: Path) -> list[str]:
    """Name the words in docstrings and comments that the glossary replaces."""
    return [
        f"{path.relative_to(package)}:{line} {word}: say {GLOSSARY[word.lower()]}"
        for path in python_files(package)
        for line, text in _prose(path)
        for word in BANNED.findall(text)
    ]


def _prose(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text("utf-8")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | Scope) and _doc(node):
            yield node.body[0].lineno, _doc(node)


@pytest.mark.parametrize(
    "complaints", [undocumented, untold_errors, unsourced, banned_words]
)
def test_package_documents_itself(complaints):
    found = complaints(PACKAGE)
    assert not found, "\n".join(found)


def test_a_public_name_without_docstring_is_found(make_package):
    text = "class A:\n def m(self): ...\n def _p(self): ...\ndef f():\n def g(): ...\n"
    found = undocumented(make_package({"units.py": text}))
    assert found == ["units.py", "units.py:1 A", "units.py:2 m", "units.py:4 f"]


def test_an_error_missing_from_raises_is_found(make_package):
    errors = "class SimGPUError(Exception): ...\nclass ShapeError(SimGPUError): ...\n"
    text = (
        'def told():\n    """Do.\n\n    Raises:\n        ShapeError: when.\n    """\n'
        "    raise ShapeError('a')\n"
        'def untold():\n    """Do; ShapeError is named, but not in its place."""\n'
        "    if x:\n        raise errors.ShapeError('a')\n    raise ValueError\n"
        "def _private():\n    raise ShapeError('a')\n"
    )
    found = untold_errors(make_package({"errors.py": errors, "units.py": text}))
    assert found == ["units.py:8 untold raises ShapeError"]


def test_a_rule_without_source_is_found(make_package):
    files = {
        "cost/a.py": "def f(): ...\n",
        "cost/b.py": '"""Rules.\n\nSource: a guide.\n"""\ndef f(): ...\n',
        "library/c.py": "def f(): ...\n",
    }
    assert unsourced(make_package(files)) == ["cost/a.py:1 f"]


def test_a_banned_word_is_found_in_prose_only(make_package):
    text = '"""A shader."""\nnp.errstate(invalid="ignore")  # Invalid values\n'
    found = banned_words(make_package({"units.py": text}))
    assert [f.split(":")[1] for f in found] == ["2 Invalid", "1 shader"]
