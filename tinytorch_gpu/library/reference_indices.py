"""References of ops with indices: what is taken, put and counted; NumPy, in float64."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.library.cases import (
    SUMMED,
    Case,
    Given,
    OpFacts,
    case,
    real,
    single,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["INDICES"]

PLACES = np.array([[1, -1, 0], [3, 2, -4]])
MANY = np.arange(1100) * 7 % 40  # more than the threads of a block


def _select_cases() -> Iterator[Case]:
    for dim in (0, 1, -1):
        yield case(real((4, 5, 4)), dim, PLACES)
    yield Case((Given(real((5, 4)), lambda a: a.T, "transposed"), 0, Given(PLACES)))
    yield case(real((4, 80)), 0, np.array([2, 2, 0]))
    yield case(np.arange(8, dtype=np.int32).reshape(2, 4), 1, np.array([3, 0]))
    yield case(real((40, 7)), 0, MANY)
    yield case(real((7, 40)), 1, MANY)
    yield case(real((4, 3)), 0, np.zeros(0, np.int64))


def _gather_cases() -> Iterator[Case]:
    for dim in (0, 1, -1):
        lengths = [4, 5, 6]
        lengths[dim] = 9
        places = np.arange(np.prod(lengths)).reshape(lengths) % [4, 5, 6][dim]
        yield case(real((4, 5, 6)), dim, places)
    yield case(real((40, 2)), 0, np.stack([MANY, MANY[::-1]], 1))


def _scatter_cases() -> Iterator[Case]:
    for given in _gather_cases():
        source = whole(given.operands[2].base.shape)
        yield Case((*given.operands, Given(source)))
    yield case(real((3,)), 0, np.array([1, 0, 1]), real((3,), seed=1))


def _scatter_add(x: Any, dim: int, index: Any, src: Any) -> Any:
    out = x.copy()
    at: list[Any] = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    at[dim] = index
    np.add.at(out, tuple(at), src)
    return out


def _key(indices: Any) -> Any:
    return tuple(slice(None) if i is None else i for i in indices)


def _index_cases() -> Iterator[Case]:
    row = PLACES[0]
    for indices in ((PLACES,), (None, PLACES), (PLACES, None, PLACES), (PLACES, row)):
        yield case(real((4, 5, 4)), indices)
    yield case(real((40, 7)), (MANY,))
    yield case(np.arange(5, dtype=np.int32), (PLACES,))


def _put_cases() -> Iterator[Case]:
    rows = np.array([0, 3, -2])
    yield case(real((4, 3)), (rows,), real((3, 3), seed=1))
    yield case(real((4, 6)), (None, rows), real((4, 3), seed=1))
    yield case(real((1100, 3)), (np.arange(1100)[::-1],), real((1100, 3), seed=1))
    twice = np.array([2, 2, 0])
    yield case(real((4,)), (twice,), real((3,), seed=1), accumulate=True)


def _index_put(x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    if accumulate:
        np.add.at(x, _key(indices), values)
    else:
        x[_key(indices)] = values
    return x


def _embedding_cases(*, backward: bool) -> Iterator[Case]:
    several = np.array([[0, 2], [2, 1]])
    for indices in (np.array([1]), several, single([2, 0]), MANY % 3):
        if backward:
            grad = whole((*indices.shape, 40))
            yield case(grad, indices, num_embeddings=3)
        else:
            yield case(real((3, 40)), indices)


def _embedding_backward(grad: Any, indices: Any, num_embeddings: int) -> Any:
    out = np.zeros((num_embeddings, grad.shape[-1]))
    np.add.at(out, indices.astype(int), grad)
    return out


def _nonzero_cases() -> Iterator[Case]:
    yield case(single([0, 1, 0, 2]))
    yield case(real((5, 40)) > 0)
    yield case(np.zeros(3, np.float32))
    yield case(single([np.nan, -0.0, 1e-40, 0]))
    yield case(real((4097,)) > 0)
    yield case(np.zeros(0, np.float32))


INDICES: dict[str, OpFacts] = {
    "index_select": OpFacts(
        lambda x, dim, index: np.take(x, index.astype(int), dim), _select_cases
    ),
    "gather": OpFacts(
        lambda x, dim, index: np.take_along_axis(x, index, dim), _gather_cases
    ),
    "scatter_add": OpFacts(_scatter_add, _scatter_cases, slack=SUMMED),
    "index": OpFacts(lambda x, indices: x[_key(indices)], _index_cases),
    "index_put": OpFacts(_index_put, _put_cases, mutates=(0,)),
    "embedding": OpFacts(
        lambda weight, indices: weight[indices.astype(int)],
        partial(_embedding_cases, backward=False),
    ),
    "embedding_backward": OpFacts(
        _embedding_backward, partial(_embedding_cases, backward=True)
    ),
    "flatnonzero": OpFacts(np.flatnonzero, _nonzero_cases),
}
