"""`Bill`: modelled time split by what it was spent on.

Comes in: records. Goes out: nanoseconds of transfers, launch overhead, kernels and
synchronisation, which add up to the elapsed time of the records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinytorch_gpu.trace import (
    CopyRecord,
    HostRecord,
    LaunchRecord,
    SynchronizeRecord,
)

if TYPE_CHECKING:
    from tinytorch_gpu.trace import Record

__all__ = ["Bill", "bill_of"]


@dataclass(frozen=True, slots=True)
class Bill:
    """Parts of the modelled elapsed time, in nanoseconds.

    Args:
        transfer_ns: copies between host and device.
        launch_ns: host overhead that no running work hides: issuing launches and
            asynchronous copies, and the driver's other calls (cudaMalloc, cudaFree).
        kernel_ns: kernels, and copies within the device.
        synchronize_ns: the host's waits for the device, beyond the work itself.

    Example:
        >>> (Bill(transfer_ns=3.0) + Bill(kernel_ns=1.0)).total_ns
        4.0
    """

    transfer_ns: float = 0.0
    launch_ns: float = 0.0
    kernel_ns: float = 0.0
    synchronize_ns: float = 0.0

    def __add__(self, other: Bill) -> Bill:
        """Add two bills part by part."""
        return Bill(
            self.transfer_ns + other.transfer_ns,
            self.launch_ns + other.launch_ns,
            self.kernel_ns + other.kernel_ns,
            self.synchronize_ns + other.synchronize_ns,
        )

    @property
    def total_ns(self) -> float:
        """All parts together."""
        parts = (self.transfer_ns, self.launch_ns, self.kernel_ns, self.synchronize_ns)
        return sum(parts)


def bill_of(record: Record) -> Bill:
    """Split the elapsed time of one record.

    Of a launch, the part up to the kernel's duration is kernel time; the rest is time
    in which the device waited for the host to issue it. So it is of a copy.

    Args:
        record: any; an op and a range take no time of their own.

    Returns:
        The bill; its total is the record's `elapsed_ns`.

    Example:
        >>> from tinytorch_gpu.trace import CopyRecord
        >>> copy = CopyRecord("h2d", 1000, "lesson", "", False, 0.0, 2000.0, 2000.0)
        >>> bill_of(copy).transfer_ns
        2000.0
    """
    if isinstance(record, SynchronizeRecord):
        return Bill(synchronize_ns=record.elapsed_ns)
    if isinstance(record, HostRecord):
        return Bill(launch_ns=record.elapsed_ns)
    if not isinstance(record, (LaunchRecord, CopyRecord)):
        return Bill()
    work = min(record.elapsed_ns, record.duration_ns)
    issue = record.elapsed_ns - work
    if isinstance(record, LaunchRecord) or record.direction == "d2d":
        return Bill(kernel_ns=work, launch_ns=issue)
    return Bill(transfer_ns=work, launch_ns=issue)
