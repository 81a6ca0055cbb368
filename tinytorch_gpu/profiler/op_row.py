"""`OpRow`: everything that one op cost, and the tally that adds it up from records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.profiler.bill import Bill, bill_of
from tinytorch_gpu.trace import CopyRecord, LaunchRecord

if TYPE_CHECKING:
    from tinytorch_gpu.trace import KernelSource, OpRecord

__all__ = ["OpRow", "Tally"]


@dataclass(frozen=True, slots=True)
class OpRow:
    """Counts and modelled time of one op; work of ops inside it is in their rows.

    Args:
        op: qualified name; `(kernel name)` for launches and `(copy h2d)` for copies
            that no op asked for, `(synchronize)` for waits.
        calls: how often the op ran (launches, copies or waits for rows in brackets).
        launches: kernels that it launched itself.
        copies: copies that it made itself.
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
        device_time_total_ns: modelled time of its kernels and copies.
        bill: modelled elapsed time by what it was spent on.
        share: elapsed time ÷ that of the whole profile, 0 to 1.
    """

    op: str
    calls: int
    launches: int
    copies: int
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
    device_time_total_ns: float
    bill: Bill
    share: float

    @property
    def elapsed_ns(self) -> float:
        """By how much the op lengthened the modelled timeline."""
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
    is_op: bool = True
    calls: int = 0
    launches: int = 0
    traced: int = 0
    replayed: int = 0
    copies: int = 0
    requests: int = 0
    sectors: int = 0
    device_ns: float = 0.0
    is_decomposed: bool = False
    is_on_cpu: bool = False
    bill: Bill = field(default_factory=Bill)
    # Dicts as ordered sets: the order of first use is the order told.
    kernels: dict[KernelSource, None] = field(default_factory=dict)
    children: dict[str, None] = field(default_factory=dict)
    implementations: dict[KernelSource, None] = field(default_factory=dict)
    bytes_moved: dict[str, int] = field(default_factory=dict)

    def add_op(self, record: OpRecord) -> None:
        """Count one run of the op."""
        self.calls += 1
        self.is_decomposed |= record.key == "Decompose"
        self.is_on_cpu |= record.key == "CPU"
        if record.implementation is not None:
            self.implementations[record.implementation] = None

    def add(self, record: LaunchRecord | CopyRecord) -> None:
        """Count one launch or copy of the op."""
        self.calls += not self.is_op
        self.bill += bill_of(record)
        self.device_ns += record.duration_ns
        if isinstance(record, LaunchRecord):
            self._add_launch(record)
        else:
            self.copies += 1
            moved = self.bytes_moved.get(record.direction, 0)
            self.bytes_moved[record.direction] = moved + record.bytes

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
            calls=self.calls,
            launches=self.launches,
            copies=self.copies,
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
            device_time_total_ns=self.device_ns,
            bill=self.bill,
            share=self.bill.total_ns / total_ns if total_ns else 0.0,
        )
