"""Presets before compute capability 5.0: GPUs whose counting rules are their own.

They are here to see what the hardware has learned since: half-warps that coalesce whole
or not at all (C870), that shrink segments (C1060), cached lines (C2050).

Source: NVIDIA board specifications of each card; CUDA C++ Best Practices Guide,
"Theoretical Bandwidth Calculation": ECC of GDDR memory takes about a fifth of its
bandwidth (C2050, M2050, K20c: 0.8 × 0.87). Marked in `sources` with "unmeasured" is
what no document tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.arch.presets import GIB, preset

if TYPE_CHECKING:
    from tinytorch_gpu.arch.spec import GpuSpec

__all__ = ["OLDER_GPUS"]

OLDER_GPUS: dict[str, GpuSpec] = {
    "8800gtx": preset(
        "GeForce 8800 GTX",
        (1, 0),
        sms=16,
        ghz=1.35,
        dram=86.4,
        memory_bytes=768 * 2**20,
        l2_kib=0,
        link="PCIe 1 x16",
        sources="8800 GTX board specification; PCIe 1, launch costs: unmeasured",
    ),
    "c870": preset(
        "Tesla C870",
        (1, 0),
        sms=16,
        ghz=1.35,
        dram=76.8,
        memory_bytes=3 * GIB // 2,
        l2_kib=0,
        link="PCIe 1 x16",
        sources="Tesla C870 board specification; PCIe 1, launch costs: unmeasured",
    ),
    "gtx280": preset(
        "GeForce GTX 280",
        (1, 3),
        sms=30,
        ghz=1.296,
        dram=141.7,
        memory_bytes=GIB,
        l2_kib=0,
        link="PCIe 2 x16",
        sources="GTX 280 board specification; PCIe 2, launch costs: unmeasured",
    ),
    "c1060": preset(
        "Tesla C1060",
        (1, 3),
        sms=30,
        ghz=1.296,
        dram=102.4,
        memory_bytes=4 * GIB,
        l2_kib=0,
        link="PCIe 2 x16",
        sources="Tesla C1060 board specification; PCIe 2, launch costs: unmeasured",
    ),
    "c2050": preset(
        "Tesla C2050",
        (2, 0),
        sms=14,
        ghz=1.15,
        dram=144.0,
        memory_bytes=3 * GIB,
        l2_kib=768,
        link="PCIe 2 x16",
        sources="Tesla C2050 board specification; ECC takes a fifth",
        dram_efficiency=0.7,
    ),
    "m2050": preset(
        "Tesla M2050",
        (2, 0),
        sms=14,
        ghz=1.15,
        dram=148.0,
        memory_bytes=3 * GIB,
        l2_kib=768,
        link="PCIe 2 x16",
        sources="Tesla M2050 board specification; ECC takes a fifth",
        dram_efficiency=0.7,
    ),
    "gtx680": preset(
        "GeForce GTX 680",
        (3, 0),
        sms=8,
        ghz=1.058,
        dram=192.0,
        memory_bytes=2 * GIB,
        l2_kib=512,
        link="PCIe 3 x16",
        sources="GTX 680 board specification; deviceQuery (thamada/gls): 1 copy "
        "engine; launch costs: unmeasured",
        copy_engines=1,
    ),
    "k20c": preset(
        "Tesla K20c",
        (3, 5),
        sms=13,
        ghz=0.706,
        dram=208.0,
        memory_bytes=5 * GIB,
        l2_kib=1280,
        link="PCIe 2 x16",
        sources="Tesla K20c board specification; ECC takes a fifth",
        dram_efficiency=0.7,
    ),
}
