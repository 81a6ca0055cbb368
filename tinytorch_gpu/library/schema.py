"""Schemas: which ops there are, and what they take.

An op is named as in PyTorch, within the namespace `tinytorch`. `define` adds one; the
shipped ones stand in `SHIPPED`.
"""

from __future__ import annotations

import difflib
import re

from tinytorch_gpu.errors import DuplicateKernelError, OpNotFoundError
from tinytorch_gpu.library.schema_text import plain_parameters

__all__ = ["define", "defined", "known_op", "qualified", "schema_of"]

NAME = re.compile(r"[^\W\d]\w*::[^\W\d]\w*(\.\w+)?")  # mine::add, mine::add.out

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
logical_and(x, y, out=None)    logical_or(x, y, out=None)   isnan(x, out=None)
floor(x, out=None)             ceil(x, out=None)            trunc(x, out=None)
round(x, decimals=0, out=None) sign(x, out=None)            reciprocal(x, out=None)
sin(x, out=None)               cos(x, out=None)             log1p(x, out=None)
expm1(x, out=None)             floor_divide(x, y, out=None) remainder(x, y, out=None)
logaddexp(x, y, out=None)
copy(x, dtype=None, out=None)  softmax(x, dim=-1)           log_softmax(x, dim=-1)
sum(x, axis=None, keepdims=False)                   mean(x, axis=None, keepdims=False)
prod(x, axis=None, keepdims=False)
max(x, axis=None, keepdims=False)                   min(x, axis=None, keepdims=False)
matmul(a, b)                   cross_entropy(logits, targets)
relu_backward(grad, x)         sigmoid_backward(grad, output)
tanh_backward(grad, output)    gelu_backward(grad, x)
softmax_backward(grad, output, dim=-1)
log_softmax_backward(grad, output, dim=-1)
cross_entropy_backward(grad, logits, targets)
conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, version="im2col")
conv2d_backward(grad, x, weight, stride=1, padding=0, dilation=1, version="im2col")
im2col(x, kernel_size, stride=1, padding=0, dilation=1)
col2im(cols, output_size, kernel_size, stride=1, padding=0, dilation=1)
max_pool2d(x, kernel_size, stride=None, padding=0, dilation=1)
max_pool2d_with_indices(x, kernel_size, stride=None, padding=0, dilation=1)
max_pool2d_with_indices_backward(grad, indices, input_shape)
avg_pool2d(x, kernel_size, stride=None, padding=0)
avg_pool2d_backward(grad, input_shape, kernel_size, stride=None, padding=0)
batch_norm(x, weight, bias, mean=None, var=None, eps=1e-5)
batch_norm_backward(grad, x, weight, mean=None, var=None, eps=1e-5, training=True)
layer_norm(x, weight, bias, eps=1e-5)
layer_norm_backward(grad, x, weight, eps=1e-5)
embedding(weight, indices)     embedding_backward(grad, indices, num_embeddings)
index_select(x, dim, index)    gather(x, dim, index)
index(x, indices)              index_put(x, indices, values, accumulate=False)
scatter_add(x, dim, index, src)                     flatnonzero(x)
cumsum(x, dim=0)               masked_fill(x, mask, value, out=None)
dropout(x, mask, p=0.5)        dropout_backward(grad, mask, p=0.5)
argmax(x, axis=None, keepdims=False)                argmin(x, axis=None, keepdims=False)
clamp(x, min=None, max=None, out=None)
clamp_backward(grad, x, min=None, max=None)
bmm(a, b)                      tril(x, diagonal=0)         triu(x, diagonal=0)
scaled_dot_product_attention(q, k, v, mask=None, scale=None, version="fused")
scaled_dot_product_attention_backward(grad, q, k, v, mask=None, scale=None)
fused_sgd(param, grad, buffer=None, lr=0.01, momentum=0.0, weight_decay=0.0)
fused_adam(param, grad, m, v, step, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-8,
 weight_decay=0.0)
fused_adamw(param, grad, m, v, step, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-8,
 weight_decay=0.01)
"""


def _shipped() -> dict[str, str]:
    """Read SHIPPED into qualified name → parameters."""
    calls = " ".join(SHIPPED.split()).replace(")", ")\n").split("\n")
    pairs = (call.strip().split("(", 1) for call in calls if call.strip())
    return {f"tinytorch::{name}": f"({rest}" for name, rest in pairs}


_schemas = _shipped()


def define(qualname: str, schema: str) -> None:
    """Add an op.

    Args:
        qualname: `"namespace::name"`.
        schema: its parameters as in a `def`, for example `"(x, dim=-1)"`; or with types
            as PyTorch writes them: `"(Tensor x, int dim=-1) -> Tensor"`.

    Raises:
        DuplicateKernelError: the op exists with other parameters.
        OpNotFoundError: the name has no namespace, or is no name.
        SchemaError: the schema cannot be read.

    Example:
        >>> define("lesson::double", "(Tensor x, *, float by=2.0) -> Tensor")
        >>> schema_of("lesson::double")
        '(x, *, by=2.0)'
    """
    if not isinstance(qualname, str) or not NAME.fullmatch(qualname):
        short = qualname if str(qualname).isidentifier() else "op"
        raise OpNotFoundError(
            f"{qualname!r} is no op's name, or has no namespace",
            where=f"library.define({qualname!r}, ...)",
            why="an op is named namespace::name, two names as Python's",
            fix=f'library.define("mine::{short}", "{schema}")',
        )
    parameters = plain_parameters(qualname, schema)
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
    if isinstance(qualname, str) and qualname in _schemas:
        return _schemas[qualname]
    near = difflib.get_close_matches(str(qualname), _schemas, n=3)
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


def qualified(name: str) -> str:
    """Return the name with the namespace `tinytorch` if it has none.

    Example:
        >>> qualified("add")
        'tinytorch::add'
    """
    return name if "::" in name else f"tinytorch::{name}"


def known_op(name: str) -> str:
    """Return the qualified name of an op that is defined.

    Raises:
        OpNotFoundError: no op has that name.

    Example:
        >>> known_op("add")
        'tinytorch::add'
    """
    op = qualified(name) if isinstance(name, str) else name
    schema_of(op)
    return op
