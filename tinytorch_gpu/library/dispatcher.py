"""The dispatcher: every op on device arrays comes through `call`.

Keys are asked in order: Autograd, Profiler (labels and records), SimGPU (a registered
kernel), Decompose (code whose parts come back here), CPU (only where allowed). What was
met on the way is recorded with what served the op.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import DeviceMismatchError, MissingKernelError
from tinytorch_gpu.library.keys import ORDER, DispatchKey
from tinytorch_gpu.library.registry import find, registered
from tinytorch_gpu.library.results import check_result
from tinytorch_gpu.library.routes import Path, Route, route_of
from tinytorch_gpu.library.schema import defined, qualified
from tinytorch_gpu.library.uses import array_uses, use_of
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime.device import using_device
from tinytorch_gpu.runtime.placement import common_device
from tinytorch_gpu.trace import OpRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.runtime.timeline import Timeline
    from tinytorch_gpu.trace import Scope

__all__ = ["call"]

BEFORE = (DispatchKey.AUTOGRAD, DispatchKey.PROFILER)

# Ops whose Autograd or Profiler function runs: calls of them begin at a later key.
_below: ContextVar[dict[str, tuple[int, Any, Any]]] = ContextVar("below", default={})  # noqa: B039


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

    Example:
        >>> from tinytorch_gpu import cuda, kernels
        >>> x = cuda.to_device(np.ones(3, np.float32))
        >>> call("tinytorch::add", x, x).copy_to_host().tolist()
        [2.0, 2.0, 2.0]
    """
    op = qualified(qualname)
    if any(isinstance(o, np.ndarray) for o in operands):
        operands = _scalars(operands)
        if any(isinstance(o, np.ndarray) for o in operands):
            return _of_host_arrays(op, operands, parameters)
    device = common_device(op, (*operands, parameters.get("out")))
    route = _route(op, decomposition, host)
    if route.function is None:
        raise _missing(op, operands, route)
    with using_device(device):
        if not route.is_labelled:
            return route.function(*operands, **parameters)
        return _labelled(device.timeline, op, route, operands, parameters, autograd)


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
    operands: tuple[Any, ...],
    parameters: dict[str, Any],
    autograd: str,
) -> Any:
    """Run what serves an op: what it does gets the op's name, then comes a record."""
    function: Any = route.function
    parent = timeline.current_op
    with timeline.op_scope(op) as scope:
        result = function(*operands, **parameters)
    found = route.found
    if found is not None and not found.is_shipped:
        check_result(op, result, operands, parameters, found)
    if timeline.listeners:  # else nobody would read it
        end_ns, given = timeline.host_ns, (operands, parameters, result)
        above = (("Autograd", f"TinyTorch: {autograd}"),) if autograd else ()
        timeline.add_op(_record(parent, route, above, given, scope, end_ns))
    return result


def _record(
    parent: str,
    route: Route,
    above: Path,
    values: tuple[tuple[Any, ...], dict[str, Any], Any],
    scope: Scope,
    end_ns: float,
) -> OpRecord:
    operands, parameters, result = values
    return OpRecord(
        scope.name,
        parent,
        route.key.value if route.key else "",
        route.found.source if route.found else None,
        tuple(o.shape for o in operands if isinstance(o, DeviceArray)),
        scope,
        end_ns,
        operands=use_of(operands),
        parameters=tuple((name, use_of(v)) for name, v in parameters.items()),
        results=array_uses(result),
        path=above + route.path,
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


def _of_host_arrays(
    op: str, operands: tuple[Any, ...], parameters: dict[str, Any]
) -> Any:
    """Run the CPU's function on host arrays; refuse them among device arrays."""
    on_device = [o for o in operands if isinstance(o, DeviceArray)]
    found = find(op, DispatchKey.CPU)
    if not on_device and found is not None:
        return found.function(*operands, **parameters)
    shapes = [np.shape(o) for o in operands if isinstance(o, np.ndarray)]
    raise DeviceMismatchError(
        f"op `{op}` got operands on different devices",
        where=f"{op}: simgpu:0 {[o.shape for o in on_device]}, cpu {shapes}",
        why="a kernel reads device memory only; a copy costs time and stays visible",
        fix='move the host operand first: y = y.to("simgpu")',
        op=op,
        shapes=tuple(shapes),
    )


def _missing(op: str, operands: tuple[Any, ...], route: Route) -> MissingKernelError:
    arrays = [f"{o.dtype} {o.shape}" for o in operands if isinstance(o, DeviceArray)]
    name = op.rpartition("::")[2]
    define = "" if op in defined() else f'library.define("{op}", "(x)"), then '
    asked = (f"{key} ({met})" if met else key for key, met in route.path)
    return MissingKernelError(
        f"op `{op}` has no kernel for device `simgpu`",
        where=f"operands: {', '.join(arrays) or 'none'}\n"
        f"looked up: {' → '.join(asked)}",
        why=f"{len(registered())} ops have kernels, this one has none",
        fix=f'write one and register it: {define}@library.impl("{op}", "simgpu");\n'
        f"or compute on the host: .cpu(); or library.allow_cpu_fallback({name!r})",
        op=op,
    )
