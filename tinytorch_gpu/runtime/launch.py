"""The one path of every launch: check, run, count or replay, time, record.

Whoever asks (a notebook, an op, an exercise, the demo), a launch comes through
`launch`. Everything that can be refused is refused before anything changes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import settings
from tinytorch_gpu.arch import check_dtype
from tinytorch_gpu.cost import kernel_time
from tinytorch_gpu.errors import KernelTypeError, LaunchConfigError
from tinytorch_gpu.executor.engine import LaneProgram, run
from tinytorch_gpu.executor.global_memory import GlobalArray, global_array
from tinytorch_gpu.executor.shared_memory import shared_bytes
from tinytorch_gpu.memory import ALIGNMENT, DeviceArray
from tinytorch_gpu.runtime.copy import to_device, to_host
from tinytorch_gpu.runtime.device import Device, current_device
from tinytorch_gpu.trace import CountingRecorder

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.cost import KernelTime
    from tinytorch_gpu.trace import LaunchCounts, LaunchRecord

__all__ = ["launch"]

Dim3 = tuple[int, int, int]
MOST_REPLAYS = 4096  # launches whose counts are kept; about 2 kB each


def launch(
    program: LaneProgram, grid: Any, block: Any, arguments: tuple[Any, ...]
) -> LaunchRecord:
    """Run a kernel over a grid and record what it cost.

    Args:
        program: the kernel's lane program.
        grid: blocks, an int or a tuple of one to three.
        block: threads of a block, likewise.
        arguments: device arrays, host arrays (copied in, and back afterwards) and
            scalars, one for each parameter.

    Returns:
        The launch's record.

    Raises:
        LaunchConfigError: grid or block is outside the GPU's limits.
        SharedMemoryLimitError: the block's shared memory is.
        KernelTypeError: the arguments do not fit the parameters.
        DtypeError: a host array's dtype cannot live on the device.
        OutOfBoundsError, BarrierDivergenceError, StepBudgetError: the kernel faults;
            all arrays are as they were.
    """
    device = current_device()
    blocks = _dimensions(grid, "grid", program, device.spec.max_grid_dim)
    threads = _dimensions(block, "block", program, device.spec.max_block_dim)
    _check_block(threads, program, device.spec)
    size = shared_bytes(list(program.shared), device.spec.shared_bytes_per_block)
    on_device, copy_back = _arguments(program, arguments)
    counts, time, is_replayed = _run(device, program, blocks, threads, on_device, size)
    record = device.timeline.add_launch(
        kernel=program.source,
        grid=blocks,
        block=threads,
        shared_bytes=size,
        counts=counts,
        is_replayed=is_replayed,
        time=time,
    )
    for restore in copy_back:
        restore()
    return record


def _run(
    device: Device,
    program: LaneProgram,
    grid: Dim3,
    block: Dim3,
    arguments: tuple[Any, ...],
    size: int,
) -> tuple[LaunchCounts | None, KernelTime, bool]:
    """Run the kernel; count it, or take over the counts of an equal launch."""
    values = tuple(global_array(a) if _is_array(a) else a for a in arguments)
    switches, spec = settings.current(), device.spec
    if not switches.counters:
        run(program, grid, block, values, None)
        return None, kernel_time(None, grid, block, size, spec), False
    may_replay = switches.replay and not program.is_data_dependent
    key = (program, grid, block, _signature(program, values)) if may_replay else None
    if key in device.replays:
        run(program, grid, block, values, None)
        return (*device.replays[key], True)
    recorder = CountingRecorder(device.rules)
    run(program, grid, block, values, recorder)
    counts = recorder.counts()
    time = kernel_time(counts, grid, block, size, spec)
    if key is not None:
        if len(device.replays) >= MOST_REPLAYS:
            device.replays.clear()
        device.replays[key] = (counts, time)
    return counts, time, False


def _signature(program: LaneProgram, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Everything that the counts of a launch depend on, apart from data."""
    parts: list[Any] = []
    for name, value in zip(program.parameters, values, strict=True):
        if isinstance(value, GlobalArray):
            shift = int(value.offset) * value.itemsize % ALIGNMENT
            char = value.element_dtype.char
            parts.append((value.lengths, value.steps, char, shift))
        elif name in program.control_parameters:
            parts.append((value.dtype.char, value.tobytes()))  # 0.0 is not -0.0
        else:
            parts.append(value.dtype.char)
    return tuple(parts)


