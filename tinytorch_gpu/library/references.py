"""The table op → NumPy reference and inputs, of all shipped ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.library.reference_axes import AXES
from tinytorch_gpu.library.reference_elementwise import ELEMENTWISE
from tinytorch_gpu.library.reference_indices import INDICES
from tinytorch_gpu.library.reference_layers import LAYERS
from tinytorch_gpu.library.reference_training import TRAINING
from tinytorch_gpu.library.reference_windows import WINDOWS

if TYPE_CHECKING:
    from tinytorch_gpu.library.cases import OpFacts

__all__ = ["OPS"]

OPS: dict[str, OpFacts] = {
    f"tinytorch::{name}": facts
    for table in (ELEMENTWISE, AXES, LAYERS, WINDOWS, TRAINING, INDICES)
    for name, facts in table.items()
}
