"""Names what is wrong with a kernel: findings, and the report that holds them."""

from tinytorch_gpu.sanitizer.finding import Access, Finding
from tinytorch_gpu.sanitizer.float64 import float64_findings
from tinytorch_gpu.sanitizer.from_errors import finding_of
from tinytorch_gpu.sanitizer.leaks import live_allocations
from tinytorch_gpu.sanitizer.numbers import NumberChecks
from tinytorch_gpu.sanitizer.order_dependence import order_finding
from tinytorch_gpu.sanitizer.races import MemoryChecker
from tinytorch_gpu.sanitizer.report import SanitizerReport

__all__ = [
    "Access",
    "Finding",
    "MemoryChecker",
    "NumberChecks",
    "SanitizerReport",
    "finding_of",
    "float64_findings",
    "live_allocations",
    "order_finding",
]
