"""The shipped kernels of every op; importing this registers them for `simgpu`.

Start with `threads` (exported from lesson 01), then `elementwise`, `reduce`, `matmul`.
"""

from tinytorch_gpu.kernels import (
    backward,
    compare,
    copying,
    elementwise,
    losses,
    matmul,
    reduce,
    scalar,
    softmax,
    threads,
    unary,
)

__all__ = [
    "backward",
    "compare",
    "copying",
    "elementwise",
    "losses",
    "matmul",
    "reduce",
    "scalar",
    "softmax",
    "threads",
    "unary",
]
