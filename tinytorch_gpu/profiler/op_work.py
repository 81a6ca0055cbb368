"""The `Work` of ops by name at size N, as a well-written kernel and NumPy do them.

Comes in: an op's name, or a chain of names, and a GPU. Goes out: size → `Work`. Arrays
are float32; a matrix product is of two N × N matrices, all others of N elements.

Source: arithmetic intensities of the ops, each array moved once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.cost.breakeven import Work, roofline_ns
from tinytorch_gpu.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tinytorch_gpu.arch import GpuSpec

__all__ = ["note_of", "op_work", "work_of"]

ITEM = 4  # bytes of a float32
OPERANDS = {"relu": 1, "neg": 1, "abs": 1, "sum": 1} | dict.fromkeys(
    ("add", "sub", "mul", "div", "maximum"), 2
)


def work_of(ops: Sequence[str], spec: GpuSpec) -> Callable[[int], Work]:
    """Return the work of a chain of ops by its size.

    In a chain each op takes the result of the one before it, and numbers; only the
    first operands and the last result are copied.

    Args:
        ops: names such as `add`; `matmul` stands alone.
        spec: the GPU.

    Returns:
        Size → work.

    Raises:
        UnsupportedError: an op's work is not known.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> work = work_of(["add"], find_gpu("toy"))(1000)
        >>> work.bytes_in, work.bytes_out, work.host_bytes
        ((4000, 4000), (4000,), 12000)
    """
    if tuple(ops) == ("matmul",):
        return lambda size: _matmul(size, spec)
    unknown = [op for op in ops if op not in OPERANDS]
    if unknown or not ops:
        raise _not_known(unknown[0] if unknown else "")
    return lambda size: op_work(ops, size, spec)


def op_work(ops: Sequence[str], size: int, spec: GpuSpec) -> Work:
    """Return the work of a chain of element-wise ops and sums on `size` elements.

    Args:
        ops: names that are known, 1 or more.
        size: elements.
        spec: the GPU.

    Returns:
        The work.
    """
    # Simplified: one operation an element. A division takes the host's core about 4
    # times as long as an addition, but both wait for memory on large arrays.
    operands = [OPERANDS[ops[0]], *(1 for _ in ops[1:])]
    results = [0 if op == "sum" else size for op in ops]
    moved = [
        ITEM * (count * size + result)
        for count, result in zip(operands, results, strict=True)
    ]
    return Work(
        flops=size * len(ops),
        host_bytes=sum(moved),
        host_calls=len(ops),
        bytes_in=(ITEM * size,) * operands[0],
        bytes_out=(ITEM * max(1, results[-1]),),
        kernel_ns=tuple(roofline_ns(size, nbytes, spec) for nbytes in moved),
    )


def note_of(spec: GpuSpec) -> str:
    """Say what kernel the price of an op by name stands for.

    Args:
        spec: the GPU.
    """
    return (
        "The kernel is a well-written one: the slower of arithmetic at "
        f"{100 * spec.fp32_sustained:.0f} % of the GPU's peak and memory at "
        f"{100 * spec.dram_efficiency:.0f} % of its bandwidth. A first kernel may take "
        "many times as long; simgpu.breakeven(kernel, sizes, arguments=...) asks yours."
    )


def _matmul(size: int, spec: GpuSpec) -> Work:
    flops, nbytes = 2.0 * size**3, ITEM * size**2
    return Work(
        flops=flops,
        host_bytes=3 * nbytes,
        host_calls=1,
        bytes_in=(nbytes, nbytes),
        bytes_out=(nbytes,),
        kernel_ns=(roofline_ns(flops, 3 * nbytes, spec),),
    )


def _not_known(op: str) -> UnsupportedError:
    known = ", ".join(sorted(OPERANDS))
    return UnsupportedError(
        f"the work of the op {op!r} is not known",
        where="finding where an offload breaks even",
        why=f"stated are {known}; and matmul alone",
        fix="pass a kernel or a function with its arguments:\n"
        "simgpu.breakeven(kernel, sizes, arguments=lambda n: (...))",
    )
