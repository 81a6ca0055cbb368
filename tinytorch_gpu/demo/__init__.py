"""The demo: handwritten digits on the CPU and on the simulated GPU."""

from tinytorch_gpu.demo.digits import Digits, load_digits
from tinytorch_gpu.demo.report import DemoReport
from tinytorch_gpu.demo.run import run_demo

__all__ = ["DemoReport", "Digits", "load_digits", "run_demo"]
