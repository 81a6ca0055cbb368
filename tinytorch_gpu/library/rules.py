"""Shape and dtype of what each shipped op gives: the one place that tells them.

A rule takes what the op takes; of an array it asks shape and dtype only. Arrays follow
NumPy's result types. Python and NumPy scalars are weak, as PyTorch's are: they take the
arrays' dtype, and only a float beside integers or bools makes a float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.library.gathering_rules import GATHERING_RULES, real_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["RULES", "number_dtype", "promoted", "result_dtype"]

Dtype = np.dtype[Any]
BOOL, FLOAT32 = np.dtype(np.bool_), np.dtype(np.float32)
INT8 = np.dtype(np.int8)
INT64, FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)


def _is_array(value: Any) -> bool:
    return hasattr(value, "new_empty")


def result_dtype(*operands: Any) -> Dtype:
    """Return the dtype that an op of these operands computes in.

    Args:
        *operands: fakes and scalars.

    Example:
        >>> result_dtype(2.5, 1)
        dtype('float32')
    """
    arrays = [o.dtype for o in operands if _is_array(o)]
    return promoted(arrays, [o for o in operands if not _is_array(o)])


def promoted(arrays: Sequence[Dtype], scalars: Sequence[Any]) -> Dtype:
    """Return the dtype that arrays of some dtypes, and scalars, are computed in.

    Args:
        arrays: the dtypes of the arrays.
        scalars: Python and NumPy scalars.

    Example:
        >>> promoted([INT64], [0.5]), promoted([FLOAT32], [np.float64(0.5)])
        (dtype('float32'), dtype('float32'))
    """
    kinds = [np.result_type(scalar).kind for scalar in scalars]
    common = np.result_type(*arrays) if arrays else BOOL
    if "f" in kinds and common.kind != "f":
        return FLOAT32
    return INT64 if common == BOOL and {"i", "u"} & set(kinds) else common


def number_dtype(dtype: Dtype) -> Dtype:
    """Return the dtype of arithmetic that has no bool form: of bools int8, as NumPy.

    Args:
        dtype: of the operands.

    Example:
        >>> number_dtype(BOOL), number_dtype(FLOAT32)
        (dtype('int8'), dtype('float32'))
    """
    return INT8 if dtype == BOOL else dtype


def _shape(*operands: Any) -> tuple[int, ...]:
    return np.broadcast_shapes(*(o.shape for o in operands if _is_array(o)))


def _first(*operands: Any) -> Any:
    return next(o for o in operands if _is_array(o))


def _made(operands: Sequence[Any], dtype: Dtype, out: Any) -> Any:
    """Return `out` as it is, or a new array of the operands' common shape."""
    return _first(*operands).new_empty(_shape(*operands), dtype) if out is None else out


def _arithmetic(x: Any, y: Any, out: Any = None) -> Any:
    return _made((x, y), result_dtype(x, y), out)


def _quotient(x: Any, y: Any, out: Any = None) -> Any:
    return _made((x, y), number_dtype(result_dtype(x, y)), out)


def _division(x: Any, y: Any, out: Any = None) -> Any:
    dtype = result_dtype(x, y)
    if dtype.kind != "f":
        dtype = FLOAT64 if _is_array(x) and _is_array(y) else FLOAT32
    return _made((x, y), dtype, out)


def _comparison(x: Any, y: Any, out: Any = None) -> Any:
    return _made((x, y), BOOL, out)


def _question(x: Any, out: Any = None) -> Any:
    return _made((x,), BOOL, out)


def _same(x: Any, out: Any = None) -> Any:
    return _made((x,), x.dtype, out)


def _rounded(x: Any, decimals: int = 0, out: Any = None) -> Any:
    del decimals
    return _made((x,), x.dtype, out)


def _reciprocal(x: Any, out: Any = None) -> Any:
    return _made((x,), number_dtype(x.dtype), out)


def _function(x: Any, out: Any = None) -> Any:
    return _made((x,), real_dtype(x.dtype), out)


def _where(condition: Any, x: Any, y: Any) -> Any:
    operands = (condition, x, y)
    return _made(operands, result_dtype(x, y), None)


def _copy(x: Any, dtype: Any = None, out: Any = None) -> Any:
    return _made((x,), x.dtype if dtype is None else np.dtype(dtype), out)


def _clamp(x: Any, min: Any = None, max: Any = None, out: Any = None) -> Any:  # noqa: A002
    limits = (limit for limit in (min, max) if limit is not None)
    return _made((x,), result_dtype(x, *limits), out)


def _like(position: int, *, is_real: bool = False) -> Callable[..., Any]:
    """Make the rule of a result that has the shape and dtype of an operand."""

    def rule(*operands: Any, **_: Any) -> Any:
        x = operands[position]
        return x.new_empty(x.shape, real_dtype(x.dtype) if is_real else x.dtype)

    return rule


def _likes(*positions: int) -> Callable[..., Any]:
    """Make the rule of several results, each as an operand."""
    return lambda *operands, **_: tuple(
        operands[i].new_empty(operands[i].shape) for i in positions
    )


