"""The presets as a table, and all numbers of one GPU as a sheet, to print."""

from __future__ import annotations

import textwrap
from dataclasses import fields
from typing import TYPE_CHECKING

from tinytorch_gpu.arch.catalog import PRESETS, find_gpu
from tinytorch_gpu.units import format_bytes

if TYPE_CHECKING:
    from tinytorch_gpu.arch.spec import GpuSpec

__all__ = ["gpu_sheet", "gpu_table"]

HEAD = (
    "name",
    "GPU",
    "cc",
    "SMs",
    "fp32 TFLOP/s",
    "DRAM GB/s",
    "memory",
    "L2",
    "host link",
)
LEFT = (0, 1, 8)  # columns of words
WIDTH = 88


def gpu_table() -> str:
    """Return a table of all presets, one row each.

    Example:
        >>> for line in gpu_table().splitlines()[:2]:
        ...     print(" ".join(line.split()))
        name GPU cc SMs fp32 TFLOP/s DRAM GB/s memory L2 host link
        t4 Tesla T4 7.5 40 8.14 320 16.1 GB 4.19 MB PCIe 3 x16

    Source: the presets' own `sources`.
    """
    rows = [HEAD, *(_row(name, spec) for name, spec in PRESETS.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_aligned(row, widths) for row in rows)


def gpu_sheet(gpu: str | GpuSpec) -> str:
    """Return every number of one GPU, a line each, and its sources.

    Args:
        gpu: a preset's name or a spec.

    Raises:
        GPUNotFoundError: no preset has that name.

    Example:
        >>> print(gpu_sheet("t4").splitlines()[1])
        name                           Tesla T4

    Source: the spec's own `sources`, which the sheet shows.
    """
    spec = find_gpu(gpu)
    title = f"{spec.name}: what simgpu models it with; units stand in the names"
    names = [f.name for f in fields(spec) if f.name != "sources"]
    lines = [f"{name:<30} {_told(getattr(spec, name))}" for name in names]
    flops = f"{spec.peak_fp32_flops / 1e12:.2f} TFLOP/s"
    ridge = f"{spec.ridge_flops_per_byte:.1f} flop/B"
    lines += [f"{'peak float32':<30} {flops}", f"{'ridge of the roofline':<30} {ridge}"]
    hanging = textwrap.fill(
        spec.sources, WIDTH, initial_indent=" " * 31, subsequent_indent=" " * 31
    )
    return "\n".join([title, *lines, f"{'sources':<30} {hanging.strip()}"])


def _row(name: str, spec: GpuSpec) -> tuple[str, ...]:
    major, minor = spec.compute_capability
    return (
        name,
        spec.name,
        f"{major}.{minor}",
        str(spec.num_sms),
        f"{spec.peak_fp32_flops / 1e12:.2f}",
        f"{spec.dram_gb_per_s:g}",
        format_bytes(spec.memory_bytes),
        format_bytes(spec.l2_bytes),
        spec.host_link,
    )


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    cells = [
        cell.ljust(width) if i in LEFT else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()


def _told(value: object) -> str:
    """Return a value as a reader writes it, for example 65,536."""
    if isinstance(value, tuple):
        return ", ".join(_told(part) for part in value) or "none"
    return f"{value:,}" if isinstance(value, (int, float)) else str(value)
