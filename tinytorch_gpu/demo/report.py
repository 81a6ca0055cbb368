"""What the demo tells: accuracies, the bill by op, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinytorch_gpu.demo.training import Run
    from tinytorch_gpu.profiler import KeyAverages, OpRow, Verdict

__all__ = ["DemoReport"]


@dataclass(frozen=True)
class DemoReport:
    """The demo's result.

    Args:
        simgpu: the training on the simulated GPU.
        cpu: the training on the CPU from the same seed.
        averages: the bill by op of the training on the simulated GPU.
        verdict: what dominates the bill.
        wall_s: measured time of everything, in seconds.
    """

    simgpu: Run
    cpu: Run
    averages: KeyAverages
    verdict: Verdict
    wall_s: float

    @property
    def max_relative_loss_difference(self) -> float:
        """Largest |simgpu − cpu| ÷ |cpu| of the losses, step by step."""
        pairs = zip(self.simgpu.losses, self.cpu.losses, strict=True)
        return max(abs(a - b) / abs(b) for a, b in pairs)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures for `--json`: times in µs, sizes in bytes."""
        rows = [_row(row) for row in self.averages]
        names = ("calls", "launches", "h2d_bytes", "d2h_bytes", "modelled_us")
        return {
            "accuracy": {"simgpu": self.simgpu.accuracy, "cpu": self.cpu.accuracy},
            "max_relative_loss_difference": self.max_relative_loss_difference,
            "wall_s": self.wall_s,
            "ops": rows,
            "totals": {name: sum(row[name] for row in rows) for name in names}
            | {
                "traced_launches": sum(r.traced_launches for r in self.averages),
                "replayed_launches": sum(r.replayed_launches for r in self.averages),
            },
            "verdict": str(self.verdict),
        }

    def __str__(self) -> str:
        """Tell it all in plain text."""
        return (
            f"Test accuracy   simgpu {self.simgpu.accuracy:.1%}"
            f"   cpu {self.cpu.accuracy:.1%}\n"
            f"Losses          {len(self.cpu.losses)} steps, largest relative gap "
            f"{self.max_relative_loss_difference:.1e}\n"
            f"Wall time       {self.wall_s:.1f} s (measured, both trainings)\n\n"
            f"{self.averages.table()}\n\n{self.verdict}"
        )


def _row(row: OpRow) -> dict[str, Any]:
    return {
        "op": row.op,
        "calls": row.calls,
        "launches": row.launches,
        "kernel": ", ".join(f"{k.name} {k.file}:{k.line}" for k in row.kernels) or None,
        "decomposed": list(row.decomposed_into) if row.is_decomposed else None,
        "sectors_per_request": row.sectors_per_request,
        "h2d_bytes": row.h2d_bytes,
        "d2h_bytes": row.d2h_bytes,
        "modelled_us": row.elapsed_ns / 1e3,
        "share": row.share,
    }
