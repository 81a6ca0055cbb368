"""Presets of data-center and workstation GPUs since Pascal.

Source: NVIDIA data sheets of each board (SMs, boost clock, memory, L2), deviceQuery
dumps of T4 and A100; what else is known stands in each preset's `sources`. `presets`
names the sources of the shares of the peaks (`dram_efficiency`, `fp32_sustained`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.arch.presets import GIB, preset

if TYPE_CHECKING:
    from tinytorch_gpu.arch.spec import GpuSpec

__all__ = ["DATA_CENTER_GPUS"]

DATA_CENTER_GPUS: dict[str, GpuSpec] = {
    "t4": preset(
        "Tesla T4",
        (7, 5),
        sms=40,
        ghz=1.59,
        dram=320.0,
        memory_bytes=15 * GIB,
        l2_kib=4096,
        link="PCIe 3 x16",
        sources="T4 data sheet; Colab deviceQuery; what the 70 W board sustains of its "
        "peak: unmeasured",
    ),
    "p100": preset(
        "Tesla P100-SXM2-16GB",
        (6, 0),
        sms=56,
        ghz=1.48,
        dram=732.0,
        memory_bytes=16 * GIB,
        l2_kib=4096,
        link="PCIe 3 x16",
        sources="P100 data sheet",
    ),
    "p100pcie": preset(
        "Tesla P100-PCIE-16GB",
        (6, 0),
        sms=56,
        ghz=1.303,
        dram=732.0,
        memory_bytes=16 * GIB,
        l2_kib=4096,
        link="PCIe 3 x16",
        sources="P100 data sheet",
    ),
    "v100": preset(
        "Tesla V100-SXM2-16GB",
        (7, 0),
        sms=80,
        ghz=1.53,
        dram=898.0,
        memory_bytes=16 * GIB,
        l2_kib=6144,
        link="PCIe 3 x16",
        sources="V100 data sheet; Best Practices Guide: 898 GB/s, copy 790",
        dram_efficiency=0.88,
    ),
    "v100pcie": preset(
        "Tesla V100-PCIE-16GB",
        (7, 0),
        sms=80,
        ghz=1.38,
        dram=900.0,
        memory_bytes=16 * GIB,
        l2_kib=6144,
        link="PCIe 3 x16",
        sources="V100 data sheet; gpu-stream: 814 GB/s",
        dram_efficiency=0.9,
    ),
    "a100": preset(
        "A100-SXM4-40GB",
        (8, 0),
        sms=108,
        ghz=1.41,
        dram=1555.0,
        memory_bytes=40 * GIB,
        l2_kib=40960,
        link="PCIe 4 x16",
        sources="A100 data sheet; deviceQuery; copies of 25.1 GB/s; gpu-stream: "
        "1375 GB/s; gpu-roofline: 19.2 TFLOP/s",
        dram_efficiency=0.88,
        fp32_sustained=0.98,
    ),
    "a10080gb": preset(
        "A100-SXM4-80GB",
        (8, 0),
        sms=108,
        ghz=1.41,
        dram=2039.0,
        memory_bytes=80 * GIB,
        l2_kib=40960,
        link="PCIe 4 x16",
        sources="A100 80GB data sheet; deviceQuery; gpu-stream: 1759 GB/s; "
        "sustained share as A100-SXM4-40GB",
        dram_efficiency=0.86,
        fp32_sustained=0.98,
    ),
    "a10080gbpcie": preset(
        "A100-PCIE-80GB",
        (8, 0),
        sms=108,
        ghz=1.41,
        dram=1935.0,
        memory_bytes=80 * GIB,
        l2_kib=40960,
        link="PCIe 4 x16",
        sources="A100 80GB data sheet; shares of the peaks as A100-SXM4",
        dram_efficiency=0.86,
        fp32_sustained=0.98,
    ),
    "h100": preset(
        "H100-SXM5-80GB",
        (9, 0),
        sms=132,
        ghz=1.98,
        dram=3350.0,
        memory_bytes=80 * GIB,
        l2_kib=51200,
        link="PCIe 5 x16",
        sources="H100 data sheet and whitepaper; PCIe 5 copies: unmeasured; "
        "shares of the peaks as H100-PCIE and H200",
        dram_efficiency=0.9,
        fp32_sustained=0.64,
    ),
    "h100pcie": preset(
        "H100-PCIE-80GB",
        (9, 0),
        sms=114,
        ghz=1.755,
        dram=2039.0,
        memory_bytes=80 * GIB,
        l2_kib=51200,
        link="PCIe 5 x16",
        sources="H100 data sheet; PCIe 5 copies: unmeasured; gpu-stream: "
        "1832 GB/s; sustained share as H200",
        dram_efficiency=0.9,
        fp32_sustained=0.64,
    ),
    "h200": preset(
        "H200-SXM-141GB",
        (9, 0),
        sms=132,
        ghz=1.98,
        dram=4800.0,
        memory_bytes=141 * 10**9,
        l2_kib=51200,
        link="PCIe 5 x16",
        sources="H200 data sheet; PCIe 5 copies: unmeasured; gpu-roofline: "
        "3780 GB/s and 42.6 TFLOP/s",
        dram_efficiency=0.79,
        fp32_sustained=0.64,
    ),
    "gh200": preset(
        "GH200 Grace Hopper",
        (9, 0),
        sms=132,
        ghz=1.98,
        dram=3350.0,
        memory_bytes=80 * GIB,
        l2_kib=51200,
        link="NVLink-C2C",
        sources="SMs, clock, memory, L2 and shares of the peaks taken over from the "
        "H100-SXM5-80GB preset; NVLink-C2C copies: public reports",
        dram_efficiency=0.9,
        fp32_sustained=0.64,
    ),
    "b200": preset(
        "B200-SXM-180GB",
        (10, 0),
        sms=148,
        ghz=1.965,
        dram=7700.0,
        memory_bytes=180 * 10**9,
        l2_kib=129024,
        link="PCIe 5 x16",
        sources="Blackwell announcements, clock and L2 not confirmed: unmeasured; "
        "sustained share as H200",
        fp32_sustained=0.64,
    ),
    "l4": preset(
        "L4",
        (8, 9),
        sms=58,
        ghz=2.04,
        dram=300.0,
        memory_bytes=24 * GIB,
        l2_kib=49152,
        link="PCIe 4 x16",
        sources="L4 data sheet; shares of the peaks as L40's, by gpu-stream and "
        "gpu-roofline; what the 72 W board sustains: unmeasured",
        dram_efficiency=0.93,
        fp32_sustained=0.56,
    ),
    "rtxa6000": preset(
        "RTX A6000",
        (8, 6),
        sms=84,
        ghz=1.8,
        dram=768.0,
        memory_bytes=48 * GIB,
        l2_kib=6144,
        link="PCIe 4 x16",
        sources="RTX A6000 data sheet; shares of the peaks as A40's, the same chip "
        "and kind of memory at 300 W, by gpu-stream and gpu-roofline",
        dram_efficiency=0.95,
        fp32_sustained=0.63,
    ),
}
