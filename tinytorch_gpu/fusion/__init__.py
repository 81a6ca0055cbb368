"""Fusion: find ops that could be one kernel, and make that kernel."""

from tinytorch_gpu.fusion.bill import Bill
from tinytorch_gpu.fusion.comparison import FusionComparison
from tinytorch_gpu.fusion.fuse import Fused, fuse
from tinytorch_gpu.fusion.opportunities import opportunities
from tinytorch_gpu.fusion.opportunity import (
    FusionOpportunities,
    Opportunity,
    Refusal,
)

__all__ = [
    "Bill",
    "Fused",
    "FusionComparison",
    "FusionOpportunities",
    "Opportunity",
    "Refusal",
    "fuse",
    "opportunities",
]
