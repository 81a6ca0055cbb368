"""The scope of a variable is the suite within which an assignment needs no merge."""

import ast
import textwrap

import pytest

from tinytorch_gpu.cuda.rewrite_scopes import variable_scopes


def scopes(text):
    """Return for each variable the line at which its scope's suite starts."""
    source = "def k(x):\n" + textwrap.indent(textwrap.dedent(text).strip(), "    ")
    tree = ast.parse(source).body[0]
    suites = {}
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                suites[id(body)] = body[0].lineno - 1
    return {n: suites[i] for n, i in variable_scopes(tree).items()}


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("a = 1", "a", 1),
        ("if x:\n    a = 1\n    b = a", "a", 2),
        ("if x:\n    a = 1\nb = a", "a", 1),
        ("if x:\n    a = 1\nelse:\n    a = 2", "a", 1),
        ("if x:\n    pass\nelse:\n    a = 2\n    b = a", "a", 4),
        ("for k in range(3):\n    a = k\n    b = a", "a", 2),
        ("for k in range(3):\n    a = k\n    b = a", "k", 2),
        ("for k in range(3):\n    pass\nb = k", "k", 1),
        ("for k in range(3):\n    b = a\n    a = k", "a", 1),
        ("for k in range(3):\n    a += k", "a", 1),
        ("for k in range(3):\n    a = a + k", "a", 1),
        ("for k in range(3):\n    if k:\n        a = k\n    b = a", "a", 1),
        ("for k in range(3):\n    if k:\n        a = k\n        b = a", "a", 3),
        ("while a:\n    a = 1", "a", 1),
        ("while x:\n    a = 1\n    while a:\n        a = 0", "a", 2),
        (
            "for k in range(3):\n    for j in range(k):\n        a = j\n    b = a",
            "a",
            1,
        ),
        (
            "for k in range(3):\n    a = 0\n    for j in range(k):\n        a += j",
            "a",
            2,
        ),
        ("for k in range(3):\n    pass\nelse:\n    a = 1\n    b = a", "a", 4),
        ("x = 1", "x", 1),
        ("if x:\n    x = 1", "x", 1),
    ],
)
def test_scopes(text, name, line):
    assert scopes(text)[name] == line
