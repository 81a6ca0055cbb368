"""Run the demo: train on both devices, profile the simulated one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tinytorch_gpu import profiler, tinytorch
from tinytorch_gpu.demo.digits import load_digits
from tinytorch_gpu.demo.report import DemoReport
from tinytorch_gpu.demo.training import steps_per_epoch, train
from tinytorch_gpu.integration import installed

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["run_demo"]


def run_demo(
    gpu: str = "t4",
    epochs: int = 10,
    progress: Callable[[str, int, int], None] = lambda _device, _step, _steps: None,
) -> DemoReport:
    """Train the digits on the CPU and on simgpu, from the same seed.

    Args:
        gpu: the GPU to model.
        epochs: passes over the training images.
        progress: called with device, step and number of steps.

    Returns:
        Accuracies, losses, the bill and the verdict.

    Raises:
        GPUNotFoundError: no preset has that name.
    """
    began = time.perf_counter()
    digits = load_digits()
    steps = epochs * steps_per_epoch(digits)

    def on_step(device: str) -> Callable[[], None]:
        done = iter(range(1, steps + 1))
        return lambda: progress(device, next(done), steps)

    with installed(gpu, package=tinytorch.__name__):
        cpu = train(digits, "cpu", epochs, on_step("cpu"))
        with profiler.profile() as prof:
            simgpu = train(digits, "simgpu", epochs, on_step("simgpu"))
    wall_s = time.perf_counter() - began
    return DemoReport(simgpu, cpu, prof.key_averages(), prof.verdict(), wall_s)
