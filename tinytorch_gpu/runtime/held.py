"""`holding`: put launches off, to see what a function does before it is done.

Within the `with` block the launches of ops wait, and so do the ops' records. They run
in their order as soon as somebody looks at device memory, copies, or launches a kernel
of his own, and afterwards unless another kernel does their work. Arrays that are made
meanwhile are there as always; what nobody holds any more is freed as always.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.memory.hooks import hooks
from tinytorch_gpu.memory.origin import user_line
from tinytorch_gpu.runtime.current_stream import in_handle, stream_handle
from tinytorch_gpu.runtime.device import using_device
from tinytorch_gpu.runtime.parts import Part, arrays_in
from tinytorch_gpu.trace import CopyRecord, LaunchRecord, OpRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinytorch_gpu.memory import DeviceBuffer
    from tinytorch_gpu.runtime.device import Device
    from tinytorch_gpu.trace import KernelSource, Record, Scope

__all__ = ["Held", "HeldOp", "holding", "is_held_back", "unseen"]


@dataclass(frozen=True, eq=False)
class HeldOp:
    """An op whose launches wait.

    Args:
        record: what the dispatcher tells.
        arrays: its arrays in the order in which the record names them, those that were
            made meanwhile as `Part`.
    """

    record: OpRecord
    arrays: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class _HeldLaunch:
    run: Callable[[tuple[Any, ...]], LaunchRecord]
    told: tuple[KernelSource, Any]
    arguments: tuple[Any, ...]
    scope: Scope | None
    stream: int


class Held:
    """What waits, in order.

    Args:
        device: whose ops wait.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.was_looked_at = self.is_over = False
        self.cause: Record | None = None  # what looked, once it is recorded
        self._since = device.allocator.next_serial
        self._waiting: list[_HeldLaunch | HeldOp] = []
        self._again: dict[int, DeviceBuffer] = {}

    @property
    def ops(self) -> tuple[HeldOp, ...]:
        """The ops."""
        return tuple(one for one in self._waiting if isinstance(one, HeldOp))

    @property
    def records(self) -> tuple[LaunchRecord | OpRecord, ...]:
        """What the records would be; of launches only who launches what is told."""
        return tuple(
            one.record if isinstance(one, HeldOp) else _untimed(one)
            for one in self._waiting
        )

    def add_op(self, record: OpRecord, values: Any) -> None:
        """Keep an op's record.

        Args:
            record: of the op.
            values: operands, parameters and results, with the arrays.
        """
        arrays = tuple(self._part(array) for array in arrays_in(values))
        told = replace(record, origin=user_line())
        self._waiting.append(HeldOp(told, arrays))

    def add_launch(
        self,
        run: Callable[[tuple[Any, ...]], LaunchRecord],
        told: tuple[KernelSource, Any],
        arguments: tuple[Any, ...],
    ) -> None:
        """Put a launch off.

        Args:
            run: does it with its arguments.
            told: the kernel's name and place, and the launch's shape.
            arguments: checked.
        """
        kept = tuple(map(self._part, arguments))
        scope, stream = self.device.timeline.scope, stream_handle()
        self._waiting.append(_HeldLaunch(run, told, kept, scope, stream))

    def is_new(self, serial: int) -> bool:
        """Tell whether an allocation was made since the launches wait."""
        return serial >= self._since

    def array(self, part: Any) -> DeviceArray:
        """Return an array; where nobody holds its memory any more, in new memory.

        Args:
            part: a device array, or a `Part`.
        """
        if isinstance(part, DeviceArray):
            return part
        buffer = part.buffer() or self._again.get(part.serial)
        if buffer is None:
            buffer = self._again[part.serial] = self.device.allocator.allocate(
                part.nbytes
            )
        array: DeviceArray = part.in_memory(buffer)
        return array

    def flush(self) -> None:
        """Run what waits: somebody looks at memory."""
        self.was_looked_at = True
        self.run()
        self.device.timeline.listeners.append(self._listen)

    def end(self) -> None:
        """Stop listening for who looked."""
        if self._listen in self.device.timeline.listeners:
            self.device.timeline.listeners.remove(self._listen)

    def _listen(self, record: Record) -> None:
        if self.cause is None and isinstance(record, (CopyRecord, LaunchRecord)):
            self.cause = record

    def run(self) -> None:
        """Run what waits, op by op; nothing waits from then on."""
        self.is_over = True
        with using_device(self.device):
            for one in self._waiting:
                self._run(one)
        self._again.clear()

    def _run(self, one: _HeldLaunch | HeldOp) -> None:
        timeline = self.device.timeline
        if isinstance(one, HeldOp):
            timeline.add_op(replace(one.record, end_ns=timeline.host_ns))
            return
        with timeline.within(one.scope), in_handle(one.stream):
            one.run(tuple(self._whole(a) for a in one.arguments))

    def _part(self, value: Any) -> Any:
        """Let go of an array's memory if it was made meanwhile."""
        if isinstance(value, tuple):
            return tuple(map(self._part, value))
        if not isinstance(value, DeviceArray) or not self.is_new(value.buffer.serial):
            return value
        return Part.of(value)

    def _whole(self, value: Any) -> Any:
        if isinstance(value, Part):
            return self.array(value)
        return tuple(map(self._whole, value)) if isinstance(value, tuple) else value


@contextmanager
def holding(device: Device) -> Iterator[Held]:
    """Let the launches of ops on a device wait within the `with` block.

    Args:
        device: the device.

    Yields:
        What waits. After an error the launches before it run.
    """
    held = Held(device)
    before, hooks.held = hooks.held, held
    try:
        yield held
    except BaseException:
        if hooks.held is held:
            held.run()
        raise
    finally:
        hooks.held = before
        held.end()


@contextmanager
def unseen() -> Iterator[None]:
    """Let nothing that looks at memory within the `with` block run what waits.

    Yields:
        Nothing.
    """
    held, hooks.held = hooks.held, None
    try:
        yield
    finally:
        hooks.held = held


def is_held_back(
    device: Device,
    run: Callable[[tuple[Any, ...]], LaunchRecord],
    told: tuple[KernelSource, Any],
    arguments: tuple[Any, ...],
) -> bool:
    """Put a launch off if it is of an op that waits; else run what waits.

    Args:
        device: where.
        run: does it, later; keeps no array alive.
        told: the kernel's name and place, and the launch's shape.
        arguments: as given.
    """
    held = hooks.held
    if held is None:
        return False
    is_of_op = bool(device.timeline.current_op) and all(map(_is_plain, arguments))
    if isinstance(held, Held) and held.device is device and is_of_op:
        held.add_launch(run, told, arguments)
        return True
    held.flush()
    return False


def _is_plain(value: Any) -> bool:
    """Tell whether an argument needs no copy from or to the host."""
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return isinstance(value, (DeviceArray, np.generic, int, float, type(None)))


def _untimed(launch: _HeldLaunch) -> LaunchRecord:
    source, shape = launch.told
    return LaunchRecord(
        kernel=source,
        op="",
        grid=shape.grid,
        block=shape.block,
        shared_bytes=shape.shared_bytes,
        counts=None,
        is_replayed=False,
        start_ns=0.0,
        duration_ns=0.0,
        issue_ns=0.0,
        elapsed_ns=0.0,
        bound="",
        stream=launch.stream,
        scope=launch.scope,
    )