def _gradient(grad: Any, kept: Any, **_: Any) -> Any:
    return grad.new_empty(grad.shape, result_dtype(grad, kept))


def _reduction(dtype_of: Callable[[Dtype], Dtype]) -> Callable[..., Any]:
    """Make the rule of a reduction; a function tells its dtype from the operand's."""

    def rule(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        given = range(x.ndim) if axis is None else axis
        axes = {i % x.ndim for i in ((given,) if isinstance(given, int) else given)}
        lengths = [1 if i in axes else n for i, n in enumerate(x.shape)]
        kept = [n for i, n in enumerate(lengths) if keepdims or i not in axes]
        return x.new_empty(tuple(kept), dtype_of(x.dtype))

    return rule


def _sum_dtype(dtype: Dtype) -> Dtype:
    return dtype if dtype.kind == "f" else INT64


def _matmul(a: Any, b: Any) -> Any:
    rows = a.shape[-2:-1]  # none of a vector
    columns = b.shape[-1:] if b.ndim > 1 else ()
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    dtype = np.result_type(a.dtype, b.dtype)
    return a.new_empty((*batch, *rows, *columns), dtype)


def _loss(logits: Any, _targets: Any) -> Any:
    return logits.new_empty((), real_dtype(logits.dtype))


def _norm_backward(grad: Any, x: Any, weight: Any, *_: Any, **__: Any) -> Any:
    del grad
    by = weight.new_empty(weight.shape, real_dtype(x.dtype))
    return x.new_empty(x.shape, real_dtype(x.dtype)), by, by


def _running_sum(x: Any, dim: int = 0) -> Any:
    del dim
    return x.new_empty(x.shape, _sum_dtype(x.dtype))


def _dropout(x: Any, mask: Any, p: float = 0.5) -> Any:
    del mask, p
    return x.new_empty(x.shape, x.dtype if x.dtype.kind == "f" else FLOAT32)


def _masked_fill(x: Any, mask: Any, value: Any, out: Any = None) -> Any:
    del mask, value
    return _made((x,), x.dtype, out)


def _attention(q: Any, k: Any, v: Any, *_: Any, **__: Any) -> Any:
    batch = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    return q.new_empty((*batch, q.shape[-2], v.shape[-1]))


RULES: dict[str, Any] = {
    **GATHERING_RULES,
    **dict.fromkeys(("add", "sub", "mul", "pow", "maximum", "minimum"), _arithmetic),
    **dict.fromkeys(("gt", "ge", "lt", "le", "eq", "ne"), _comparison),
    **dict.fromkeys(("logical_and", "logical_or"), _comparison),
    **dict.fromkeys(("logical_not", "isfinite", "isnan"), _question),
    **dict.fromkeys(("neg", "abs", "square", "relu", "sign"), _same),
    **dict.fromkeys(("floor", "ceil", "trunc"), _same),
    **dict.fromkeys(("exp", "log", "sqrt", "sigmoid", "tanh", "gelu"), _function),
    **dict.fromkeys(("sin", "cos", "log1p", "expm1"), _function),
    **dict.fromkeys(("floor_divide", "remainder"), _quotient),
    **dict.fromkeys(("div", "logaddexp"), _division),
    **dict.fromkeys(("sum", "prod"), _reduction(_sum_dtype)),
    **dict.fromkeys(("max", "min"), _reduction(lambda dtype: dtype)),
    **dict.fromkeys(("argmax", "argmin"), _reduction(lambda _: INT64)),
    **dict.fromkeys(("softmax", "log_softmax"), _like(0, is_real=True)),
    **dict.fromkeys(("batch_norm", "layer_norm"), _like(0, is_real=True)),
    **dict.fromkeys(("batch_norm_backward", "layer_norm_backward"), _norm_backward),
    **dict.fromkeys(
        ("softmax_backward", "log_softmax_backward"), _like(0, is_real=True)
    ),
    **dict.fromkeys(
        ("relu_backward", "sigmoid_backward", "tanh_backward", "gelu_backward"),
        _gradient,
    ),
    **dict.fromkeys(("fused_sgd", "fused_adam", "fused_adamw"), _like(0)),
    **dict.fromkeys(("index_put", "scatter_add", "fill", "tril", "triu"), _like(0)),
    **dict.fromkeys(("matmul", "bmm"), _matmul),
    **dict.fromkeys(("dropout", "dropout_backward"), _dropout),
    "round": _rounded,
    "reciprocal": _reciprocal,
    "where": _where,
    "copy": _copy,
    "clamp": _clamp,
    "clamp_backward": _like(0),
    "mean": _reduction(real_dtype),
    "cross_entropy": _loss,
    "cross_entropy_backward": _like(1, is_real=True),
    "cumsum": _running_sum,
    "masked_fill": _masked_fill,
    "scaled_dot_product_attention": _attention,
    "scaled_dot_product_attention_backward": _likes(1, 2, 3),
}
