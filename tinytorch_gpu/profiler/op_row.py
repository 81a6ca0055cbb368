"""`OpRow`: everything that one op cost, and the tally that adds it up from records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.library.log_text import path_text
from tinytorch_gpu.profiler.bill import Bill, bill_of
from tinytorch_gpu.profiler.host_time import host_ns
from tinytorch_gpu.trace import CopyRecord, LaunchRecord, SynchronizeRecord

if TYPE_CHECKING:
    from tinytorch_gpu.profiler.host_time import Work
    from tinytorch_gpu.trace import KernelSource, OpRecord

__all__ = ["OpRow", "Tally"]


@dataclass(frozen=True, slots=True)
class OpRow:
    """Counts and modelled time of one op or range.

    What is called *self* leaves out the ops and ranges inside it, *total* holds them.
    Counts are self counts.

    Args:
        op: qualified name; `(kernel name)` for launches, `(copy h2d)` for copies,
            `(synchronize)` for waits that no op or range asked for, `(host reason)` for
            what else took the host's time.
        input_shapes: shapes of its array operands, where the rows are split by them.
        is_range: a range of `record_function`.
        calls: how often it ran (launches, copies or waits for rows in brackets).
        launches: kernels that it launched itself.
        copies: copies that it made itself.
        waits: how often the host waited for the device in it.
        kernels: the functions that ran, in order of first launch.
        is_decomposed: it had no kernel and ran as other ops, at least once.
        decomposed_into: those ops, in order of first use.
        implementations: the registered functions that served it.
        is_on_cpu: the CPU fallback served it, at least once.
        requests: warp-wide requests to global memory.
        sectors: 32-byte sectors of them.
        h2d_bytes: bytes copied from host to device.
        d2h_bytes: bytes copied from device to host.
        d2d_bytes: bytes copied within the device.
        traced_launches: launches whose counts were counted.
        replayed_launches: launches that took over the counts of an equal earlier one.
        self_cpu_time_total_ns: host time of its own launches, copies and waits.
        cpu_time_total_ns: the same with all that ran inside it.
        self_device_time_total_ns: modelled time of its own kernels and copies.
        device_time_total_ns: the same with all that ran inside it.
        elapsed_total_ns: by how much it and all inside it lengthened the timeline.
        bill: its own modelled elapsed time by what it was spent on.
        share: own elapsed time ÷ that of the whole profile, 0 to 1.
        paths: the different ways that its calls took through the dispatch keys.
        errors: what its calls raised, each different error in one line.
    """

    op: str
    input_shapes: tuple[tuple[int, ...], ...]
    is_range: bool
    calls: int
    launches: int
    copies: int
    waits: int
    kernels: tuple[KernelSource, ...]
    is_decomposed: bool
    decomposed_into: tuple[str, ...]
    implementations: tuple[KernelSource, ...]
    is_on_cpu: bool
    requests: int
    sectors: int
    h2d_bytes: int
    d2h_bytes: int
    d2d_bytes: int
    traced_launches: int
    replayed_launches: int
    self_cpu_time_total_ns: float
    cpu_time_total_ns: float
    self_device_time_total_ns: float
    device_time_total_ns: float
    elapsed_total_ns: float
    bill: Bill
    share: float
    paths: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    @property
    def elapsed_ns(self) -> float:
        """By how much the op itself lengthened the modelled timeline."""
        return self.bill.total_ns

    @property
    def sectors_per_request(self) -> float:
        """Sectors for each global request; 0 without requests or counts."""
        return self.sectors / self.requests if self.requests else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers by name, in plain types."""
        names = [name for name in self.__dataclass_fields__ if name != "bill"]
        plain = {name: getattr(self, name) for name in names}
        for name in ("kernels", "implementations"):
            plain[name] = [str(source) for source in plain[name]]
        plain["elapsed_ns"] = self.elapsed_ns
        plain["sectors_per_request"] = self.sectors_per_request
        return plain


