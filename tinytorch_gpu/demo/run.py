"""Run the demo: train on both devices, profile the simulated one."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

from tinytorch_gpu import profiler, tinytorch
from tinytorch_gpu.demo.digits import load_digits
from tinytorch_gpu.demo.report import DemoReport
from tinytorch_gpu.demo.training import Plan, train
from tinytorch_gpu.integration import installed
from tinytorch_gpu.runtime.memory_module import empty_cache

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["run_demo"]


def run_demo(
    gpu: str = "t4",
    epochs: int = 10,
    progress: Callable[[str, int, int], None] = lambda _device, _step, _steps: None,
    *,
    batch: int = 32,
    resident: bool = False,
    pinned: bool = False,
    fused: bool = False,
) -> DemoReport:
    """Train the digits on the CPU and on simgpu, from the same seed.

    Args:
        gpu: the GPU to model.
        epochs: passes over the training images.
        progress: called with device, step and number of steps.
        batch: images in a batch.
        resident: copy the training images to the device once, not batch by batch.
        pinned: copy from page-locked host memory.
        fused: make bias and ReLU one kernel, and the optimizer's step another.

    Returns:
        Accuracies, losses, the bill and the verdict.

    Raises:
        GPUNotFoundError: no preset has that name.
    """
    began = time.perf_counter()
    digits = load_digits()
    plan = Plan(epochs, batch, is_resident=resident, is_pinned=pinned, is_fused=fused)
    steps = plan.steps(digits)

    def on_step(device: str) -> Callable[[], None]:
        done = iter(range(1, steps + 1))
        return lambda: progress(device, next(done), steps)

    with installed(gpu, package=tinytorch.__name__):
        cpu = train(digits, "cpu", plan, on_step("cpu"))
        gc.collect()  # arrays of an earlier training, which its tensors' cycles hold
        empty_cache()  # so that each training asks the driver for all its memory
        with profiler.profile() as prof:
            simgpu = train(digits, "simgpu", plan, on_step("simgpu"))
    wall_s = time.perf_counter() - began
    return DemoReport(simgpu, cpu, prof.key_averages(), prof.verdict(), wall_s)
