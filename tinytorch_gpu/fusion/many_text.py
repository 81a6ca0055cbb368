"""The text of a kernel over several arrays of their own lengths: horizontal fusion.

Every thread does its element of each array in turn; the grid covers the longest one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tinytorch_gpu.fusion.text import INDENT, assembled, element_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.fusion.graph import Graph

__all__ = ["THREADS", "many_kernel_text"]

THREADS = 256  # of a block


def many_kernel_text(name: str, graphs: Sequence[Graph]) -> str:
    """Write one kernel for several element-wise graphs.

    Args:
        name: the kernel's.
        graphs: what is computed of each array; parameters have names of their own.

    Returns:
        Python source.
    """
    body = ["i = cuda.grid(1)"]
    for graph in graphs:
        body.append(f"if i < {graph.stores[-1]}.size:")
        needed = sorted({n for out in graph.outputs for n in graph.needed(out)})
        body += [INDENT + line for line in element_lines(graph, needed, "i")]
        for store, number in zip(graph.stores, graph.outputs, strict=True):
            body.append(f"{INDENT}{store}[i] = {graph.variable(number)}")
    whole = replace(
        graphs[0],
        names=tuple(name for graph in graphs for name in graph.names),
        stores=tuple(name for graph in graphs for name in graph.stores),
        numbers=tuple(dict.fromkeys(n for graph in graphs for n in graph.numbers)),
    )
    return assembled(name, whole, body)
