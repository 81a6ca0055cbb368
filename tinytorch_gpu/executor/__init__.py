"""The executor: lanes in lockstep under masks; knows no front end."""

from tinytorch_gpu.executor.engine import LaneProgram, run
from tinytorch_gpu.executor.lanes import Batch
from tinytorch_gpu.executor.mask import Mask

__all__ = ["Batch", "LaneProgram", "Mask", "run"]