def _arguments(
    program: LaneProgram, arguments: tuple[Any, ...]
) -> tuple[tuple[Any, ...], list[Callable[[], None]]]:
    """Bring arguments to the device; return them and what to copy back afterwards."""
    if len(arguments) != len(program.parameters):
        raise KernelTypeError(
            f"{program.source.name} takes {len(program.parameters)} arguments, "
            f"{len(arguments)} were given",
            where=str(program.source),
            why="parameters: " + ", ".join(program.parameters),
            fix="pass one argument for each parameter",
        )
    pairs = list(zip(program.parameters, arguments, strict=True))
    checked = [_checked(program, name, value) for name, value in pairs]
    copies: dict[int, DeviceArray] = {}
    copy_back: list[Callable[[], None]] = []
    for name, value in zip(program.parameters, checked, strict=True):
        if isinstance(value, np.ndarray) and id(value) not in copies:
            reason = f"host array argument `{name}` of {program.source.name}"
            copies[id(value)] = to_device(value, reason)
            if value.flags.writeable:
                copy_back.append(_copy_back(value, copies[id(value)], reason))
    values = (copies.get(id(value), value) for value in checked)
    return tuple(values), copy_back


def _checked(program: LaneProgram, name: str, value: Any) -> Any:
    """Return an argument as a kernel takes it; nothing is copied yet."""
    if isinstance(value, np.ndarray):
        check_dtype(value.dtype, f"argument `{name}` (host array)")
        return value
    if isinstance(value, (bool, int, float)):
        kinds = {bool: np.bool_, int: np.int64, float: np.float64}
        kind = next(k for k in kinds if isinstance(value, k))
        if kind is not int or -(2**63) <= value < 2**63:
            return value if isinstance(value, np.generic) else kinds[kind](value)
    elif _is_array(value) or (_is_number(value) and value.dtype.kind in "biuf"):
        return value
    raise KernelTypeError(
        f"argument `{name}` of {program.source.name} is a {type(value).__name__}",
        where=str(program.source),
        why="a kernel takes device arrays, NumPy arrays, floats, bools and integers of "
        "64 bits",
        fix="convert it, for example with cuda.to_device(np.array(...)); "
        "of a Tensor pass .data",
    )


def _copy_back(host: Any, array: DeviceArray, reason: str) -> Callable[[], None]:
    def restore() -> None:
        host[...] = to_host(array, reason)

    return restore


def _dimensions(given: Any, what: str, program: LaneProgram, limits: Dim3) -> Dim3:
    """Read a grid or block as x, y, z, each within its limit."""
    parts = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not 1 <= len(parts) <= 3 or not all(_is_count(p) for p in parts):
        raise LaunchConfigError(
            f"{what} {given!r} is no int and no tuple of one to three ints",
            where=f"launch of {program.source}",
            why="a launch is kernel[grid, block](...), each up to three dimensions",
            fix=f"for example {program.source.name}[4, 256](...); use // instead of /",
        )
    x, y, z = (*(int(p) for p in parts), 1, 1)[:3]
    for axis, length, limit in zip("xyz", (x, y, z), limits, strict=True):
        if not 1 <= length <= limit:
            raise LaunchConfigError(
                f"{what} {axis} is {length}",
                where=f"launch of {program.source}",
                why=f"{what} {axis} must be between 1 and {limit}",
                fix="launch at least one block of one thread"
                if length < 1
                else f"use 256 threads a block and more blocks: "
                f"{program.source.name}[(n + 255) // 256, 256](...)"
                if what == "block"
                else "spread the blocks over x, y and z",
            )
    return x, y, z


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _check_block(block: Dim3, program: LaneProgram, spec: GpuSpec) -> None:
    threads, limit = math.prod(block), spec.max_threads_per_block
    if threads > limit:
        raise LaunchConfigError(
            f"a block of {threads} threads",
            where=f"launch of {program.source}, block {block}",
            why=f"{threads} > {limit}, the most threads that a block of a "
            f"{spec.name} may have",
            fix="use 256 threads a block and more blocks: "
            f"{program.source.name}[(n + 255) // 256, 256](...)",
            threads=threads,
            limit=limit,
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, np.generic)


def _is_array(value: Any) -> bool:
    return isinstance(value, DeviceArray)
