"""np.einsum on device arrays: one or two operands, as views, products and sums.

Two operands become one stack of matrix products: letters in both and in the result are
the batch, letters in both and not in the result are summed, the others are rows and
columns. One operand becomes a sum and a permuted view.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import ShapeError, UnsupportedError
from tinytorch_gpu.library.dispatcher import call

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["einsum"]


def einsum(subscripts: str, *operands: DeviceArray) -> DeviceArray:
    """Sum products over the letters that the result does not have.

    Args:
        subscripts: for example `"bij,bjk->bik"`, with an arrow, no letter twice in one
            operand, and no dots.
        *operands: one or two device arrays.

    Raises:
        UnsupportedError: another form.
        ShapeError: a letter has two lengths, or an operand another number of axes.

    Example:
        >>> import numpy as np
        >>> from tinytorch_gpu import cuda, kernels
        >>> a = cuda.to_device(np.float32([[1, 2], [3, 4]]))
        >>> einsum("ij,ij->i", a, a).copy_to_host().tolist()
        [5.0, 25.0]
    """
    terms, result = _parsed(subscripts, operands)
    lengths = _lengths(subscripts, terms, operands)
    reduced = [
        _summed(operand, term, set(result).union(*terms[:i], *terms[i + 1 :]))
        for i, (operand, term) in enumerate(zip(operands, terms, strict=True))
    ]
    (x, letters), *others = reduced
    for y, more in others:
        x, letters = _product(x, letters, y, more, result, lengths)
    return _arranged(x, letters, result)


def _parsed(
    subscripts: Any, operands: tuple[DeviceArray, ...]
) -> tuple[list[str], str]:
    text = subscripts.replace(" ", "") if isinstance(subscripts, str) else ""
    inputs, arrow, result = text.partition("->")
    terms = inputs.split(",")
    is_simple = all(t.isalpha() and len(set(t)) == len(t) for t in terms)
    is_known = set(result) <= set(inputs) and len(set(result)) == len(result)
    if arrow and is_simple and is_known and len(terms) == len(operands) <= 2:
        return terms, result
    raise UnsupportedError(
        f"np.einsum of {subscripts!r} on device arrays",
        where=f"np.einsum with {len(operands)} operands",
        why="one or two operands, an arrow, no dots, no letter twice in one operand",
        fix="write it as two steps, or with matmul and sum",
    )


def _lengths(
    subscripts: str, terms: list[str], operands: tuple[DeviceArray, ...]
) -> dict[str, int]:
    lengths: dict[str, int] = {}
    shapes = tuple(o.shape for o in operands)
    for term, shape in zip(terms, shapes, strict=True):
        fits = len(term) == len(shape)
        pairs = zip(term, shape, strict=True) if fits else ()
        if not fits or any(lengths.setdefault(c, n) != n for c, n in pairs):
            named = " and ".join(map(str, shapes))
            raise ShapeError(
                f"np.einsum of {subscripts!r} on shapes {named}",
                where="np.einsum",
                why="every axis has a letter, and every letter one length",
                fix="transpose or reshape the operands to fit",
                shapes=shapes,
            )
    return lengths


def _summed(x: DeviceArray, letters: str, kept: set[str]) -> tuple[DeviceArray, str]:
    """Sum over the letters that nobody else has."""
    axes = tuple(i for i, c in enumerate(letters) if c not in kept)
    if not axes:
        return x, letters
    return call("sum", x, axis=axes), "".join(c for c in letters if c in kept)


def _product(
    x: DeviceArray,
    letters: str,
    y: DeviceArray,
    more: str,
    result: str,
    lengths: dict[str, int],
) -> tuple[DeviceArray, str]:
    """Multiply as (batch, rows, summed) @ (batch, summed, columns)."""
    batch = "".join(c for c in letters if c in more and c in result)
    inner = "".join(c for c in letters if c in more and c not in result)
    rows = "".join(c for c in letters if c not in more)
    columns = "".join(c for c in more if c not in letters)
    shape = [
        math.prod(lengths[c] for c in part) for part in (batch, rows, inner, columns)
    ]
    left = _arranged(x, letters, batch + rows + inner).reshape(shape[:3])
    right = _arranged(y, more, batch + inner + columns)
    right = right.reshape(shape[0], *shape[2:])
    product: DeviceArray = call("matmul", left, right)
    names = batch + rows + columns
    return product.reshape(tuple(lengths[c] for c in names)), names


def _arranged(x: DeviceArray, letters: str, wanted: str) -> DeviceArray:
    """Permute the axes: a view."""
    return x.transpose(tuple(letters.index(c) for c in wanted)) if x.ndim else x
