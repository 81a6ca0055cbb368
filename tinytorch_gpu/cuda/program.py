"""`DeviceProgram`: a device function rewritten for one list of argument types."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.cuda.captured import Captured

__all__ = ["PENDING", "DeviceProgram"]

PENDING: Any = object()


@dataclass(eq=False)
class DeviceProgram:
    """What a kernel calls to run a device function; filled while it is rewritten.

    Args:
        name: the function's name.
        parameters: names of its parameters.
        returned: dummy of what it returns; PENDING until a path is known to return.
        plain: the program without recording: `plain(batch, mask, *arguments)`.
        counted: the same, reporting to the batch's recorder.
        is_resumable: a generator that stops at barriers.
        is_cooperative: it holds a grid barrier.
        arrays: shape and dtype of each shared array, those of functions it calls too.
        has_arrays: it makes shared or local arrays, which each call has its own of.
        local_bytes: bytes of the local arrays that one thread makes in it.
        captured: names outside it and the functions it calls, as they were compiled.
        control: parameters that steer addresses or branches, and DATA.
        value_sources: parameters that the result depends on, and DATA.
    """

    name: str
    parameters: tuple[str, ...]
    returned: Any = PENDING
    plain: Callable[..., Any] | None = None
    counted: Callable[..., Any] | None = None
    is_resumable: bool = False
    is_cooperative: bool = False
    arrays: list[Any] = field(default_factory=list)
    has_arrays: bool = False
    local_bytes: int = 0
    captured: tuple[Captured, ...] = ()
    control: frozenset[str] = frozenset()
    value_sources: frozenset[str] = frozenset()
