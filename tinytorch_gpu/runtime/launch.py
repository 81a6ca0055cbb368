"""The one path of every launch: check, run, count or replay, time, record.

Whoever asks (a notebook, an op, an exercise, the demo), a launch comes through
`launch`. Everything that can be refused is refused before anything changes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, SupportsInt

from tinytorch_gpu import settings
from tinytorch_gpu.cost import (
    check_block_fits,
    check_cooperative_grid,
    fitting_registers,
    kernel_time,
)
from tinytorch_gpu.executor.engine import LaneProgram, run
from tinytorch_gpu.executor.global_memory import GlobalArray
from tinytorch_gpu.executor.shared_memory import shared_bytes
from tinytorch_gpu.memory import ALIGNMENT
from tinytorch_gpu.runtime.arguments import check_arguments, to_kernel, types_of
from tinytorch_gpu.runtime.current_stream import in_stream, stream_handle
from tinytorch_gpu.runtime.device import Device, current_device
from tinytorch_gpu.runtime.dimensions import read_launch
from tinytorch_gpu.runtime.held import is_held_back, unseen
from tinytorch_gpu.runtime.repeat import Repeat, Repeating
from tinytorch_gpu.runtime.watching import watchers
from tinytorch_gpu.trace import CountingRecorder, Recorders
from tinytorch_gpu.trace.arguments import named_arrays

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.cost import KernelTime
    from tinytorch_gpu.executor.geometry import Dim3
    from tinytorch_gpu.executor.journal import Journal
    from tinytorch_gpu.memory import DeviceBuffer
    from tinytorch_gpu.trace import (
        KernelSource,
        LaunchCounts,
        LaunchRecord,
        Recorder,
        Stamp,
    )

    Counted = tuple[LaunchCounts | None, KernelTime, bool]

__all__ = ["LaunchShape", "Launchable", "launch", "launch_shape"]

MOST_REPLAYS = 4096  # launches of a program whose counts are kept; about 2 kB each


class Launchable(Protocol):
    """What a front end makes of a kernel."""

    @property
    def source(self) -> KernelSource:
        """The kernel's name, file and line."""
        ...

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        ...

    def program_for(self, values: tuple[Any, ...]) -> LaneProgram:
        """Return the program for arguments of these types."""
        ...


def launch(
    kernel: Launchable,
    grid: Any,
    block: Any,
    arguments: tuple[Any, ...],
    dynamic_shared_bytes: int = 0,
    stream: SupportsInt | None = None,
) -> LaunchRecord | None:
    """Run a kernel over a grid and record what it cost.

    Args:
        kernel: what to run.
        grid: blocks, an int or a tuple of one to three.
        block: threads of a block, likewise.
        arguments: device arrays, host arrays (copied in, and back afterwards, or as
            `In` and `Out` say), scalars, None, and tuples of these; one for each
            parameter.
        dynamic_shared_bytes: dynamic shared memory of each block.
        stream: the stream that it, and the copies of host arrays, are put into; 0 and
            None are the current one.

    Returns:
        The launch's record; None if it is held back (`held.py`).

    Raises:
        LaunchConfigError: grid or block is outside the GPU's limits.
        SharedMemoryLimitError: the block's shared memory is.
        KernelTypeError: the arguments do not fit the parameters.
        DtypeError: a host array's dtype cannot live on the device.
        SimGPUError: the kernel faults; all arrays are as they were.
    """
    device, source, names = current_device(), kernel.source, kernel.parameters
    blocks, threads = read_launch(grid, block, source, device.spec)
    with unseen():
        checked = check_arguments(source, names, arguments)
    program = kernel.program_for(types_of(checked))
    shape = launch_shape(program, blocks, threads, dynamic_shared_bytes, device.spec)

    def again(given: tuple[Any, ...]) -> LaunchRecord:
        values = check_arguments(source, names, given)
        return _launched(device, kernel, program, shape, values)

    with in_stream(stream):
        if is_held_back(device, again, (source, shape), arguments):
            return None
        return _launched(device, kernel, program, shape, checked)


def _launched(
    device: Device,
    kernel: Launchable,
    program: LaneProgram,
    shape: LaunchShape,
    checked: tuple[Any, ...],
) -> LaunchRecord:
    """Launch into the current stream, with the copies of host arrays around it."""
    values, copy_back = to_kernel(kernel.source, kernel.parameters, checked)
    stamp = device.order.launch(stream_handle())
    counts, time, is_replayed = _watched(device, program, shape, values, stamp)
    record = device.timeline.add_launch(
        kernel=kernel.source,
        grid=shape.grid,
        block=shape.block,
        shared_bytes=shape.shared_bytes,
        counts=counts,
        is_replayed=is_replayed,
        time=time,
        stream=stream_handle(),
    )
    for restore in copy_back:
        restore()
    return record


