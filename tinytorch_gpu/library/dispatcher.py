"""The dispatcher: every op on device arrays comes through `call`.

Keys are asked in order: Autograd, Profiler (labels and records), SimGPU (a registered
kernel), Decompose (code whose parts come back here), CPU (only where allowed). What was
met on the way is recorded with what served the op, and with the error if one came.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import (
    DeviceMismatchError,
    MissingKernelError,
    OpRecursionError,
)
from tinytorch_gpu.library.keys import ORDER, DispatchKey
from tinytorch_gpu.library.recursion import Opened, check_is_no_circle
from tinytorch_gpu.library.registry import find, registered
from tinytorch_gpu.library.results import check_result
from tinytorch_gpu.library.routes import Route, route_of
from tinytorch_gpu.library.schema import defined, qualified
from tinytorch_gpu.library.uses import array_uses, use_of
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.memory.hooks import hooks
from tinytorch_gpu.runtime.device import current_device, using_device
from tinytorch_gpu.runtime.held import Held
from tinytorch_gpu.runtime.placement import check_no_host_array, common_device
from tinytorch_gpu.trace import OpRecord, Scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.runtime.device import Device
    from tinytorch_gpu.runtime.timeline import Timeline

__all__ = ["call"]

Given = tuple[tuple[Any, ...], dict[str, Any]]  # operands and parameters

BEFORE = (DispatchKey.AUTOGRAD, DispatchKey.PROFILER)

# Ops whose Autograd or Profiler function runs: calls of them begin at a later key.
_below: ContextVar[dict[str, tuple[int, Any, Any]]] = ContextVar("below", default={})  # noqa: B039
_opened: ContextVar[Opened] = ContextVar("opened", default=())


def call(
    qualname: str,
    *operands: Any,
    decomposition: Callable[[], Any] | None = None,
    host: Callable[..., Any] | None = None,
    autograd: str = "",
    **parameters: Any,
) -> Any:
    """Run an op.

    A function registered at Autograd or Profiler passes an op on by calling it again:
    within the function that call begins at the next key.

    Args:
        qualname: the op, for example `"tinytorch::add"`.
        *operands: device arrays, and scalars or 0-d host arrays. Host arrays alone go
            to the function registered for the CPU, if there is one.
        decomposition: the op's own code, for when there is no kernel.
        host: the op as a NumPy function, for the CPU fallback.
        autograd: what of TinyTorch's autograd calls, for example `Sigmoid.forward`.
        **parameters: what else the op takes (`dim`, `axis`, `out`, ...).

    Returns:
        What the kernel's function returns.

    Raises:
        DeviceMismatchError: a host array stands beside a device array, or arrays lie on
            different devices.
        MissingKernelError: nothing serves the op.
        OpRecursionError: its function calls the op again, and so on.

    Example:
        >>> from tinytorch_gpu import cuda, kernels
        >>> x = cuda.to_device(np.ones(3, np.float32))
        >>> call("tinytorch::add", x, x).copy_to_host().tolist()
        [2.0, 2.0, 2.0]
    """
    op = qualified(qualname)
    if any(isinstance(o, np.ndarray) for o in operands):
        operands = _scalars(operands)
        found = find(op, DispatchKey.CPU)
        if found is not None and _is_on_host(operands):
            return found.function(*operands, **parameters)
    given = operands, parameters
    device = _device(op, given, autograd)
    route = _route(op, decomposition, host)
    with using_device(device):
        if route.is_labelled:
            return _labelled(device.timeline, op, route, given, autograd)
        return _served(op, route, given)


def _route(
    op: str,
    decomposition: Callable[[], Any] | None,
    host: Callable[..., Any] | None,
) -> Route:
    """Ask the keys, from the first one, or from below the function that calls again."""
    first, below = 0, _below.get()
    if below and op in below:
        first, decomposition, host = below[op]
    route = route_of(op, first, decomposition, host)
    if route.key in BEFORE:
        return replace(route, function=_passing_on(op, route, decomposition, host))
    return route


def _labelled(
    timeline: Timeline,
    op: str,
    route: Route,
    given: Given,
    autograd: str,
) -> Any:
    """Run what serves an op: what it does gets the op's name, then comes a record."""
    parent, result, words = timeline.current_op, None, ""
    try:
        with timeline.op_scope(op) as scope:
            result = _served(op, route, given)
        found = route.found
        if found is not None and not found.is_shipped:
            check_result(op, result, *given, found)
    except BaseException as error:
        result, words = None, _in_words(error)
        raise
    finally:
        held = hooks.held if isinstance(hooks.held, Held) else None
        if timeline.listeners or held:  # else nobody would read it
            values, now = (*given, result), timeline.host_ns
            record = _record(parent, route, autograd, values, scope, now, words)
            if held is not None and held.device.timeline is timeline:
                held.add_op(record, values)
            else:
                timeline.add_op(record)
    return result


