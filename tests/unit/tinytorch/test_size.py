"""The embedded core stays small enough to be read in an afternoon."""

import ast
import tokenize
from pathlib import Path

from tinytorch_gpu import tinytorch

SKIPPED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def docstring_lines(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield from range(first.lineno, first.end_lineno + 1)


def code_lines(path):
    """Count the lines that hold code: no blank lines, comments or docstrings."""
    with path.open("rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    used = {
        line
        for token in tokens
        if token.type not in SKIPPED
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(used - set(docstring_lines(ast.parse(path.read_text()))))


def test_counting_code_lines(tmp_path):
    path = tmp_path / "example.py"
    path.write_text(
        '"""Doc."""\n\n# comment\nx = 1\n\n\ndef f():\n    """Doc."""\n    return x\n'
    )
    assert code_lines(path) == 3


# What an MLP needs is the core; the layers of larger models are read when one is built.
LARGER = {
    "attention.py",
    "embeddings.py",
    "spatial.py",
    "transformers.py",
    "windows.py",
}


def test_the_core_has_fewer_than_1000_lines_of_code():
    files = Path(tinytorch.__file__).parent.glob("*.py")
    assert sum(code_lines(f) for f in files if f.name not in LARGER) < 1000


def test_the_larger_layers_have_fewer_than_500_lines_of_code():
    folder = Path(tinytorch.__file__).parent
    assert sum(code_lines(folder / name) for name in LARGER) < 500
