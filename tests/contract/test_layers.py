"""The floors of docs/architecture.md: imports go down, and nothing goes in circles.

A file imports from its own room, from a room on a lower floor, or from a room that
`FLOORS` lists before its own. Imports inside functions and under TYPE_CHECKING count.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from sizes import FLOORS, PACKAGE, python_files, room_of

RANKS = {room: rank for rank, room in enumerate(r for floor in FLOORS for r in floor)}
APART = [{"cuda", "triton"}]  # kernel languages: neither knows the other
LATE = {"matplotlib", "numba", "triton", "torch", "tinytorch"}
CONSTANTS = {"__all__", "__version__"}
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Import:
    """One imported module, by whom, and whether inside a function."""

    importer: str
    imported: str
    line: int
    inside: bool

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.imported}"


def modules(package: Path) -> dict[str, Path]:
    """Map the dotted names of a package's modules to their files."""
    paths = {
        p: p.relative_to(package.parent).with_suffix("") for p in python_files(package)
    }
    return {".".join(d.parts).removesuffix(".__init__"): p for p, d in paths.items()}


def imports_of(name: str, path: Path, known: dict[str, Path]) -> Iterator[Import]:
    """Yield a module's imports; `from a import b` is of a.b where that is a module."""
    parent = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node, inside in _import_nodes(ast.parse(path.read_text("utf-8")), inside=False):
        for imported in _names(node, parent, known):
            yield Import(name, imported, node.lineno, inside)


def _import_nodes(node: ast.AST, *, inside: bool) -> Iterator[tuple[ast.AST, bool]]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node, inside
    for child in ast.iter_child_nodes(node):
        yield from _import_nodes(child, inside=inside or isinstance(node, Function))


def _names(node: ast.AST, parent: str, known: dict[str, Path]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:  # relative: one dot is the parent, each further dot one more
        above = parent.split(".")[: len(parent.split(".")) - node.level + 1]
        base = ".".join([*above, *filter(None, [node.module])])
    submodules = [f"{base}.{alias.name}" for alias in node.names]
    return [s if s in known else base for s in submodules]


def upward(package: Path) -> list[str]:
    """Name the imports that go up, sideways between rooms apart, or to no floor."""
    known = modules(package)
    found = []
    for each in _all_imports(known):
        if each.imported.split(".")[0] != package.name:
            continue
        rooms = [_room(m, known, package) for m in (each.importer, each.imported)]
        if rooms[0] != rooms[1] and not _may_import(*rooms):
            found.append(f"{each}: {rooms[0]} may not import {rooms[1]}")
    return found


def _all_imports(known: dict[str, Path]) -> list[Import]:
    return [i for name, path in known.items() for i in imports_of(name, path, known)]


def _room(module: str, known: dict[str, Path], package: Path) -> str:
    return room_of(known[module], package) if module in known else f"nowhere ({module})"


def _may_import(importer: str, imported: str) -> bool:
    if importer not in RANKS or imported not in RANKS or {importer, imported} in APART:
        return False
    return RANKS[imported] < RANKS[importer]


def late(package: Path) -> list[str]:
    """Name the imports inside functions that belong at the top of the file."""
    found = [i for i in _all_imports(modules(package)) if i.inside]
    return [f"{i} late" for i in found if i.imported.split(".")[0] not in LATE]


def cycle(package: Path) -> list[str]:
    """Return one circle of modules that import each other, or nothing."""
    known = modules(package)
    graph: dict[str, set[str]] = {name: set() for name in known}
    for each in _all_imports(known):
        graph[each.importer].add(each.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def busy_inits(package: Path) -> list[str]:
    """Name the statements of `__init__` files that do more than re-export."""
    return [
        f"{path.relative_to(package)}:{node.lineno} {ast.unparse(node)[:60]}"
        for path in python_files(package)
        if path.name == "__init__.py"
        for node in ast.parse(path.read_text("utf-8")).body
        if not _re_exports(node)
    ]


def _re_exports(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {ast.unparse(t) for t in targets} <= CONSTANTS
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or isinstance(node, ast.Import | ast.ImportFrom)


@pytest.mark.parametrize("complaints", [upward, late, cycle, busy_inits])
def test_package_keeps_its_layers(complaints):
    found = complaints(PACKAGE)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "from tinytorch_gpu.cost import model",
        "import tinytorch_gpu.cost.model",
        "from tinytorch_gpu import cost",
        "from ..cost.model import x",
        "from ..cost import model",
        "def f():\n    from tinytorch_gpu.cost import model",
        "if TYPE_CHECKING:\n    from tinytorch_gpu.cost import model",
        "from tinytorch_gpu.cellar import wine",
    ],
)
def test_an_upward_import_is_found(make_package, text):
    files = {"__init__.py": "", "cost/__init__.py": "", "cost/model.py": ""}
    package = make_package({**files, "trace/source.py": text})
    (found,) = upward(package)
    assert found.startswith("tinytorch_gpu.trace.source:")


def test_a_downward_import_is_none(make_package):
    files = {"units.py": "import os", "cost/model.py": "from ..units import x"}
    assert upward(make_package(files)) == []


def test_rooms_apart_do_not_import_each_other(make_package):
    text = "from tinytorch_gpu.cuda import jit"
    package = make_package({"cuda/jit.py": "", "triton/jit.py": text})
    assert "triton may not import cuda" in upward(package)[0]


def test_a_room_on_no_floor_is_found(make_package):
    text = "from tinytorch_gpu import units"
    package = make_package({"units.py": "", "helpers.py": text})
    assert "helpers may not import units" in upward(package)[0]


def test_a_late_import_is_found_unless_it_is_allowed(make_package):
    text = "def f():\n    import numba\n    import torch.cuda\n    import json\n"
    assert late(make_package({"units.py": text})) == [
        "tinytorch_gpu.units:4 imports json late"
    ]


def test_a_circle_within_a_room_is_found(make_package):
    files = {"cost/a.py": "from tinytorch_gpu.cost import b", "cost/b.py": "import os"}
    assert cycle(make_package(files)) == []
    late_half = {"cost/b.py": "def f():\n    from .a import x"}
    found = cycle(make_package({**files, **late_half}))
    assert set(found) == {"tinytorch_gpu.cost.a", "tinytorch_gpu.cost.b"}


def test_a_busy_init_is_found(make_package):
    quiet = '"""Doc."""\nimport os\n__all__ = ["os"]\n__version__ = "1"\n'
    files = {"__init__.py": quiet, "cost/__init__.py": quiet + "limit = 3\n"}
    assert busy_inits(make_package(files)) == ["cost/__init__.py:5 limit = 3"]
