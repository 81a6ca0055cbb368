"""Routes: what a call of an op meets at the dispatch keys, and what serves it.

Comes in: an op, the key to begin at, and what the call brings for when there is no
kernel. Goes out: a `Route`. The way to SimGPU depends on the table of kernels only, so
it is kept until the table changes; where there is no kernel, the rest of the way is
found at each call.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.library.keys import ORDER, DispatchKey
from tinytorch_gpu.library.registry import ANY_OP, find, when_changed
from tinytorch_gpu.library.schema import qualified
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime import to_device, to_host

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.library.registration import Registration

__all__ = ["Path", "Route", "allow_cpu_fallback", "is_cpu_allowed", "route_of"]

Path = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Route:
    """Where a call goes.

    Args:
        key: the key that serves it; None if nothing does.
        function: what computes.
        found: the registered function, or None if it is the caller's own code.
        path: the keys that were asked, and what was met at each.
        is_labelled: the profiler labels what runs, and the op is recorded.
    """

    key: DispatchKey | None
    function: Callable[..., Any] | None
    found: Registration | None
    path: Path
    is_labelled: bool


_kept: dict[tuple[str, int], Route] = {}
when_changed(_kept.clear)
_cpu_allowed: set[str] = set()


def allow_cpu_fallback(qualname: str, *, allowed: bool = True) -> None:
    """Let the CPU compute an op that has no kernel, by copying there and back.

    Args:
        qualname: the op.
        allowed: False forbids it again.
    """
    change = _cpu_allowed.add if allowed else _cpu_allowed.discard
    change(qualified(qualname))


def is_cpu_allowed(op: str) -> bool:
    """Tell whether the CPU may serve an op."""
    return op in _cpu_allowed


def route_of(
    op: str,
    first: int,
    decomposition: Callable[[], Any] | None,
    host: Callable[..., Any] | None,
) -> Route:
    """Ask the keys in order.

    Args:
        op: qualified name.
        first: position of the first key to ask.
        decomposition: the op's own code.
        host: the op as a NumPy function.
    """
    route = _kept.get((op, first))
    if route is None:
        route = _kept[op, first] = _upper(op, first)
    if route.key is not None:
        return route
    return _lower(op, route, decomposition, host)


def _upper(op: str, first: int) -> Route:
    """Ask the keys whose answer depends on the table only: up to SimGPU."""
    path: Path = ()
    is_labelled = False
    for key in ORDER[first : ORDER.index(DispatchKey.DECOMPOSE)]:
        function, found, met = _asked(op, key)
        if function is not None:
            is_labelled |= key is DispatchKey.AUTOGRAD or key is DispatchKey.PROFILER
            return Route(key, function, found, (*path, (key.value, met)), is_labelled)
        if key is DispatchKey.PROFILER and found is None:
            is_labelled, met = True, ""
        if met != "empty" or key is DispatchKey.SIMGPU:
            path = (*path, (key.value, met))
    return Route(None, None, None, path, is_labelled)


def _lower(
    op: str,
    upper: Route,
    decomposition: Callable[[], Any] | None,
    host: Callable[..., Any] | None,
) -> Route:
    """Ask for code of further ops, then for the CPU where it is allowed."""
    decompose, cpu = DispatchKey.DECOMPOSE, DispatchKey.CPU
    function, found, met = _asked(op, decompose)
    if found is None and decomposition is not None:
        own, met = decomposition, "own code"
        function = lambda *_, **__: own()  # noqa: E731
    path = (*upper.path, (decompose.value, met))
    if function is not None:
        return Route(decompose, function, found, path, upper.is_labelled)
    function, found, met = _asked(op, cpu)
    if not is_cpu_allowed(op):
        function, met = None, "not allowed"
    elif found is None and host is not None:
        function, met = _quiet(host), "NumPy"
    path = (*path, (cpu.value, met))
    if function is None:
        return Route(None, None, None, path, upper.is_labelled)
    return Route(cpu, _through_host(op, function), found, path, upper.is_labelled)


def _asked(
    op: str, key: DispatchKey
) -> tuple[Callable[..., Any] | None, Registration | None, str]:
    """Return the function of an op at a key, its registration, and words on both."""
    found = find(op, key)
    if found is not None and not found.is_fallthrough:
        return found.function, found, str(found.source)
    fallback = None if found is not None else find(ANY_OP, key)
    if fallback is not None and not fallback.is_fallthrough:
        function = partial(fallback.function, op)
        return function, fallback, f"fallback {fallback.source}"
    passed = found or fallback
    return None, passed, "fallthrough" if passed else "empty"


def _through_host(op: str, host: Callable[..., Any]) -> Callable[..., Any]:
    """Make the fallback: copy operands to the host, compute, copy the result back."""
    reason = f"CPU fallback of {op}"

    def compute(*operands: Any, **parameters: Any) -> Any:
        values = [_on_host(o, reason) for o in operands]
        return to_device(np.asarray(host(*values, **parameters)), reason)

    return compute


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let NumPy give NaN and infinity without a warning, as the device does."""

    def compute(*values: Any, **parameters: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return function(*values, **parameters)

    return compute


def _on_host(value: Any, reason: str) -> Any:
    """Copy device arrays, and those in lists and tuples, to the host."""
    if isinstance(value, (list, tuple)):
        return type(value)(_on_host(v, reason) for v in value)
    return to_host(value, reason) if isinstance(value, DeviceArray) else value