class LaunchShape(NamedTuple):
    """A launch's configuration, checked.

    Args:
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        dynamic_shared_bytes: dynamic shared memory of each block.
        shared_bytes: all of it.
        registers: 32-bit registers of a thread; None if nothing is known.
    """

    grid: Dim3
    block: Dim3
    dynamic_shared_bytes: int
    shared_bytes: int
    registers: int | None


def launch_shape(
    program: LaneProgram, grid: Dim3, block: Dim3, dynamic: int, spec: GpuSpec
) -> LaunchShape:
    """Check what depends on the program: shared memory, and a cooperative grid.

    Args:
        program: the kernel for its arguments.
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        dynamic: bytes of dynamic shared memory of each block.
        spec: the GPU.

    Returns:
        The launch's configuration.

    Raises:
        LaunchConfigError: no SM holds such a block, or not all blocks of a cooperative
            grid are resident at a time.
        SharedMemoryLimitError: the block's shared memory is outside the GPU's limits.
    """
    size = shared_bytes(list(program.shared), spec.shared_bytes_per_block, dynamic)
    if program.is_cooperative:
        count, threads = math.prod(grid), math.prod(block)
        check_cooperative_grid(spec, count, threads, size, str(program.source))
    registers = _registers(program, block, spec)
    check_block_fits(block, size, spec, registers)
    return LaunchShape(grid, block, dynamic, size, registers)


def _registers(program: LaneProgram, block: Dim3, spec: GpuSpec) -> int | None:
    """Tell the registers of a thread: as given, or an estimate that fits the block."""
    if program.are_registers_given or not program.registers:
        return program.registers or None
    return fitting_registers(program.registers, math.prod(block), spec)


def _watched(
    device: Device,
    program: LaneProgram,
    shape: LaunchShape,
    values: tuple[Any, ...],
    stamp: Stamp,
) -> Counted:
    """Run the kernel, and tell who watches how it ended."""
    try:
        counted, journal = _run(device, program, shape, values, stamp)
    except BaseException as error:
        for recorder in watchers():
            recorder.end(None, error)
        raise
    for recorder in watchers():
        if isinstance(recorder, Repeating):
            recorder.repeat(Repeat(program, shape[:3], values, journal.before))
        recorder.end(counted[0], None)
    return counted


def _run(
    device: Device,
    program: LaneProgram,
    shape: LaunchShape,
    values: tuple[Any, ...],
    stamp: Stamp,
) -> tuple[Counted, Journal]:
    """Run the kernel; count it, or take over the counts of an equal launch."""
    grid, block, dynamic, size, registers = shape
    switches, spec = settings.current(), device.spec
    if not switches.counters:
        journal = run(program, grid, block, values, _together(), dynamic, stamp)
        time = kernel_time(None, grid, block, size, spec, registers)
        return (None, time, False), journal
    may_replay = switches.replay and not program.is_data_dependent
    key = (shape, _signature(program, values)) if may_replay else None
    known = device.replays.setdefault(program, {})
    if key in known:
        journal = run(program, grid, block, values, _together(), dynamic, stamp)
        return (*known[key], True), journal
    recorder = CountingRecorder(device.rules)
    journal = run(program, grid, block, values, _together(recorder), dynamic, stamp)
    counts = recorder.counts()
    time = kernel_time(counts, grid, block, size, spec, registers)
    if key is not None:
        if len(known) >= MOST_REPLAYS:
            known.clear()
        known[key] = (counts, time)
    return (counts, time, False), journal


def _together(*recorders: Recorder) -> Recorder | None:
    """Return what tells these recorders and all who watch; None if there is nobody."""
    listening = (*recorders, *watchers())
    if len(listening) > 1:
        return Recorders(listening)
    return listening[0] if listening else None


def _signature(program: LaneProgram, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Everything that the counts of a launch depend on, apart from data."""
    control = program.control_parameters
    named = dict(zip(program.parameters, values, strict=True))
    keys = (_key(value, is_control=name in control) for name, value in named.items())
    return (*keys, _sharing(named))


def _sharing(named: dict[str, Any]) -> tuple[Any, ...]:
    """For each array, the first one in the same memory and how far behind it starts.

    `x * x` touches each sector twice, `x * y` touches twice as many once.
    """
    first: dict[DeviceBuffer, tuple[str, int]] = {}
    found = []
    for name, array in named_arrays(named):
        start = int(array.offset) * array.itemsize
        other, begin = first.setdefault(array.buffer, (name, start))
        found.append((other, start - begin))
    return tuple(found)


def _key(value: Any, *, is_control: bool) -> Any:
    """Return what the counts depend on of one argument."""
    if isinstance(value, tuple):
        return tuple(_key(part, is_control=is_control) for part in value)
    if isinstance(value, GlobalArray):
        shift = int(value.offset) * value.itemsize % ALIGNMENT
        return value.lengths, value.steps, value.element_dtype.char, shift
    if value is None:
        return None
    bits = value.tobytes() if is_control else b""  # 0.0 is not -0.0
    return value.dtype.char, bits
