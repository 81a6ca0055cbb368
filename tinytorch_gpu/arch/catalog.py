"""Presets: real GPUs and a toy one, as data with sources.

Read `PRESETS`; look a name up with `find_gpu`, which forgives case and spaces and
answers a wrong name with the right ones. The GPUs stand in `data_center_gpus`,
`consumer_gpus` and `older_gpus`, what an SM of each compute capability has in `limits`.

Source: each preset's `sources`; `limits` and `presets` name those of their tables.
"""

from __future__ import annotations

import difflib
import textwrap

from tinytorch_gpu.arch.consumer_gpus import CONSUMER_GPUS
from tinytorch_gpu.arch.data_center_gpus import DATA_CENTER_GPUS
from tinytorch_gpu.arch.older_gpus import OLDER_GPUS
from tinytorch_gpu.arch.spec import GpuSpec
from tinytorch_gpu.arch.spec_check import check_spec
from tinytorch_gpu.errors import GPUNotFoundError

__all__ = ["PRESETS", "find_gpu"]

_TOY = {
    "toy": GpuSpec(
        name="toy GPU",
        compute_capability=(7, 5),
        num_sms=1,
        clock_ghz=1.0,
        fp32_lanes_per_sm=32,
        fp64_lanes_per_sm=1,
        dram_gb_per_s=32.0,
        memory_bytes=2**20,
        l2_bytes=64 * 1024,
        max_threads_per_sm=1024,
        max_blocks_per_sm=4,
        shared_bytes_per_sm=16 * 1024,
        shared_bytes_per_block=16 * 1024,
        shared_bytes_per_block_optin=16 * 1024,
        l1_tags_per_clock=1.0,
        barrier_threads_per_clock=0.0,
        alu_latency_clocks=0.0,
        shared_latency_clocks=0.0,
        l1_latency_ns=0.0,
        l2_latency_ns=0.0,
        dram_latency_ns=0.0,
        pinned_gb_per_s=2.0,
        pageable_gb_per_s=1.0,
        schedulers_per_sm=1,
        sfu_lanes_per_sm=4,
        int32_lanes_per_sm=32,
        dram_efficiency=1.0,
        fp32_sustained=1.0,
        copy_latency_ns=1_000.0,
        launch_issue_ns=1_000.0,
        kernel_floor_ns=1_000.0,
        synchronize_ns=0.0,
        malloc_ns=0.0,
        free_ns=0.0,
        host_link="made up",
        sources="made up: one SM, round numbers, no latencies; for work by hand",
    ),
}
PRESETS: dict[str, GpuSpec] = DATA_CENTER_GPUS | CONSUMER_GPUS | OLDER_GPUS | _TOY


def find_gpu(gpu: str | GpuSpec) -> GpuSpec:
    """Return the preset of that name, or the spec itself.

    Args:
        gpu: a name of `PRESETS`, or a preset's full name, as reports print it (case,
            spaces, `-` and `_` do not matter); or a spec.

    Returns:
        The spec.

    Raises:
        GPUNotFoundError: no preset has that name.
        GpuSpecError: a number of the spec is none that a model can compute with.

    Example:
        >>> find_gpu("RTX 3090").num_sms
        82
        >>> find_gpu("Tesla T4") is find_gpu("t4")
        True

    Source: the presets' own `sources`.
    """
    if isinstance(gpu, GpuSpec):
        return check_spec(gpu)
    key = _plain(gpu)
    key = _SHORT.get(key, key)
    if key in PRESETS:
        return PRESETS[key]
    near = difflib.get_close_matches(key, PRESETS, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise GPUNotFoundError(
        f"no GPU preset is named {gpu!r}",
        where="arch/catalog.py",
        why="\n".join(textwrap.wrap("presets: " + ", ".join(PRESETS), 75)),
        fix=hint + 'use one of these names, or pass a GpuSpec: install(gpu="t4")',
        gpu=gpu,
    )


def _plain(name: object) -> str:
    """Drop case and separators."""
    return str(name).lower().replace(" ", "").replace("-", "").replace("_", "")


_SHORT = {_plain(spec.name): name for name, spec in PRESETS.items()}
