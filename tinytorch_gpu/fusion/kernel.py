"""`FusedKernel`: the text of a fused kernel, compiled, and launched as ops are.

The text on show begins with numba's import line; what runs here is the same text with
the simulator's in its place.
"""

from __future__ import annotations

import builtins
import hashlib
import keyword
import linecache
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.fusion.names import RESERVED
from tinytorch_gpu.fusion.row_text import THREADS, row_kernel_text
from tinytorch_gpu.fusion.text import HEADER, kernel_text
from tinytorch_gpu.kernels.layout import block_of_row, launch_elementwise
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.fusion.graph import Graph

__all__ = ["FusedKernel", "compiled", "fused_kernel", "kernel_name"]

TAKEN = {*RESERVED, *vars(builtins)}  # names that its text may use
OURS = "from tinytorch_gpu import cuda, float32\n"


@dataclass(frozen=True, eq=False)
class FusedKernel:
    """A generated kernel.

    Args:
        name: of the function.
        source: the text, as it runs with numba on real hardware.
        has_rows: one block works on one row.
        kernel: what `cuda.jit` made of it.
    """

    name: str
    source: str
    has_rows: bool
    kernel: Any = field(repr=False)

    def launch(
        self, shape: tuple[int, ...], arguments: Sequence[Any], is_row: list[bool]
    ) -> None:
        """Launch it.

        Args:
            shape: that it walks over.
            arguments: one for each parameter: device arrays, the main output last, and
                numbers.
            is_row: for each, whether it has one element for each row.
        """
        if not self.has_rows:
            launch_elementwise(self.kernel, arguments[:-1], arguments[-1])
            return
        count = math.prod(shape[:-1])
        views = [
            _rows(given, shape, count, is_row=one)
            for given, one in zip(arguments, is_row, strict=True)
        ]
        self.kernel[count, block_of_row(shape[-1], THREADS)](*views)


def _rows(given: Any, shape: tuple[int, ...], count: int, *, is_row: bool) -> Any:
    """View an array as (rows, n), one of rows as (rows, 1); leave a number."""
    if not isinstance(given, DeviceArray):
        return given
    if is_row:
        one = given
        if given.size != count:  # the same for several rows
            one = given.broadcast_to((*shape[:-1], 1))
        return one.reshape(count, 1)
    return given.broadcast_to(shape).reshape(count, shape[-1])


def kernel_name(name: str) -> str:
    """Return the name of the kernel of a function, where the function's is none.

    Args:
        name: of the function.

    Example:
        >>> [kernel_name(name) for name in ("gelu", "<lambda>", "block_sum")]
        ['gelu', 'fused', 'block_sum_fused']
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        return "fused"
    return f"{name}_fused" if name in TAKEN else name


def fused_kernel(name: str, graph: Graph) -> FusedKernel:
    """Write and compile the kernel of a graph.

    Args:
        name: the kernel's.
        graph: what it computes.
    """
    write = row_kernel_text if graph.has_rows else kernel_text
    source = write(name, graph)
    return FusedKernel(name, source, graph.has_rows, compiled(name, source))


def compiled(name: str, source: str) -> Any:
    """Make a kernel of a text.

    Args:
        name: of the function in it.
        source: the text, with numba's import line.

    Returns:
        A `cuda.jit` kernel, whose errors and reports show the text.
    """
    text = source.replace(HEADER, OURS)
    file = f"<fused {name} {hashlib.sha256(text.encode()).hexdigest()[:8]}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": f"fused_{name}"}
    exec(compile(text, file, "exec"), namespace)  # noqa: S102  (our own text)
    return namespace[name]
