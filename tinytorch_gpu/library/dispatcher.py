"""The dispatcher: every op on device arrays comes through `call`.

Keys are asked in order: SimGPU (a registered kernel), Decompose (the op's own NumPy
code, whose parts come back here), CPU (only where allowed). What served the op is
recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import DeviceMismatchError, MissingKernelError
from tinytorch_gpu.library.keys import DispatchKey
from tinytorch_gpu.library.registry import Registration, find, registered
from tinytorch_gpu.library.results import check_result
from tinytorch_gpu.library.schema import defined, qualified
from tinytorch_gpu.library.uses import array_uses, use_of
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime import to_device, to_host
from tinytorch_gpu.runtime.device import using_device
from tinytorch_gpu.runtime.placement import common_device
from tinytorch_gpu.trace import OpRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.trace import Scope

__all__ = ["allow_cpu_fallback", "call"]

_cpu_allowed: set[str] = set()


def allow_cpu_fallback(qualname: str, *, allowed: bool = True) -> None:
    """Let the CPU compute an op that has no kernel, by copying there and back.

    Args:
        qualname: the op.
        allowed: False forbids it again.
    """
    change = _cpu_allowed.add if allowed else _cpu_allowed.discard
    change(qualified(qualname))


def call(
    qualname: str,
    *operands: Any,
    decomposition: Callable[[], Any] | None = None,
    host: Callable[..., Any] | None = None,
    **parameters: Any,
) -> Any:
    """Run an op.

    Args:
        qualname: the op, for example `"tinytorch::add"`.
        *operands: device arrays, and scalars or 0-d host arrays.
        decomposition: the op's own code, for when there is no kernel.
        host: the op as a NumPy function, for the CPU fallback.
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
    operands = _on_one_device(op, operands)
    device = common_device(op, (*operands, parameters.get("out")))
    timeline = device.timeline
    parent = timeline.current_op
    found = find(op, DispatchKey.SIMGPU)
    key, function = _choose(op, operands, found, decomposition, host)
    with using_device(device), timeline.op_scope(op) as scope:
        result = function(*operands, **parameters)
    if found:
        check_result(op, result, operands, found)
    end = timeline.host_ns
    values = operands, parameters, result
    timeline.add_op(_record(op, parent, key, found, values, scope, end))
    return result


def _record(
    op: str,
    parent: str,
    key: DispatchKey,
    found: Registration | None,
    values: tuple[tuple[Any, ...], dict[str, Any], Any],
    scope: Scope,
    end_ns: float,
) -> OpRecord:
    operands, parameters, result = values
    return OpRecord(
        op,
        parent,
        key.value,
        found.source if found else None,
        tuple(o.shape for o in operands if isinstance(o, DeviceArray)),
        scope,
        end_ns,
        operands=use_of(operands),
        parameters=tuple((name, use_of(v)) for name, v in parameters.items()),
        results=array_uses(result),
    )


def _choose(
    op: str,
    operands: tuple[Any, ...],
    found: Registration | None,
    decomposition: Callable[[], Any] | None,
    host: Callable[..., Any] | None,
) -> tuple[DispatchKey, Callable[..., Any]]:
    """Ask the keys in order."""
    if found:
        return DispatchKey.SIMGPU, found.function
    if decomposition is not None:
        return DispatchKey.DECOMPOSE, lambda *_, **__: decomposition()
    if host is not None and op in _cpu_allowed:
        return DispatchKey.CPU, _through_host(op, host)
    raise _missing(op, operands)


def _through_host(op: str, host: Callable[..., Any]) -> Callable[..., Any]:
    """Make the fallback: copy operands to the host, compute, copy the result back."""
    reason = f"CPU fallback of {op}"

    def compute(*operands: Any, **parameters: Any) -> Any:
        values = [_on_host(o, reason) for o in operands]
        return to_device(np.asarray(host(*values, **parameters)), reason)

    return compute


def _on_host(value: Any, reason: str) -> Any:
    """Copy device arrays, and those in lists and tuples, to the host."""
    if isinstance(value, (list, tuple)):
        return type(value)(_on_host(v, reason) for v in value)
    return to_host(value, reason) if _is_device(value) else value


def _on_one_device(op: str, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse host arrays among device arrays; 0-d ones count as scalars."""
    made = tuple(
        o[()] if isinstance(o, np.ndarray) and not o.ndim else o for o in operands
    )
    host = [o for o in made if isinstance(o, np.ndarray)]
    if not host:
        return made
    shapes = [np.shape(o) for o in host]
    on_device = [o for o in made if _is_device(o)]
    raise DeviceMismatchError(
        f"op `{op}` got operands on different devices",
        where=f"{op}: simgpu:0 {[o.shape for o in on_device]}, cpu {shapes}",
        why="a kernel reads device memory only; a copy costs time and stays visible",
        fix='move the host operand first: y = y.to("simgpu")',
        op=op,
        shapes=tuple(shapes),
    )


def _missing(op: str, operands: tuple[Any, ...]) -> MissingKernelError:
    arrays = [f"{o.dtype} {o.shape}" for o in operands if _is_device(o)]
    name = op.rpartition("::")[2]
    define = "" if op in defined() else f'library.define("{op}", "(x)"), then '
    return MissingKernelError(
        f"op `{op}` has no kernel for device `simgpu`",
        where=f"operands: {', '.join(arrays) or 'none'}\n"
        "looked up: SimGPU (empty) → Decompose (none) → CPU (not allowed)",
        why=f"{len(registered())} ops have kernels, this one has none",
        fix=f'write one and register it: {define}@library.impl("{op}", "simgpu");\n'
        f"or compute on the host: .cpu(); or library.allow_cpu_fallback({name!r})",
        op=op,
    )


def _is_device(value: Any) -> bool:
    return isinstance(value, DeviceArray)
