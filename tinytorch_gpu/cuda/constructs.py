"""Constructs of Python that kernels do not know, named, with what to write instead."""

from __future__ import annotations

import ast

__all__ = ["construct_of"]

LOOP = "write a `for` loop that stores into an array"
ARRAY = "make an array: cuda.local.array(4, float32), or use a tuple"
OUTSIDE = "do it on the host, and pass what the kernel needs as an argument"
FUNCTION = "write a @cuda.jit(device=True) function outside, and call it"
REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.ListComp: ("a list comprehension", LOOP),
    ast.SetComp: ("a set comprehension", LOOP),
    ast.DictComp: ("a dict comprehension", LOOP),
    ast.GeneratorExp: ("a generator expression", LOOP),
    ast.List: ("a list", ARRAY),
    ast.Set: ("a set", ARRAY),
    ast.Dict: ("a dict", ARRAY),
    ast.JoinedStr: ("an f-string", 'print the parts: print("x", x[i])'),
    ast.NamedExpr: ("`:=`", "give the assignment a line of its own"),
    ast.Lambda: ("a lambda", FUNCTION),
    ast.Await: ("`await`", OUTSIDE),
    ast.Yield: ("`yield`", OUTSIDE),
    ast.YieldFrom: ("`yield from`", OUTSIDE),
    ast.Starred: ("`*`", "write the elements out"),
    ast.Try: ("`try`", "test for the bad case with `if`"),
    ast.With: ("`with`", OUTSIDE),
    ast.FunctionDef: ("a function defined in it", FUNCTION),
    ast.ClassDef: ("a class defined in it", OUTSIDE),
    ast.Import: ("an import", "import at the top of the file"),
    ast.ImportFrom: ("an import", "import at the top of the file"),
    ast.Delete: ("`del`", "leave it out: nothing in a kernel is freed"),
    ast.Global: ("`global`", "pass an array as an argument, and write to it"),
    ast.Nonlocal: ("`nonlocal`", "pass an array as an argument, and write to it"),
    ast.Match: ("`match`", "write `if` and `elif`"),
}


def construct_of(node: ast.AST) -> tuple[str, str]:
    """Return what to call a construct in an error, and what to write instead.

    Args:
        node: an expression or statement that kernels do not know.

    Example:
        >>> construct_of(ast.parse("[1, 2]").body[0].value)[0]
        'a list in a kernel'
    """
    name, fix = REFUSED.get(type(node), (f"a {type(node).__name__}", ""))
    return f"{name} in a kernel", fix
