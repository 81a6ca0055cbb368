"""`GpuSpec`: one GPU on paper, the only place where a model reads hardware numbers.

Every field carries its unit in its name. A learner can define a GPU of their own by
calling `GpuSpec(...)` or `dataclasses.replace(preset, ...)`. Presets and their sources
stand in `catalog.py`.

Source: NVIDIA data sheets and the CUDA C++ Programming Guide, "Compute Capabilities";
each preset names its own.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GpuSpec"]


@dataclass(frozen=True, slots=True)
class GpuSpec:
    """A GPU as the cost model sees it.

    Args:
        name: how the GPU is called, for example "Tesla T4".
        compute_capability: (major, minor).
        num_sms: streaming multiprocessors.
        clock_ghz: boost clock; an upper bound of what a real board sustains.
        fp32_lanes_per_sm: float32 fused multiply-adds for each clock and SM.
        fp64_lanes_per_sm: the same for float64.
        sfu_lanes_per_sm: exp, log, sqrt, division steps for each clock and SM.
        int32_lanes_per_sm: integer operations for each clock and SM.
        schedulers_per_sm: warp instructions issued for each clock and SM.
        dram_gb_per_s: peak DRAM bandwidth.
        dram_efficiency: share of it that a large coalesced stream reaches.
        fp32_sustained: share of peak flops that a stream of fused multiply-adds
            sustains; 1.0, the data sheet's peak, where nothing is known.
        memory_bytes: DRAM.
        l2_bytes: L2 cache.
        l2_bytes_per_clock_per_sm: what L2 gives for each clock, divided by the SMs.
        max_threads_per_block: limit of a launch.
        max_block_dim: limits of block x, y, z.
        max_grid_dim: limits of grid x, y, z.
        max_threads_per_sm: resident threads.
        max_blocks_per_sm: resident blocks.
        registers_per_sm: 32-bit registers.
        shared_bytes_per_block: static shared memory that a block may use.
        shared_bytes_per_sm: shared memory of an SM.
        warp_size: lanes of a warp.
        sector_bytes: unit of a global request.
        ldst_lanes_per_sm: addresses of global memory taken for each clock and SM.
        max_registers_per_thread: 32-bit registers that one thread may have.
        shared_bytes_per_block_optin: shared memory of a block that asks for more.
        l1_and_shared_bytes_per_sm: the array that L1 and shared memory share; 0 where
            L1 does not cache global loads.
        shared_carveouts: bytes of it that shared memory may take, ascending.
        shared_bytes_per_clock: what shared memory gives for each clock and SM.
        l1_tags_per_clock: lines that L1 looks up for each clock.
        l1_request_bytes: bytes of neighbouring lanes that L1 looks up at a time, where
            its data lie apart from shared memory (6.0); 0 where it takes a warp.
        barrier_threads_per_clock: threads that an SM takes in at a barrier for each
            clock; 0 if barriers cost nothing.
        alu_latency_clocks: clocks until a dependent operation can start.
        shared_latency_clocks: clocks of a load from shared memory.
        l1_latency_ns: time of a load that hits L1.
        l2_latency_ns: time of a load that hits L2.
        dram_latency_ns: time of a load from DRAM.
        host_link: what connects it with the host, in words.
        bank_bytes: width of a bank of shared memory: 4, or 8 on compute capability 3.x
            after `cudaDeviceSetSharedMemConfig`.
        pinned_gb_per_s: host link, page-locked memory, large copy.
        pageable_gb_per_s: host link, ordinary memory (all NumPy arrays).
        copy_latency_ns: cost of one copy however small.
        launch_issue_ns: host time that one launch costs.
        kernel_floor_ns: device time of a kernel that does nothing.
        synchronize_ns: host time of one synchronisation.
        malloc_ns: host time of one cudaMalloc; a cached chunk costs nothing.
        free_ns: host time of one cudaFree, which also waits for the device.
        copy_engines: directions that copy beside kernels at one time: 2; 1 on compute
            capability 1.1 to 1.3 and on a GTX 680 (one direction at a time); 0 on 1.0.
        sources: where the numbers come from.

    Example:
        >>> from tinytorch_gpu.arch.catalog import find_gpu
        >>> t4 = find_gpu("t4")
        >>> round(t4.peak_fp32_flops / 1e12, 2)     # 2 × 40 SMs × 64 lanes × 1.59 GHz
        8.14
    """

    name: str
    compute_capability: tuple[int, int]
    num_sms: int
    clock_ghz: float
    fp32_lanes_per_sm: int
    fp64_lanes_per_sm: int
    dram_gb_per_s: float
    memory_bytes: int
    l2_bytes: int
    max_threads_per_sm: int
    max_blocks_per_sm: int
    shared_bytes_per_sm: int
    pinned_gb_per_s: float
    pageable_gb_per_s: float
    sources: str
    # What follows stands in for what a GPU made by hand does not tell; presets tell it
    # all. These are what most SMs have since 7.0, latencies of an RTX 3090 (`limits`),
    # no L1 for global loads, and an L2 that gives more than any that was measured.
    sfu_lanes_per_sm: int = 16
    int32_lanes_per_sm: int = 64
    schedulers_per_sm: float = 4
    dram_efficiency: float = 0.87  # between 0.79 and 0.95: `presets`
    fp32_sustained: float = 1.0  # the data sheet's peak: `presets`
    l2_bytes_per_clock_per_sm: float = 64.0
    max_threads_per_block: int = 1024
    max_block_dim: tuple[int, int, int] = (1024, 1024, 64)
    max_grid_dim: tuple[int, int, int] = (2**31 - 1, 65_535, 65_535)
    registers_per_sm: int = 65_536
    shared_bytes_per_block: int = 48 * 1024
    warp_size: int = 32
    sector_bytes: int = 32
    bank_bytes: int = 4
    ldst_lanes_per_sm: int = 32
    max_registers_per_thread: int = 255
    shared_bytes_per_block_optin: int = 48 * 1024
    l1_and_shared_bytes_per_sm: int = 0
    shared_carveouts: tuple[int, ...] = ()
    shared_bytes_per_clock: int = 128
    l1_tags_per_clock: float = 4.0
    l1_request_bytes: int = 0
    barrier_threads_per_clock: float = 16.0
    alu_latency_clocks: float = 4.0
    shared_latency_clocks: float = 29.0
    l1_latency_ns: float = 23.0
    l2_latency_ns: float = 146.0
    dram_latency_ns: float = 264.0
    host_link: str = ""
    # Simplified: host times differ by driver, size and processor; one value for all. In
    # public tests a small copy took 10 µs (GTX 280, Boyer, "Memory Transfer Overhead")
    # and 5 to 7 µs (DualPath, 2026).
    copy_latency_ns: float = 8_000.0
    # From Python 5 to 10 µs, as TinyTorch tells its students. From C++ less, by host
    # and driver: 2.2 µs on a P100, 5.7 on a K80 (reframe-hpc, `kernel_latency`).
    launch_issue_ns: float = 5_000.0
    # Many kernels of 64 KB, one after another: L40 1.6 µs each, A40 2.1, H200 2.5, A100
    # 2.7 (te42kyfo/gpu-benches, `gpu-small-kernels`).
    kernel_floor_ns: float = 2_500.0
    # P100 4.4 µs, K80 8.0 (reframe-hpc, less the launch).
    synchronize_ns: float = 5_000.0
    # 50 µs up to 512 KB and more above (Boyer, "Memory Management Overhead"), 500 µs
    # for 1 MB (rtj1/cuda-mempool). Nothing public was found for `cudaFree`: as much.
    malloc_ns: float = 100_000.0
    free_ns: float = 100_000.0
    # deviceQuery: 2 on K20m, RTX 2080 Ti, RTX 3090, Orin, more on data-center GPUs; two
    # directions are all that there are. C2050: Programming Guide, "Concurrent Data
    # Transfers".
    copy_engines: int = 2

    @property
    def peak_fp32_flops(self) -> float:
        """Float32 operations a second: 2 × SMs × lanes × clock."""
        return 2e9 * self.num_sms * self.fp32_lanes_per_sm * self.clock_ghz

    @property
    def ridge_flops_per_byte(self) -> float:
        """Arithmetic intensity at which DRAM and float32 peaks take equal time."""
        return self.peak_fp32_flops / (1e9 * self.dram_gb_per_s)
