"""The text of a fused kernel that works on rows: one block for each row.

Each reduction is a pass over the row: every thread joins its own elements, and the
block joins the threads' values in shared memory, with a barrier after each halving.
What a pass needs it computes again from what it loads: arithmetic costs less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.fusion.graph import FULL, ROW
from tinytorch_gpu.fusion.rules import REDUCTIONS
from tinytorch_gpu.fusion.text import (
    INDENT,
    assembled,
    commented,
    element_lines,
)

if TYPE_CHECKING:
    from tinytorch_gpu.fusion.graph import Graph

__all__ = ["THREADS", "passes", "row_kernel_text"]

THREADS = 256  # most threads of a block, and length of the shared array
LOOP = "for k in range(tid, n, cuda.blockDim.x):"
_JOIN = {
    "block_sum": "cache[tid] += cache[tid + half]",
    "block_max": "cache[tid] = larger(cache[tid], cache[tid + half])",
    "block_min": "cache[tid] = smaller(cache[tid], cache[tid + half])",
}
_CHOICE = """@cuda.jit(device=True)
def {name}(a, b):
    return b if a {sign} b or math.isnan(b) else a


"""
_BEFORE = {
    "block_max": _CHOICE.format(name="larger", sign="<"),
    "block_min": _CHOICE.format(name="smaller", sign=">"),
}
_FUNCTION = """@cuda.jit(device=True)
def {name}(cache, value):
    tid = cuda.threadIdx.x
    cache[tid] = value
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            {join}
        cuda.syncthreads()
        half //= 2
    result = cache[0]
    cuda.syncthreads()  # everyone has read it before the cache is used again
    return result


"""


def row_kernel_text(name: str, graph: Graph) -> str:
    """Write the kernel of a graph with reductions over rows.

    Args:
        name: the kernel's.
        graph: what it computes; arrays are (rows, n), those of rows (rows, 1).

    Returns:
        Python source.
    """
    body = [
        f"cache = cuda.shared.array({THREADS}, float32)",
        "row = cuda.blockIdx.x",
        "tid = cuda.threadIdx.x",
        f"n = {_full_array(graph)}.shape[1]",
    ]
    for number, node in enumerate(graph.nodes):
        if node.kind == "reduce":
            body += _pass(graph, number)
        elif node.level == ROW and node.kind == "read":
            body.append(f"{graph.variable(number)} = {node.op}[row, 0]")
        elif node.level == ROW:
            body += element_lines(graph, [number], "row, 0")
    body += _stores(graph)
    finishes = {REDUCTIONS[n.op].finish for n in graph.nodes if n.kind == "reduce"}
    return assembled(name, graph, body, "".join(map(_function, sorted(finishes))))


def _full_array(graph: Graph) -> str:
    """Name an array that has the row's length."""
    stores = zip(graph.stores, graph.outputs, strict=True)
    full = [store for store, out in stores if graph.nodes[out].level == FULL]
    reads = [n.op for n in graph.nodes if n.kind == "read" and n.level == FULL]
    return (full[-1:] or reads)[0]


def _function(finish: str) -> str:
    return _BEFORE.get(finish, "") + _FUNCTION.format(name=finish, join=_JOIN[finish])


def _pass(graph: Graph, number: int) -> list[str]:
    """Write one reduction: a loop over the row, and the join over the block."""
    node = graph.nodes[number]
    rule, (arg,) = REDUCTIONS[node.op], node.args
    own = f"own_{graph.turn(number)}"
    lines = element_lines(graph, graph.needed(arg), "row, k")
    element = graph.variable(arg)
    if graph.nodes[arg].is_bool:
        element = f"float32({element})"
    scale = f" * ({rule.scale})" if rule.scale else ""
    return [
        commented(f"{own} = {rule.start}", node.comment),
        LOOP,
        *(INDENT + line for line in lines),
        f"{INDENT}{own} = {rule.step.format(own, element)}",
        f"{graph.variable(number)} = {rule.finish}(cache, {own}){scale}",
    ]


def _stores(graph: Graph) -> list[str]:
    """Write the last pass: what is stored of each element, and of the row."""
    pairs = list(zip(graph.stores, graph.outputs, strict=True))
    full = [(s, out) for s, out in pairs if graph.nodes[out].level == FULL]
    rows = [(s, out) for s, out in pairs if graph.nodes[out].level == ROW]
    needed = sorted({n for _, out in full for n in graph.needed(out)})
    lines = [LOOP] if full else []
    lines += [INDENT + line for line in element_lines(graph, needed, "row, k")]
    lines += [f"{INDENT}{s}[row, k] = {graph.variable(out)}" for s, out in full]
    lines += ["if tid == 0:"] if rows else []
    return lines + [f"{INDENT}{s}[row, 0] = {graph.variable(out)}" for s, out in rows]


def passes(graph: Graph) -> list[list[int]]:
    """Return for each pass over the row the full nodes that it computes.

    Args:
        graph: of a row kernel.
    """
    reduced = [graph.needed(n.args[0]) for n in graph.nodes if n.kind == "reduce"]
    full = [out for out in graph.outputs if graph.nodes[out].level == FULL]
    return [*reduced, sorted({n for out in full for n in graph.needed(out)})]
