"""Schemas: which ops there are, and what they take.

An op is named as in PyTorch, within the namespace `tinytorch`. `define` adds one; the
shipped ones stand in `SHIPPED`.
"""

from __future__ import annotations

import difflib

from tinytorch_gpu.errors import DuplicateKernelError, OpNotFoundError

__all__ = ["define", "defined", "parameters_of", "qualified", "schema_of"]

SHIPPED = """
add(x, y, out=None)            sub(x, y, out=None)          mul(x, y, out=None)
div(x, y, out=None)            pow(x, y, out=None)          maximum(x, y, out=None)
minimum(x, y, out=None)        gt(x, y, out=None)           ge(x, y, out=None)
lt(x, y, out=None)             le(x, y, out=None)           eq(x, y, out=None)
ne(x, y, out=None)             where(condition, x, y)       neg(x, out=None)
exp(x, out=None)               log(x, out=None)             sqrt(x, out=None)
abs(x, out=None)               square(x, out=None)          relu(x, out=None)
sigmoid(x, out=None)           tanh(x, out=None)            gelu(x, out=None)
logical_not(x, out=None)       isfinite(x, out=None)        fill(out, value)
copy(x, dtype=None, out=None)  softmax(x, dim=-1)           log_softmax(x, dim=-1)
sum(x, axis=None, keepdims=False)                   mean(x, axis=None, keepdims=False)
max(x, axis=None, keepdims=False)                   min(x, axis=None, keepdims=False)
matmul(a, b)                   cross_entropy(logits, targets)
relu_backward(grad, x)         sigmoid_backward(grad, output)
tanh_backward(grad, output)    gelu_backward(grad, x)
softmax_backward(grad, output, dim=-1)
log_softmax_backward(grad, output, dim=-1)
cross_entropy_backward(grad, logits, targets)
"""


def _shipped() -> dict[str, str]:
    """Read SHIPPED into qualified name → parameters."""
    calls = SHIPPED.replace(")", ")\n").split("\n")
    pairs = (call.strip().split("(", 1) for call in calls if call.strip())
    return {f"tinytorch::{name}": f"({rest}" for name, rest in pairs}


_schemas = _shipped()


def define(qualname: str, parameters: str) -> None:
    """Add an op.

    Args:
        qualname: `"namespace::name"`.
        parameters: its parameters as in a `def`, for example `"(x, y)"`.

    Raises:
        DuplicateKernelError: the op exists with other parameters.
        OpNotFoundError: the name has no namespace.

    Example:
        >>> define("lesson::double", "(x)")
        >>> schema_of("lesson::double")
        '(x)'
    """
    if "::" not in qualname:
        raise OpNotFoundError(
            f"the op name {qualname!r} has no namespace",
            where="library.define",
            why="an op is named namespace::name",
            fix=f'library.define("mine::{qualname}", "{parameters}")',
        )
    if _schemas.get(qualname, parameters) != parameters:
        raise DuplicateKernelError(
            f"op `{qualname}` is defined already, with other parameters",
            where="library.define",
            why=f"{_schemas[qualname]} is there, {parameters} was given",
            fix="choose another name, or the same parameters",
        )
    _schemas[qualname] = parameters


def schema_of(qualname: str) -> str:
    """Return an op's parameters.

    Raises:
        OpNotFoundError: no op has that name.

    Example:
        >>> schema_of("tinytorch::softmax")
        '(x, dim=-1)'
    """
    if qualname in _schemas:
        return _schemas[qualname]
    near = difflib.get_close_matches(qualname, _schemas, n=3)
    raise OpNotFoundError(
        f"no op is named {qualname!r}",
        where="library",
        why=f"{len(_schemas)} ops are defined"
        + (", nearest: " + ", ".join(near) if near else ""),
        fix=f'write "{near[0]}"'
        if near
        else 'add it: library.define("mine::op", "(x)")',
        op=qualname,
    )


def defined() -> frozenset[str]:
    """Return the names of all ops."""
    return frozenset(_schemas)


def parameters_of(qualname: str) -> str:
    """Return an op's parameters, "" if it is not defined."""
    return _schemas.get(qualname, "")


def qualified(name: str) -> str:
    """Return the name with the namespace `tinytorch` if it has none.

    Example:
        >>> qualified("add")
        'tinytorch::add'
    """
    return name if "::" in name else f"tinytorch::{name}"