@dataclass(slots=True)
class Tally:
    """Adds records up to one row."""

    op: str
    input_shapes: tuple[tuple[int, ...], ...] = ()
    is_scope: bool = True
    is_range: bool = False
    calls: int = 0
    launches: int = 0
    traced: int = 0
    replayed: int = 0
    copies: int = 0
    waits: int = 0
    requests: int = 0
    sectors: int = 0
    host_ns: float = 0.0
    total_host_ns: float = 0.0
    device_ns: float = 0.0
    total_device_ns: float = 0.0
    total_elapsed_ns: float = 0.0
    is_decomposed: bool = False
    is_on_cpu: bool = False
    bill: Bill = field(default_factory=Bill)
    # Dicts as ordered sets: the order of first use is the order told.
    kernels: dict[KernelSource, None] = field(default_factory=dict)
    children: dict[str, None] = field(default_factory=dict)
    implementations: dict[KernelSource, None] = field(default_factory=dict)
    paths: dict[str, None] = field(default_factory=dict)
    errors: dict[str, None] = field(default_factory=dict)
    bytes_moved: dict[str, int] = field(default_factory=dict)

    def add_op(self, record: OpRecord) -> None:
        """Count one run of the op."""
        self.calls += 1
        self.is_decomposed |= record.key == "Decompose"
        self.is_on_cpu |= record.key == "CPU"
        if record.implementation is not None:
            self.implementations[record.implementation] = None
        if record.path:
            self.paths[path_text(record.path)] = None
        if record.error:
            self.errors[record.error] = None

    def add(self, record: Work) -> None:
        """Count one launch, copy, wait or other host work of the op itself."""
        self.calls += not self.is_scope
        self.bill += bill_of(record)
        self.host_ns += host_ns(record)
        if isinstance(record, LaunchRecord):
            self.device_ns += record.duration_ns
            self._add_launch(record)
        elif isinstance(record, CopyRecord):
            self.device_ns += record.duration_ns
            self.copies += 1
            moved = self.bytes_moved.get(record.direction, 0)
            self.bytes_moved[record.direction] = moved + record.bytes
        else:
            self.waits += isinstance(record, SynchronizeRecord)

    def add_total(self, record: Work) -> None:
        """Add the times of one piece of work of the op or inside it."""
        self.total_elapsed_ns += record.elapsed_ns
        self.total_host_ns += host_ns(record)
        if isinstance(record, (LaunchRecord, CopyRecord)):
            self.total_device_ns += record.duration_ns

    def _add_launch(self, record: LaunchRecord) -> None:
        self.launches += 1
        self.kernels[record.kernel] = None
        if record.counts is None:
            return
        self.replayed += record.is_replayed
        self.traced += not record.is_replayed
        self.requests += record.counts.requests
        self.sectors += record.counts.sectors

    def to_row(self, total_ns: float) -> OpRow:
        """Return the row, with its share of the total."""
        # A registered function that launches nothing and calls other ops decomposes.
        is_decomposed = self.is_decomposed or bool(self.children and not self.launches)
        return OpRow(
            op=self.op,
            input_shapes=self.input_shapes,
            is_range=self.is_range,
            calls=self.calls,
            launches=self.launches,
            copies=self.copies,
            waits=self.waits,
            kernels=tuple(self.kernels),
            is_decomposed=is_decomposed,
            decomposed_into=tuple(self.children) if is_decomposed else (),
            implementations=tuple(self.implementations),
            is_on_cpu=self.is_on_cpu,
            requests=self.requests,
            sectors=self.sectors,
            h2d_bytes=self.bytes_moved.get("h2d", 0),
            d2h_bytes=self.bytes_moved.get("d2h", 0),
            d2d_bytes=self.bytes_moved.get("d2d", 0),
            traced_launches=self.traced,
            replayed_launches=self.replayed,
            self_cpu_time_total_ns=self.host_ns,
            cpu_time_total_ns=self.total_host_ns,
            self_device_time_total_ns=self.device_ns,
            device_time_total_ns=self.total_device_ns,
            elapsed_total_ns=self.total_elapsed_ns,
            bill=self.bill,
            share=self.bill.total_ns / total_ns if total_ns else 0.0,
            paths=tuple(self.paths),
            errors=tuple(self.errors),
        )
