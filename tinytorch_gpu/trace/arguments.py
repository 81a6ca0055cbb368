"""The arrays among a launch's arguments, also those within tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["named_arrays"]


def named_arrays(arguments: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the arrays among the arguments of a launch, each with its name.

    Args:
        arguments: what each parameter got: arrays as kernels see them, scalars, or
            tuples of these.

    Yields:
        Name and array; an array within a tuple is `name[0]`.

    Example:
        >>> list(named_arrays({"n": 3, "pair": (1.0, 2.0)}))
        []
    """
    for name, value in arguments.items():
        if isinstance(value, tuple):
            parts = {f"{name}[{i}]": part for i, part in enumerate(value)}
            yield from named_arrays(parts)
        elif hasattr(value, "storage"):
            yield name, value
