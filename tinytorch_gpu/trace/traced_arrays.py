"""`TracedArrays`: which array of the learner's source an access touches."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.trace.arguments import named_arrays
from tinytorch_gpu.trace.steps import TracedArray

if TYPE_CHECKING:
    from tinytorch_gpu.trace.recorder import Lanes, RecordedArray
    from tinytorch_gpu.trace.source import Site

__all__ = ["TracedArrays", "first_name"]

NAME = re.compile(r"\w+")
APART = 1 << 40  # bytes between the numbers that stand for local and constant arrays


class TracedArrays:
    """The arrays of one launch: its parameters first, then those that it touches.

    Global arrays are told by the parameter that they come from, whatever a device
    function or a view calls them; others by the name that is spelled first.

    Args:
        arguments: what each parameter got.
    """

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._parameters = [
            (array.storage, _traced(name, array))
            for name, array in named_arrays(arguments)
        ]
        self._others: dict[Any, TracedArray] = {}
        self._known: dict[Site, tuple[Any, Any, TracedArray]] = {}

    @property
    def all(self) -> tuple[TracedArray, ...]:
        """All arrays, the parameters first."""
        parameters = (traced for _, traced in self._parameters)
        return (*parameters, *self._others.values())

    def of(self, batch: Lanes, site: Site, array: RecordedArray) -> TracedArray:
        """Return which array it is.

        Args:
            batch: the lanes, for its shared arrays.
            site: where the access stands.
            array: the array or a view of it.
        """
        known = self._known.get(site)
        if known is None or known[0] is not array or known[1] is not batch.shared:
            found = self._parameter(site, array) or self._other(batch, site, array)
            known = self._known[site] = (array, batch.shared, found)
        return known[2]

    def _parameter(self, site: Site, array: RecordedArray) -> TracedArray | None:
        """Return the parameter over the same memory: the same view, the same name."""
        name = first_name(site.expression)
        fitting = [
            (storage is array.storage, traced.name == name, -position)
            for position, (storage, traced) in enumerate(self._parameters)
            if array.space == "global" and traced.address == array.address
        ]
        return self._parameters[-max(fitting)[2]][1] if fitting else None

    def _other(self, batch: Lanes, site: Site, array: RecordedArray) -> TracedArray:
        """Return what stands for an array that is no parameter."""
        name = first_name(site.expression)
        made_at, whole = _whole(batch, name, array)
        address = array.address
        if array.space in ("local", "constant"):
            names = [key[1] for key in self._others]
            known = names.index(name) if name in names else len(names)
            address = (1 + known) * APART
        found = _traced(name, whole, address)
        key = (found.space, made_at, found.dtype, found.shape)
        return self._others.setdefault(key, found)


def first_name(expression: str) -> str:
    """Return the name that an expression begins with.

    Example:
        >>> first_name("tile[1]")
        'tile'
    """
    found = NAME.search(expression)
    return found.group() if found else expression


def _whole(batch: Lanes, name: str, array: RecordedArray) -> tuple[Any, Any]:
    """Return where an array of shared memory was made, and all of it.

    Of other arrays it is the name and the array itself.
    """
    if array.space == "shared":
        for made_at, whole in batch.shared.items():
            if getattr(whole, "storage", None) is array.storage:
                return made_at, whole
    return name, array


def _traced(name: str, array: Any, address: int | None = None) -> TracedArray:
    """Describe an array; one that begins elsewhere for each lane as one long row."""
    storage = array.storage
    length = len(storage)
    if array.space == "shared":
        length //= array.blocks
    shape, steps, offset = tuple(array.lengths), tuple(array.steps), array.offset
    is_row = np.ndim(offset) > 0 or any(np.ndim(part) for part in shape)
    if is_row or (array.space != "global" and math.prod(shape) != length):
        shape, steps, offset = (length,), (1,), 0
    return TracedArray(
        name=name,
        space=array.space,
        dtype=storage.dtype.name,
        shape=tuple(map(int, shape)),
        steps=tuple(map(int, steps)),
        offset=int(offset),
        address=int(array.address if address is None else address),
        length=length,
    )
