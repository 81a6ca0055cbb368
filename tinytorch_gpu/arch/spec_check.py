"""`check_spec`: refuse a GPU on paper that no model can compute with.

Comes in: a `GpuSpec` that somebody made. Goes out: the same, or an error that names the
field.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING

from tinytorch_gpu.errors import GpuSpecError

if TYPE_CHECKING:
    from tinytorch_gpu.arch.spec import GpuSpec

__all__ = ["check_spec"]

SHARES = {"dram_efficiency", "fp32_sustained"}
# A GPU may be without these, or they may cost nothing.
MAY_BE_0 = {
    "l2_bytes",
    "l1_and_shared_bytes_per_sm",
    "alu_latency_clocks",
    "shared_latency_clocks",
    "l1_request_bytes",
    "barrier_threads_per_clock",
    "l1_latency_ns",
    "l2_latency_ns",
    "dram_latency_ns",
    "copy_latency_ns",
    "launch_issue_ns",
    "kernel_floor_ns",
    "synchronize_ns",
    "malloc_ns",
    "free_ns",
    "copy_engines",
}


def check_spec(spec: GpuSpec) -> GpuSpec:
    """Check every number of a spec.

    Args:
        spec: the GPU.

    Returns:
        The spec.

    Raises:
        GpuSpecError: a number is missing, negative, infinite or NaN, 0 where the models
            divide by it, or a fraction where things are counted.

    Example:
        >>> from tinytorch_gpu.arch.catalog import PRESETS
        >>> check_spec(PRESETS["toy"]).name
        'toy GPU'

    Source: what the models of `tinytorch_gpu.cost` divide by or count with.
    """
    for field in fields(spec):
        value = getattr(spec, field.name)
        if field.type in {"int", "float"} and not _fits(field.name, field.type, value):
            raise _no_number(spec, field.name, str(field.type), value)
    return spec


def _fits(name: str, kind: object, value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    if not math.isfinite(value) or (kind == "int" and value != int(value)):
        return False
    if name in SHARES:
        return 0 < value <= 1
    return value >= 0 if name in MAY_BE_0 else value > 0


def _no_number(spec: GpuSpec, name: str, kind: str, value: object) -> GpuSpecError:
    number = "a whole number" if kind == "int" else "a finite number"
    bounds = "0 or more" if name in MAY_BE_0 else "above 0"
    if name in SHARES:
        bounds += ", 1 at most"
    return GpuSpecError(
        f"a GPU with {name}={value!r}",
        where=f"GpuSpec {spec.name!r}",
        why=f"{name} is {number}, {bounds}",
        fix=f"dataclasses.replace(spec, {name}=...), for example from PRESETS['t4']",
        field=name,
    )
