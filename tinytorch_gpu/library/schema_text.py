"""The text of a schema: parameters as in a `def`, or typed as PyTorch writes them.

Comes in: `"(Tensor x, *, float by=2.0) -> Tensor"`. Goes out: `"(x, *, by=2.0)"`, text
that Python reads as parameters, and from that what a call has to bring at least.
"""

from __future__ import annotations

import ast
import re

from tinytorch_gpu.errors import SchemaError

__all__ = ["least_call", "plain_parameters"]

TYPES = (
    *("Tensor", "int", "float", "bool", "str", "complex", "Scalar", "SymInt"),
    *("ScalarType", "Device", "Layout", "MemoryFormat", "Generator"),
)
ALIAS = re.compile(r"\([a-z]!?\)")  # the `(a!)` of `Tensor(a!)`
ONE = rf"(?:{'|'.join(TYPES)})(?:\?|\[\d*\])*"  # int, Tensor?, int[2]
RESULT = rf"{ONE}(?:\s+\w+)?"
RESULTS = re.compile(rf"{RESULT}|\(\s*(?:{RESULT}(?:\s*,\s*{RESULT})*)?\s*\)")
TYPE = re.compile(ONE)
SCHEMA = re.compile(r"\s*\((.*?)\)\s*(?:->\s*(.*\S)\s*)?", re.DOTALL)


def plain_parameters(op: str, schema: str) -> str:
    """Return the parameters of a schema as in a `def`, without types and results.

    Args:
        op: the op's name, for the error.
        schema: as `define` takes it.

    Raises:
        SchemaError: it cannot be read.

    Example:
        >>> plain_parameters("lesson::op", "(Tensor x, int[] dims=[0, 1]) -> Tensor")
        '(x, dims=[0, 1])'
    """
    read = SCHEMA.fullmatch(schema) if isinstance(schema, str) else None
    if read is None:
        raise _unreadable(op, schema, "it is text: parameters within brackets")
    try:
        plain = f"({', '.join(map(_plain, _parts(read[1])))})"
        _check(plain)
        _check_results(read[2] or "()")
    except SyntaxError as error:
        raise _unreadable(op, schema, f"in a `def` Python says: {error.msg}") from None
    except ValueError as error:
        raise _unreadable(op, schema, str(error)) from None
    return plain


def least_call(parameters: str) -> tuple[list[str], dict[str, str]]:
    """Return what a call brings at least: operands in order, and others by name.

    Args:
        parameters: as in a `def`.

    Example:
        >>> least_call("(x, y, dim=-1, *, by)")
        (['x', 'y'], {'by': 'by'})
    """
    taken = _read(parameters)
    by_place = [each.arg for each in (*taken.posonlyargs, *taken.args)]
    operands = by_place[: len(by_place) - len(taken.defaults)]
    operands += [taken.vararg.arg] if taken.vararg else []
    named = zip(taken.kwonlyargs, taken.kw_defaults, strict=True)
    return operands, {each.arg: each.arg for each, value in named if value is None}


def _parts(text: str) -> list[str]:
    """Split at the commas that stand in no brackets and no quotes."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote or letter in "'\"":
            quote = letter if not quote else quote.replace(letter, "")
        elif letter in "([)]":
            depth += 1 if letter in "([" else -1
        if letter == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return parts if parts[-1].strip() else parts[:-1]  # Python takes a last comma


def _plain(part: str) -> str:
    """Drop the type before a parameter's name; `name` or `name=default` stays."""
    left, equals, default = part.partition("=")
    *types, name = ALIAS.sub("", left).split() or [""]
    if len(types) > 1 or not all(map(TYPE.fullmatch, types)):
        raise ValueError(
            f"{' '.join(types)!r} is no type; some are Tensor, Tensor?, int, int[], "
            "float, bool"
        )
    if name in TYPES:
        raise ValueError(f"the parameter of type {name} has no name")
    if not name.lstrip("*").isidentifier() and name not in ("*", "/"):
        raise ValueError(f"{name!r} is no name of a parameter")
    return f"{name}{equals}{default}"


def _check(parameters: str) -> None:
    """Refuse what Python does not read, and a default that is no plain value."""
    compile(f"def op{parameters}: pass", "<schema>", "exec")  # names twice, order
    taken = _read(parameters)
    for value in filter(None, (*taken.defaults, *taken.kw_defaults)):
        if not _is_value(value):
            raise ValueError(f"the default {ast.unparse(value)} is no plain value")


def _check_results(text: str) -> None:
    if not RESULTS.fullmatch(ALIAS.sub("", text)):
        raise ValueError(f"{text!r} is no result as Tensor, (Tensor, int) or ()")


def _is_value(node: ast.expr) -> bool:
    """Tell whether it is a literal, or a name as PyTorch's `Mean`."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        return True
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _read(parameters: str) -> ast.arguments:
    (function,) = ast.parse(f"def op{parameters}: pass").body
    return function.args  # type: ignore[attr-defined, no-any-return]


def _unreadable(op: str, schema: object, why: str) -> SchemaError:
    return SchemaError(
        f"the schema of op `{op}` cannot be read",
        where=f"library.define({op!r}, {schema!r})",
        why=why,
        fix=f'library.define("{op}", "(x, dim=-1)"), or with types\n'
        f'library.define("{op}", "(Tensor x, int dim=-1) -> Tensor")',
        op=op,
        schema=schema,
    )