def _served(op: str, route: Route, given: Given) -> Any:
    """Let a route's function compute, within the ops that are open."""
    operands, parameters = given
    if route.function is None:
        raise _missing(op, operands, route)
    opened = _opened.get()
    check_is_no_circle(op, opened)
    token = _opened.set((*opened, (op, route)))
    try:
        return route.function(*operands, **parameters)
    except OpRecursionError as error:
        if op not in error.ops:
            raise
        raise error.with_traceback(None) from None  # of so many calls one is enough
    finally:
        _opened.reset(token)


def _tell_refused(
    op: str, given: Given, autograd: str, error: DeviceMismatchError
) -> None:
    """Record an op that was asked of no key."""
    timeline = current_device().timeline
    now, parent = timeline.host_ns, timeline.current_op
    scope = Scope(op, timeline.scope, is_op=True, start_ns=now)
    nowhere = Route(None, None, None, (), is_labelled=True)
    words, values = _in_words(error), (*given, None)
    timeline.add_op(_record(parent, nowhere, autograd, values, scope, now, words))


def _in_words(error: BaseException) -> str:
    """Tell an error in one line: its class, and what it says first."""
    said = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _record(
    parent: str,
    route: Route,
    autograd: str,
    values: tuple[tuple[Any, ...], dict[str, Any], Any],
    scope: Scope,
    end_ns: float,
    words: str,
) -> OpRecord:
    operands, parameters, result = values
    above = (("Autograd", f"TinyTorch: {autograd}"),) if autograd else ()
    return OpRecord(
        scope.name,
        parent,
        route.key.value if route.key and not words else "",
        route.found.source if route.found else None,
        tuple(o.shape for o in operands if isinstance(o, DeviceArray)),
        scope,
        end_ns,
        operands=use_of(operands),
        parameters=tuple((name, use_of(v)) for name, v in parameters.items()),
        results=array_uses(result),
        path=above + route.path,
        error=words,
    )


def _passing_on(
    op: str,
    route: Route,
    decomposition: Callable[[], Any] | None,
    host: Callable[..., Any] | None,
) -> Callable[..., Any]:
    """Wrap a function at Autograd or Profiler: its calls of the op begin below it."""
    function: Any = route.function
    keys: tuple[Any, ...] = ORDER
    rest = (1 + keys.index(route.key), decomposition, host)

    def wrapped(*operands: Any, **parameters: Any) -> Any:
        token = _below.set({**_below.get(), op: rest})
        try:
            return function(*operands, **parameters)
        finally:
            _below.reset(token)

    return wrapped


def _scalars(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the operands, 0-d host arrays as scalars."""
    return tuple(
        o[()] if isinstance(o, np.ndarray) and not o.ndim else o for o in operands
    )


def _is_on_host(operands: tuple[Any, ...]) -> bool:
    """Tell whether arrays are among the operands, and all of them on the host."""
    arrays = [o for o in operands if isinstance(o, (np.ndarray, DeviceArray))]
    return bool(arrays) and all(isinstance(o, np.ndarray) for o in arrays)


def _device(op: str, given: Given, autograd: str) -> Device:
    """Return the device that all arrays lie on; refuse host arrays.

    Raises:
        DeviceMismatchError: they do not; the refusal is recorded.
    """
    operands, parameters = given
    try:
        there = [o for o in operands if isinstance(o, DeviceArray)]
        host = [o.shape for o in operands if isinstance(o, np.ndarray)]
        check_no_host_array(op, there, host)
        return common_device(op, (*operands, parameters.get("out")))
    except DeviceMismatchError as error:
        _tell_refused(op, given, autograd, error)
        raise


def _missing(op: str, operands: tuple[Any, ...], route: Route) -> MissingKernelError:
    arrays = [f"{o.dtype} {o.shape}" for o in operands if isinstance(o, DeviceArray)]
    name = op.removeprefix("tinytorch::")
    letters = ", ".join("xyzuvw"[: len(operands)])
    define = "" if op in defined() else f'library.define("{op}", "({letters})")\n'
    asked = (f"{key} ({met})" if met else key for key, met in route.path)
    return MissingKernelError(
        f"op `{op}` has no kernel for device `simgpu`",
        where=f"operands: {', '.join(arrays) or 'none'}\n"
        f"looked up: {' → '.join(asked)}",
        why=f"{len(registered())} ops have kernels, this one has none",
        fix=f'write one and register it:\n{define}@library.impl("{op}", "simgpu")\n'
        f"or compute on the host: .cpu(); or library.allow_cpu_fallback({name!r})",
        op=op,
    )
