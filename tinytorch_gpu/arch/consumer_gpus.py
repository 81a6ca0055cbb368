"""Presets of GPUs in desktops and on small boards since Turing.

Source: NVIDIA whitepapers of each chip (SMs, boost clock, memory, L2) and NVBench
logs; what else is known stands in each preset's `sources`. `presets` names the
sources of `fp32_sustained`: A40's for GA10x, L40's for later ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.arch.presets import GIB, preset

if TYPE_CHECKING:
    from tinytorch_gpu.arch.spec import GpuSpec

__all__ = ["CONSUMER_GPUS"]

CONSUMER_GPUS: dict[str, GpuSpec] = {
    "rtx2080super": preset(
        "GeForce RTX 2080 SUPER",
        (7, 5),
        sms=48,
        ghz=1.815,
        dram=496.0,
        memory_bytes=8 * GIB,
        l2_kib=4096,
        link="PCIe 3 x16",
        sources="TU104 data sheet; latencies: the results that `limits` tells of",
    ),
    "rtx3060": preset(
        "GeForce RTX 3060 12GB",
        (8, 6),
        sms=28,
        ghz=1.777,
        dram=360.0,
        memory_bytes=12 * GIB,
        l2_kib=2304,
        link="PCIe 4 x16",
        sources="GA106 data sheet; an NVBench log; sustained share as A40",
        fp32_sustained=0.63,
    ),
    "rtx3080": preset(
        "GeForce RTX 3080 10GB",
        (8, 6),
        sms=68,
        ghz=1.71,
        dram=760.0,
        memory_bytes=10 * GIB,
        l2_kib=5120,
        link="PCIe 4 x16",
        sources="GA102 whitepaper; NVBench log of R100001/Programming-Massively-"
        "Parallel-Processors; sustained share as A40",
        fp32_sustained=0.63,
    ),
    "rtx3090": preset(
        "GeForce RTX 3090",
        (8, 6),
        sms=82,
        ghz=1.695,
        dram=936.0,
        memory_bytes=24 * GIB,
        l2_kib=6144,
        link="PCIe 4 x16",
        sources="GA102 whitepaper; 819 GB/s read and a floor of 3.2 µs: the results "
        "that `limits` tells of; sustained share as A40",
        fp32_sustained=0.63,
        kernel_floor_ns=3_200.0,
    ),
    "rtx4090": preset(
        "GeForce RTX 4090",
        (8, 9),
        sms=128,
        ghz=2.52,
        dram=1008.0,
        memory_bytes=24 * GIB,
        l2_kib=73728,
        link="PCIe 4 x16",
        sources="Ada whitepaper; sustained share as L40",
        fp32_sustained=0.56,
    ),
    "rtx5090": preset(
        "GeForce RTX 5090",
        (12, 0),
        sms=170,
        ghz=2.407,
        dram=1792.0,
        memory_bytes=32 * GIB,
        l2_kib=98304,
        link="PCIe 5 x16",
        sources="RTX Blackwell whitepaper; PCIe 5 copies: unmeasured; "
        "sustained share as L40",
        fp32_sustained=0.56,
    ),
    "jetsonorinnano": preset(
        "Jetson Orin Nano 8GB",
        (8, 7),
        sms=8,
        ghz=0.625,
        dram=68.0,
        memory_bytes=8 * GIB,
        l2_kib=2048,
        link="integrated",
        sources="Orin Nano data sheet; L2 and the cost of a copy: unmeasured; "
        "sustained share as A40",
        fp32_sustained=0.63,
    ),
}
